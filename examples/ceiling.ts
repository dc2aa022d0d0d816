/** A ceiling below the tenant's limit, and a limit that is known beforehand: `npx tsx examples/ceiling.ts`. */
import { NodeRuntime } from "@effect/platform-node"
import { Clock, Console, Effect, Layer } from "effect"
import { IdentityClient, listActionVersions, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"

const { actions: [action] } = Tenant.demo
const { full } = Tenant.demoClients

// The limits.
const Limits = RateLimiter.layerAdaptive({
  // Never more than 5 calls in any second, and 100 exports in any hour, however much the tenant would allow.
  ceiling: [
    { limit: 5, interval: "1 second" },
    { limit: 100, interval: "1 hour", operations: ["createUsersExport"] }
  ],
  // What the tenant's plan allows: the first calls need not wait to learn it.
  prior: { burst: 50, limit: 16, interval: "1 second" }
})

// The program: twelve calls, and the seconds in which they ended.
const program = Effect.gen(function*() {
  const begun = yield* Clock.currentTimeMillis
  const call = Effect.zipRight(
    listActionVersions({ actionId: action.id }),
    Effect.map(Clock.currentTimeMillis, (now) => Math.floor((now - begun) / 1000))
  )
  const seconds = yield* Effect.all(Array.from({ length: 12 }, () => call), { concurrency: "unbounded" })
  for (const second of new Set(seconds)) {
    yield* Console.log(`second ${second + 1}: ${seconds.filter((other) => other === second).length} calls`)
  }
})

const IdentityLive = IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
  Layer.provide(Limits),
  Layer.provide(TokenProvider.layerClientCredentials({
    domain: "tenant.example.com",
    clientId: full.id,
    clientSecret: full.secret
  })),
  Layer.provide(Tenant.layerHttpClient),
  Layer.provide(Tenant.layer)
)

program.pipe(Effect.provide(IdentityLive), NodeRuntime.runMain)
