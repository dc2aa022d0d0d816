/**
 * A tenant to test programs against: the operations of the contract and the token endpoint, served as the service serves
 * them, in process or on a real socket. It needs `jose`.
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpServer from "@effect/platform/HttpServer"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { prefix, served, tokenPaths } from "./tenant/api/routes.js"
import type { Seed, State } from "./tenant/api/state.js"
import * as State_ from "./tenant/api/state.js"
import type { Json } from "./tenant/docs/openapi.js"
import { openapi as document } from "./tenant/docs/openapi.js"
import { demo, demoClients } from "./tenant/fixtures/demo.js"
import * as App from "./tenant/server/app.js"
import type { Fault } from "./tenant/server/faults.js"
import * as Faults from "./tenant/server/faults.js"
import * as InProcess from "./tenant/server/inProcessClient.js"
import type { ReceivedRequest } from "./tenant/server/requestLog.js"
import * as Received from "./tenant/server/requestLog.js"
import type { Bucket } from "./tenant/server/tokenBucket.js"
import * as Bucket_ from "./tenant/server/tokenBucket.js"
import type { Client } from "./tenant/server/tokens.js"
import * as Tokens from "./tenant/server/tokens.js"

export type { Bucket } from "./tenant/server/tokenBucket.js"
export type { Fault } from "./tenant/server/faults.js"
export type { Json } from "./tenant/docs/openapi.js"
export type { ReceivedRequest } from "./tenant/server/requestLog.js"
export type { Action, Connection, Job, Profile, Seed, State, Stream, StreamEvent, Version } from "./tenant/api/state.js"
export type { Client } from "./tenant/server/tokens.js"
export { demo, demoClients }

/** What the tenant serves, as an OpenAPI 3.1 document. It serves it at `/openapi.json`, and at `/docs` a page to try it. */
export const openapi: { readonly [name: string]: Json } = document

/** One way in: an operation, or `token` for the token endpoint, which needs no scope. */
export interface Route {
  /** The operation's name, or `token`. */
  readonly operation: string
  readonly method: string
  /** From the root of the host; `:name` stands for a parameter. */
  readonly path: string
  /** The scope that a token needs. */
  readonly scope: string | undefined
}

/** All calls that a tenant serves. */
export const routes: ReadonlyArray<Route> = [
  ...served.map(({ endpoint: { method, name, path, scope } }) => (
    { operation: name, method, path: `${prefix}${path}`, scope }
  )),
  ...tokenPaths.map((path) => ({ operation: "token", method: "POST", path, scope: undefined }))
]

/** What a tenant starts with. */
export interface Options {
  /** What it holds (default: `demo`; `{}` is an empty tenant). */
  readonly seed?: Seed | undefined
  /** Who may ask it for tokens (default: `demoClients`). */
  readonly clients?: ReadonlyArray<Client> | undefined
  /** How many calls it takes. */
  readonly buckets?: {
    /** What all calls draw on, profile updates excepted (default: 50 at once, 16 a second). */
    readonly tenant?: Bucket | undefined
    /** What profile updates alone draw on (default: 5 at once, 100 a minute). */
    readonly profileUpdates?: Bucket | undefined
  } | undefined
  /** How long a token is valid (default: 24 hours), counted in whole seconds. */
  readonly tokenLifetime?: Duration.DurationInput | undefined
}

/** The embedded tenant: what a test may look at, and what it may make the tenant do. It lives by the `Clock`. */
export class Tenant extends Context.Tag("effect-identity-client/Tenant")<Tenant, {
  /** All requests that arrived, the oldest first. */
  readonly requests: Effect.Effect<ReadonlyArray<ReceivedRequest>>
  /** All that the tenant knows by now. */
  readonly state: Effect.Effect<State>
  /** Adds to what it knows, at any time; what has the id of something that is there takes its place. */
  readonly seed: (seed: Seed) => Effect.Effect<void>
  /** Makes the next calls go wrong. Faults wait in a queue: each call takes the first that is meant for it. */
  readonly injectFault: (fault: Fault) => Effect.Effect<void>
  /** From now on every token that was issued is refused with 401. */
  readonly revokeTokens: Effect.Effect<void>
  /** The application itself, for other servers than `layerServer`'s. */
  readonly app: HttpApp.Default
}>() {}

/** Makes a tenant. Nothing runs in it while nobody calls, and there is nothing to release. */
export const make = (options: Options = {}): Effect.Effect<Tenant["Type"]> =>
  Effect.gen(function*() {
    const seed = (seed: Seed) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.update(state, (before) => State_.add(before, seed, now)))

    const state = yield* Ref.make(State_.empty)
    const tokens = yield* Tokens.make(
      options.clients ?? Object.values(demoClients),
      options.tokenLifetime ?? "24 hours"
    )
    const tenant = yield* Bucket_.make(options.buckets?.tenant ?? { burst: 50, refill: 16, per: "1 second" })
    const profileUpdates = yield* Bucket_.make(
      options.buckets?.profileUpdates ?? { burst: 5, refill: 100, per: "1 minute" }
    )
    const faults = Faults.make()
    const log = Received.make()
    yield* seed(options.seed ?? demo)

    return {
      requests: log.all,
      state: Effect.zipWith(Ref.get(state), Clock.currentTimeMillis, State_.settle),
      seed,
      injectFault: faults.add,
      revokeTokens: tokens.revoke,
      app: yield* App.make({ state, tokens, buckets: { tenant, profileUpdates }, faults, log })
    }
  })

/** A tenant of its own for each time the layer is built. */
export const layer = (options?: Options): Layer.Layer<Tenant> => Layer.effect(Tenant, make(options))

/**
 * Requests go to the tenant in process, whatever their host, with no socket. A connection that is cut is a
 * `RequestError` with reason `Transport`, whose cause has the code `ECONNRESET`; within a body it is a `ResponseError`.
 */
export const layerHttpClient: Layer.Layer<HttpClient.HttpClient, never, Tenant> = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(Tenant, ({ app }) => InProcess.make(app))
)

/** Serves the tenant on a socket, which is the given server's, for example `NodeHttpServer.layer`'s. */
export const layerServer: Layer.Layer<never, never, HttpServer.HttpServer | Tenant> = Layer.unwrapEffect(
  Effect.map(Tenant, ({ app }) => HttpServer.serve(app))
)
