/**
 * `npm run bench:stampede`: counts the token requests of a thousand calls that start at once, and of a thousand running calls
 * whose token is revoked. Measures how long an interrupted call takes to end. `--save` keeps the table.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Duration, Effect, Fiber, Layer, Random } from "effect"
import { IdentityClient, listActionVersions, RateLimiter, Retry, TokenProvider } from "../../src/index.js"
import * as Tenant from "../../src/Tenant.js"
import { type TenantProcess, tenantProcess } from "../support/tenantProcess.js"
import { save } from "./results.js"

const callers = 1000
const bounds = { tokenRequests: 1, interruptP99Ms: 50 }

const action = { actionId: Tenant.demo.actions[0].id }
const call = listActionVersions(action)

const clientOf = (
  { origin }: TenantProcess,
  limiter: Layer.Layer<RateLimiter.RateLimiter> = RateLimiter.layerUnlimited
) =>
  IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
    Layer.provide(limiter),
    Layer.provide(TokenProvider.layerClientCredentials({
      authUrl: origin,
      clientId: Tenant.demoClients.full.id,
      clientSecret: Tenant.demoClients.full.secret
    })),
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.orDie
  )

const tokensOf = (tenant: TenantProcess) => Effect.map(tenant.send({ order: "report" }), ({ token = 0 }) => token)

/** Delays the next calls or token requests. */
const slow = (tenant: TenantProcess, operation: string, delay: Duration.DurationInput, times: number) =>
  tenant.send({ order: "injectFault", fault: { operation, delay, times } })

/** Starts a thousand first calls at once. */
const cold = (tenant: TenantProcess) =>
  Effect.gen(function*() {
    const before = yield* tokensOf(tenant)
    const exits = yield* Effect.all(Array.from({ length: callers }, () => Effect.exit(call)), {
      concurrency: "unbounded"
    })
    return {
      tokenRequests: (yield* tokensOf(tenant)) - before,
      failed: exits.filter(({ _tag }) => _tag === "Failure").length
    }
  }).pipe(Effect.provide(clientOf(tenant)))

/** Revokes the token of a thousand calls when all of them have arrived and none has a response. */
const revoked = (tenant: TenantProcess) =>
  Effect.gen(function*() {
    yield* call
    const { listActionVersions: seen = 0, token: before = 0 } = yield* slow(
      tenant,
      "listActionVersions",
      "6 seconds",
      callers
    )
    const all = Array.from({ length: callers }, () => Effect.exit(call))
    const calls = yield* Effect.fork(Effect.all(all, { concurrency: "unbounded" }))
    yield* tenant.send({ order: "report" }).pipe(
      Effect.delay("50 millis"),
      Effect.repeat({ until: ({ listActionVersions = 0 }) => listActionVersions >= seen + callers })
    )
    yield* tenant.send({ order: "revoke" })
    const exits = yield* Fiber.join(calls)
    return {
      tokenRequests: (yield* tokensOf(tenant)) - before,
      failed: exits.filter(({ _tag }) => _tag === "Failure").length
    }
  }).pipe(Effect.provide(clientOf(tenant)))

/** Measures how long a call takes to end that is interrupted after this time; both in milliseconds. */
const interrupted = (after: number) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(call)
    yield* Effect.sleep(after)
    const [elapsed] = yield* Effect.timed(Fiber.interrupt(fiber))
    return Duration.toMillis(elapsed)
  })

/** Measures many calls, twenty at a time, each interrupted at a random time of up to `until` milliseconds. */
const distribution = (count: number, until: number) =>
  Effect.all(
    Array.from({ length: count }, () => Effect.flatMap(Random.nextRange(0, until), interrupted)),
    { concurrency: 20 }
  )

/** Interrupts calls in each of their waits. */
const interrupts = (tenant: TenantProcess) => {
  const client = clientOf(tenant)
  const places: Readonly<Record<string, Effect.Effect<ReadonlyArray<number>>>> = {
    "waiting for a token": slow(tenant, "token", "10 seconds", 1).pipe(
      Effect.zipRight(distribution(200, 100)),
      Effect.provide(client)
    ),
    "waiting for a permit": Effect.provide(
      distribution(200, 100),
      clientOf(tenant, Layer.orDie(RateLimiter.layerFixed({ limit: 1, interval: "1 hour" })))
    ),
    "waiting for a retry": Effect.ignore(call).pipe(
      Effect.zipRight(
        tenant.send({ order: "injectFault", fault: { operation: "listActionVersions", status: 503, times: 800 } })
      ),
      Effect.zipRight(Retry.withPolicy(distribution(200, 100), { delay: "10 seconds" })),
      Effect.provide(client)
    ),
    "anywhere": Effect.provide(distribution(400, 60), client),
    "waiting for a response": Effect.ignore(call).pipe(
      Effect.zipRight(slow(tenant, "listActionVersions", "10 seconds", 200)),
      Effect.zipRight(distribution(200, 100)),
      Effect.provide(client)
    )
  }
  return Effect.map(
    Effect.forEach(
      Object.entries(places),
      ([place, samples]) => Effect.map(samples, (samples) => ({ place, samples }))
    ),
    (found) => [...found, { place: "all", samples: found.flatMap(({ samples }) => samples) }]
  )
}

const quantile = (samples: ReadonlyArray<number>, share: number): number => {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

const line = (...cells: ReadonlyArray<string | number>): string =>
  cells.map((cell, index) => index === 0 ? String(cell).padEnd(24) : String(cell).padStart(8)).join("")

const program = Effect.gen(function*() {
  const tenant = yield* tenantProcess()
  const first = yield* cold(tenant)
  const second = yield* revoked(tenant)
  const found = yield* interrupts(tenant)
  const table = [
    `${callers} concurrent first calls: ${first.tokenRequests} token request(s), ${first.failed} failed call(s)`,
    `${callers} calls under way when the token is revoked: ${second.tokenRequests} more, ${second.failed} failed call(s)`,
    "",
    line("interrupted (ms)", "n", "p50", "p90", "p99", "max"),
    ...found.map(({ place, samples }) =>
      line(place, samples.length, ...[0.5, 0.9, 0.99, 1].map((share) => quantile(samples, share).toFixed(2)))
    )
  ].join("\n")
  console.log(table)
  save("stampede.txt", table)
  const all = found.at(-1)?.samples ?? []
  const result = {
    coldTokenRequests: first.tokenRequests,
    tokenRequestsAfterRevocation: second.tokenRequests,
    failed: first.failed + second.failed,
    interruptP99Ms: Math.ceil(quantile(all, 0.99))
  }
  const isGood = result.coldTokenRequests === bounds.tokenRequests &&
    result.tokenRequestsAfterRevocation === bounds.tokenRequests &&
    result.failed === 0 && result.interruptP99Ms <= bounds.interruptP99Ms
  if (!isGood) process.exitCode = 1
  console.log(`\n${JSON.stringify(result)}`)
}).pipe(Effect.scoped, Effect.timeout("2 minutes"))

Effect.runPromise(program).catch((error: unknown) => {
  console.error(String(error))
  process.exitCode = 1
})
