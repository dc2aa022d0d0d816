/** `npm start`: all five operations against the embedded tenant, over a real socket, with real tokens. */
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

/** The client for one of the tenant's demo clients: a caller with its own token and its own view of the limits. */
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

/** The lines that the tenant wrote in its log while an effect ran: what really went over the wire. */
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
  "2. List what was ever deployed of an action",
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

// One event, redelivered twice.
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

// A client that may not.
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

// A rate limit that somebody else uses up.
const rename = (name: string) => updateTokenExchangeProfile({ id: profile.id, name })

const throttled = step(
  "5. Rename a profile while somebody else uses up the rate limit",
  Effect.gen(function*() {
    yield* Effect.forEach([1, 2, 3, 4, 5], (n) => rename(`Draft ${n}`), { concurrency: "unbounded" }).pipe(
      Effect.provide(clientOf(Tenant.demoClients.full, RateLimiter.layerUnlimited))
    )
    const [waited, renamed] = yield* Effect.timed(rename("Exchanged tokens"))
    yield* success(`profile ${profile.id} is now "${renamed?.name}"`)
    yield* success(
      `turned away with 429, it waited and tried again by itself: ${Math.round(Duration.toMillis(waited))} ms`
    )
  })
)

// A stream, deleted twice.
const deleteTwice = step(
  "6. Delete an event stream, twice",
  Effect.repeatN(Effect.zipRight(deleteEventStream({ id: stream.id }), success(`stream ${stream.id} is gone`)), 1)
)

const mistaken = step(
  "7. Make a mistake: nothing is sent",
  createUsersExport({ limit: 0, fields: [{ name: "e".repeat(101) }] }).pipe(
    Effect.catchTag(
      "InvalidInput",
      (error) => Effect.forEach(error.issues, ({ message, path }) => failure(`InvalidInput: ${path}: ${message}`))
    )
  )
)

/** The tour; it needs a tenant that is served on the given socket. */
export const tour = Effect.gen(function*() {
  yield* HttpServer.addressFormattedWith((origin) =>
    Console.log(`${bold("Five operations, over real HTTP")}\n${dim(`against the embedded tenant at ${origin}`)}`)
  )
  yield* Effect.all([exportUsers, listVersions, redeliver, withoutScope, throttled, deleteTwice, mistaken])
  const { requests } = yield* Tenant.Tenant
  const statuses = (yield* requests).map(({ status }) => status)
  const count = (status: number) => statuses.filter((other) => other === status).length
  yield* Console.log(
    `\n${bold("Done:")} ${statuses.length} requests, of them ${count(429)} × 429, ${count(403)} × 403, ${
      count(409)
    } × 409.`
  )
}).pipe(
  Effect.provide(clientOf(Tenant.demoClients.full))
)

/** The embedded tenant on a free port of this machine. */
export const TenantLive = Tenant.layerServer.pipe(
  Layer.provideMerge(Tenant.layer()),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  tour.pipe(Effect.provide(TenantLive), NodeRuntime.runMain)
}
