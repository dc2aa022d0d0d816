/** `npm start`: calls five operations of the embedded tenant, over a real socket and with real tokens. */
import { HttpServer } from "@effect/platform"
import { NodeHttpClient, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Console, Duration, Effect, Layer } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  IdentityClient,
  listActionVersions,
  RateLimiter,
  redeliverEvent,
  TokenProvider,
  updateTokenExchangeProfile
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { bold, dim, green, red, yellow } from "./support/terminal.js"

const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo
const [failedEvent] = stream.events

/** Provides the client for one of the tenant's demo clients, with its own token and rate limiter. */
const clientOf = (caller: Tenant.Client, limiter = RateLimiter.layer) =>
  Layer.unwrapEffect(HttpServer.addressFormattedWith((origin) =>
    Effect.succeed(
      IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
        Layer.provide(limiter),
        Layer.provide(TokenProvider.layerClientCredentials({
          authUrl: origin,
          clientId: caller.id,
          clientSecret: caller.secret
        })),
        Layer.provide(NodeHttpClient.layerUndici)
      )
    )
  ))

const success = (text: string) => Console.log(`   ${green("✓")} ${text}`)
const failure = (text: string) => Console.log(`   ${red("✗")} ${text}`)

/** Prints the requests that reached the tenant while an effect ran. */
const withWire = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const { requests } = yield* Tenant.Tenant
    const before = (yield* requests).length
    const result = yield* effect
    for (const { method, operation, status = 0 } of (yield* requests).slice(before)) {
      const path = Tenant.routes.find((route) => route.operation === operation)?.path ?? ""
      const colour = status < 400 ? green : status === 429 ? yellow : red
      yield* Console.log(`     ${colour(String(status))} ${dim(`${method} ${path}`)}`)
    }
    return result
  })

const step = <A, E, R>(title: string, effect: Effect.Effect<A, E, R>) =>
  Effect.withSpan(Effect.zipRight(Console.log(`\n${bold(title)}`), withWire(effect)), title)

const exportUsers = step(
  "1. Export the users of a connection as CSV",
  Effect.flatMap(
    createUsersExport({
      connection_id: connection.id,
      format: "csv",
      fields: [{ name: "email", export_as: "E-mail" }]
    }),
    (job) => success(`job ${job.id} is ${job.status}`)
  )
)

const listVersions = step(
  "2. List the versions of an action",
  Effect.flatMap(
    listActionVersions({ actionId: action.id }),
    (page) =>
      Effect.forEach(
        page.versions,
        (version) =>
          success(`version ${version.number}, built ${version.built_at}${version.deployed ? ", deployed" : ""}`)
      )
  )
)

// The second redelivery is refused.
const redeliver = step(
  "3. Redeliver a failed event, twice",
  Effect.repeatN(
    redeliverEvent({ id: stream.id, event_id: failedEvent.id }).pipe(
      Effect.zipRight(success(`event ${failedEvent.id} is accepted`)),
      Effect.catchTag("Conflict", (error) => failure(`Conflict (409): ${error.message}`))
    ),
    1
  )
)

// This client lacks the scope.
const withoutScope = step(
  "4. Export users with a token that may only read actions",
  createUsersExport({}).pipe(
    Effect.provide(clientOf(Tenant.demoClients.readsActions)),
    Effect.catchTag(
      "InsufficientScope",
      (error) => failure(`InsufficientScope (403): grant ${error.required.join(", ")}`)
    )
  )
)

// Another client uses up the rate limit.
const rename = (name: string) => updateTokenExchangeProfile({ id: profile.id, name })

const throttled = step(
  "5. Rename a profile while another client uses up the rate limit",
  Effect.gen(function*() {
    yield* Effect.forEach([1, 2, 3, 4, 5], (n) => rename(`Draft ${n}`), { concurrency: "unbounded" }).pipe(
      Effect.provide(clientOf(Tenant.demoClients.full, RateLimiter.layerUnlimited))
    )
    const [waited, renamed] = yield* Effect.timed(rename("Exchanged tokens"))
    yield* success(`profile ${profile.id} is now "${renamed?.name}"`)
    yield* success(
      `the call was refused with 429, waited and was retried: ${Math.round(Duration.toMillis(waited))} ms`
    )
  })
)

// Deleting a stream again succeeds.
const deleteTwice = step(
  "6. Delete an event stream, twice",
  Effect.repeatN(Effect.zipRight(deleteEventStream({ id: stream.id }), success(`stream ${stream.id} is gone`)), 1)
)

const invalid = step(
  "7. Give an invalid input: nothing is sent",
  createUsersExport({ limit: 0, fields: [{ name: "e".repeat(101) }] }).pipe(
    Effect.catchTag(
      "InvalidInput",
      (error) => Effect.forEach(error.issues, ({ message, path }) => failure(`InvalidInput: ${path}: ${message}`))
    )
  )
)

/** The tour, for a tenant on a local server. */
export const tour = Effect.gen(function*() {
  yield* HttpServer.addressFormattedWith((origin) =>
    Console.log(`${bold("Five operations, over real HTTP")}\n${dim(`against the embedded tenant at ${origin}`)}`)
  )
  yield* Effect.all([exportUsers, listVersions, redeliver, withoutScope, throttled, deleteTwice, invalid])
  const { requests } = yield* Tenant.Tenant
  const statuses = (yield* requests).map(({ status }) => status)
  const count = (status: number) => statuses.filter((other) => other === status).length
  yield* Console.log(
    `\n${bold("Done:")} ${statuses.length} requests, including ${count(429)} × 429, ${count(403)} × 403, ${
      count(409)
    } × 409.`
  )
}).pipe(
  Effect.provide(clientOf(Tenant.demoClients.full))
)

/** Serves the embedded tenant on a free port of this machine. */
export const TenantLive = Tenant.layerServer.pipe(
  Layer.provideMerge(Tenant.layer()),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  tour.pipe(Effect.provide(TenantLive), NodeRuntime.runMain)
}
