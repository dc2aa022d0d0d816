/**
 * An embedded tenant to test programs against: it serves the operations of this package and the token endpoint as the
 * service does, in process or on a socket. Needs the package `jose`.
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpServer from "@effect/platform/HttpServer"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Endpoint from "./Endpoint.js"
import { InvalidInput } from "./Errors.js"
import * as IdentityClient from "./IdentityClient.js"
import type { Operation, Subscription } from "./Operation.js"
import * as RateLimiter from "./RateLimiter.js"
import * as Advance from "./tenant/api/advance.js"
import * as Responders from "./tenant/api/responders.js"
import * as Routes from "./tenant/api/routes.js"
import { addSeed, emptyState, type Seed, type State } from "./tenant/api/state.js"
import { keyIssuesOf } from "./tenant/control/messages.js"
import type { Json } from "./tenant/docs/jsonSchema.js"
import * as OpenApi from "./tenant/docs/openapi.js"
import * as Files from "./tenant/exports/files.js"
import { demo, demoClients, demoClientsFor } from "./tenant/fixtures/demo.js"
import { makeUsers } from "./tenant/fixtures/users.js"
import * as AllowedHosts from "./tenant/server/allowedHosts.js"
import * as App from "./tenant/server/app.js"
import type { Client, ClientWithoutSecret } from "./tenant/server/clientAuthentication.js"
import * as Faults from "./tenant/server/faults.js"
import * as InProcessClient from "./tenant/server/inProcessClient.js"
import * as Limits from "./tenant/server/limits.js"
import * as RequestLog from "./tenant/server/requestLog.js"
import * as TokenBucket from "./tenant/server/tokenBucket.js"
import * as Tokens from "./tenant/server/tokens.js"
import * as TokenProvider from "./TokenProvider.js"

/** Any domain reaches the tenant in process. */
const domain = "tenant.example.com"

export type { Durations } from "./tenant/api/advance.js"
export type { FailureResponse } from "./tenant/api/responders.js"
export type { Operations } from "./tenant/api/routes.js"
export type { Action, Connection, Job, Profile, Stream, StreamEvent, User, Users, Version } from "./tenant/api/state.js"
export type { Attempt } from "./tenant/api/attempts.js"
export type { Client, ClientWithoutSecret } from "./tenant/server/clientAuthentication.js"
export type { Fault } from "./tenant/server/faults.js"
export type { ReceivedRequest } from "./tenant/server/requestLog.js"
export type { BucketSize } from "./tenant/server/tokenBucket.js"
export { demo, demoClients, type Json, makeUsers, type Seed, type State }

/**
 * The OpenAPI 3.1 document of a tenant that serves only the operations of this package. `Tenant.Tenant` has the document of
 * each tenant, which serves it at `/openapi.json`, and at `/docs` a page that sends calls.
 * @since 0.1.0 @category constants
 */
export const openapi: { readonly [name: string]: Json } = OpenApi.openapi

/** A method and path that the tenant serves. @since 0.1.0 @category models */
export interface Route {
  /** The operation's name, or `token`. */
  readonly operation: string
  readonly method: string
  /** The path from the root of the host; `:name` stands for a parameter. */
  readonly path: string
  /** The scopes: a call needs any of them. Empty for the token endpoint, and if the token alone is enough. */
  readonly scopes: ReadonlyArray<string>
}

const routesOf = (served: ReadonlyArray<Routes.ServedOperation>): ReadonlyArray<Route> => [
  ...served.map(({ endpoint }) => (
    {
      operation: endpoint.name,
      method: endpoint.method,
      path: `${Routes.prefix}${endpoint.path}`,
      scopes: Endpoint.scopesOf(endpoint)
    }
  )),
  ...Routes.tokenPaths.map((path) => ({ operation: "token", method: "POST", path, scopes: [] }))
]

/** The routes of this package's operations and of the token endpoint. @since 0.1.0 @category constants */
export const routes: ReadonlyArray<Route> = routesOf(Routes.servedOperations)

/** The settings of a tenant. @since 0.1.0 @category models */
export interface Options {
  /** The initial data (default: `demo`; `{}` makes an empty tenant). */
  readonly seed?: Seed | undefined
  /**
   * Operations to serve beside the built-in ones: a list, or an object such as the namespace of a generated index (its
   * other exports are ignored). They respond with a value that fits their schema, or as `respond` sets. One with the
   * method and path of a built-in operation takes its place and keeps its behaviour. Two with one route or name are `InvalidInput`.
   */
  readonly operations?:
    | ReadonlyArray<{ readonly endpoint: Endpoint.Any }>
    | Readonly<Record<string, unknown>>
    | undefined
  /** The clients that may ask for tokens (default: `demoClients`; `full` and `notGlobal` have the scopes of all operations). */
  readonly clients?: ReadonlyArray<Client | ClientWithoutSecret> | undefined
  /** The token buckets that limit calls. */
  readonly buckets?: {
    /** The bucket of all calls except profile updates (default: 50 at once, 16 a second). */
    readonly tenant?: TokenBucket.BucketSize | undefined
    /** The bucket of profile updates (default: 5 at once, 100 a minute). */
    readonly profileUpdates?: TokenBucket.BucketSize | undefined
  } | undefined
  /**
   * The names of hosts, such as `tenant` or `tenant.example.com`, for which it responds beside this machine: for a tenant in a container, or behind a
   * proxy. With a list, also an empty one, IP addresses are allowed, and the control interface takes requests from other machines. Default: this
   * machine only (`localhost`, its subdomains, 127.0.0.0/8 and `[::1]`). A text that is not the name of a host is `InvalidInput`.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /** What becomes of query parameters that an operation does not declare: a 400 (default), or nothing. */
  readonly unknownQuery?: "refuse" | "ignore" | undefined
  /** The time that jobs, deliveries and deployments take. */
  readonly durations?: Advance.Durations | undefined
  /** The exports of users. */
  readonly exports?: {
    /**
     * The origin of the links to files (default: another name of this host: `localhost` for 127.0.0.1, the reverse for `localhost`, in
     * process `files.` before the host; and the same host otherwise, with the scheme of `x-forwarded-proto`, which proxies set).
     */
    readonly origin?: string | undefined
    /** Lets every new job fail, with this text as `status_details` (default: jobs are completed). */
    readonly failure?: string | undefined
  } | undefined
  /**
   * Serves a control interface at `/_tenant/`, and at `/` a live page: they show the newest 2,000 requests, the buckets, tokens, jobs
   * and deliveries, and change them. For programs and pages that have the key only, of this machine unless there are `allowedHosts`; `openapi.json` there
   * describes it. `true`: the key is a random one (`Tenant.control`); another one has at least 16 letters, digits or any of `._~-`, else it is
   * `InvalidInput`. Default: none, and nothing is recorded for it.
   */
  readonly control?: boolean | { readonly key: Redacted.Redacted<string> } | undefined
  /** The lifetime of a token, rounded down to whole seconds (default: 24 hours). More than ten years count as ten years. */
  readonly tokenLifetime?: Duration.DurationInput | undefined
  /** Limits on what a tenant keeps in memory: whole numbers of at least 0, or `Infinity` for none. Others are `InvalidInput`. */
  readonly limits?: {
    /** The number of the newest requests in `requests` (default: 10,000). With their bodies they can take 650 MB. */
    readonly requests?: number | undefined
    /** The number of the newest tokens that are valid (default: 10,000); older ones count as revoked. */
    readonly tokens?: number | undefined
    /** The size of the largest request body, in bytes (default: 65,536); larger ones are refused with 413. */
    readonly bodySize?: number | undefined
  } | undefined
}

/**
 * A running tenant: a test inspects and controls it with this service. All its times are the `Clock`'s.
 * @since 0.1.0 @category tags
 */
export class Tenant extends Context.Tag("effect-identity-client/Tenant")<Tenant, {
  /** The newest requests received, the oldest of them first (`limits.requests`). */
  readonly requests: Effect.Effect<ReadonlyArray<RequestLog.ReceivedRequest>>
  /** The current data. */
  readonly state: Effect.Effect<State>
  /** Adds data. An item replaces the one with the same id. */
  readonly seed: (seed: Seed) => Effect.Effect<void>
  /** Adds a fault to a queue. Each call takes the oldest fault that applies to it. An invalid status or header is a defect. */
  readonly injectFault: (fault: Faults.Fault) => Effect.Effect<void>
  /**
   * Sets the responses of an operation, from now on: a function from the valid input to an effect that succeeds with the
   * body, or with the data of server-sent events, or fails with a status. Token, scopes, input and limits are checked before. An
   * operation that the tenant does not serve is a defect.
   */
  readonly respond: {
    <Input, Event, Failure>(
      operation: Subscription<Input, Event, Failure>,
      respond: (input: Input) => Effect.Effect<ReadonlyArray<Event>, Responders.FailureResponse>
    ): Effect.Effect<void>
    <Input, Success, Failure>(
      operation: Operation<Input, Success, Failure>,
      respond: (input: Input) => Effect.Effect<Success, Responders.FailureResponse>
    ): Effect.Effect<void>
  }
  /** The routes of all operations and of the token endpoint. */
  readonly routes: ReadonlyArray<Route>
  /** The OpenAPI 3.1 document of all operations; it is made when it is first read. */
  readonly openapi: { readonly [name: string]: Json }
  /** Revokes all tokens issued so far: they are refused with 401. */
  readonly revokeTokens: Effect.Effect<void>
  /** The key of the control interface, the value of the header `x-tenant-key`; `undefined` if `control` is not set. */
  readonly control: { readonly key: Redacted.Redacted<string> } | undefined
  /** The hosts that `layerServer` allows, as the option says. */
  readonly allowedHosts: ReadonlyArray<string> | undefined
  /** The HTTP application, for servers other than that of `layerServer`. It responds to requests for any host. */
  readonly app: HttpApp.Default
}>() {}

/**
 * Makes a tenant. It runs no fibers of its own, and nothing has to be released. Fails with `InvalidInput` that names the invalid
 * options: the size of a bucket, a limit, a host, operations with one route or name, a key that can be guessed.
 * @since 0.1.0 @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<Context.Tag.Service<Tenant>, InvalidInput> =>
  Effect.gen(function*() {
    const seed = (seed: Seed) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.update(state, (before) => addSeed(before, seed, now)))
    const initial = options.seed ?? demo

    const { allowedHosts, exports = {}, operations = [], tokenLifetime = "24 hours", unknownQuery = "refuse" } = options
    const limits = Limits.make(options.limits ?? {})
    const sizes = {
      tenant: options.buckets?.tenant ?? { burst: 50, refill: 16, per: "1 second" },
      profileUpdates: options.buckets?.profileUpdates ?? { burst: 5, refill: 100, per: "1 minute" }
    }
    const issues = [
      ...Routes.issuesOf(operations),
      ...TokenBucket.issuesOf(sizes.tenant, "buckets.tenant"),
      ...TokenBucket.issuesOf(sizes.profileUpdates, "buckets.profileUpdates"),
      ...AllowedHosts.issuesOf(allowedHosts),
      ...Limits.issuesOf(limits),
      ...keyIssuesOf(typeof options.control === "object" ? Redacted.value(options.control.key) : undefined)
    ]
    if (issues.length > 0) return yield* new InvalidInput({ operation: "Tenant.make", issues })
    const served = Routes.serve(operations)
    const advance = Advance.make(options.durations)
    const clients = options.clients ?? demoClientsFor(Routes.allScopes(served))
    const responders = Responders.make(served)
    let document: { readonly [name: string]: Json } | undefined
    const openapi = () => document ??= OpenApi.make(served)
    const state = yield* Ref.make(emptyState)
    const tokens = yield* Tokens.make(clients, tokenLifetime, limits.tokens)
    const buckets = {
      tenant: yield* TokenBucket.make(sizes.tenant),
      profileUpdates: yield* TokenBucket.make(sizes.profileUpdates)
    }
    const faults = Faults.make()
    const log = RequestLog.make(limits.requests)
    yield* seed(initial)

    const { control: asked = false } = options
    const control = asked === false ? undefined : yield* Effect.flatMap(
      Effect.promise(() => import("./tenant/control/control.js")),
      (Control) =>
        Control.make(
          {
            state,
            advance,
            seeded: Effect.map(Clock.currentTimeMillis, (now) => addSeed(emptyState, initial, now)),
            tokens,
            buckets,
            faults,
            log,
            clients,
            served,
            deliveryMillis: Advance.deliveryMillis(options.durations)
          },
          asked === true ? undefined : asked.key,
          allowedHosts
        )
    )
    const provideClock = control?.provideClock ?? identity

    const parts = {
      buckets,
      served,
      openapi,
      responders,
      state,
      advance,
      files: Files.make(),
      exports,
      unknownQuery,
      tokens,
      faults,
      log,
      observer: control?.observer,
      bodySize: limits.bodySize
    }
    const app = yield* App.make(parts)
    return {
      requests: log.all,
      state: provideClock(Effect.zipWith(Ref.get(state), Clock.currentTimeMillis, advance)),
      seed: (data) => provideClock(seed(data)),
      injectFault: (fault) => Effect.asVoid(faults.add(fault)),
      respond: ({ endpoint }: { readonly endpoint: Endpoint.Any }, respond: Responders.Responder) =>
        responders.set(endpoint, respond),
      routes: routesOf(served),
      get openapi() {
        return openapi()
      },
      revokeTokens: Effect.asVoid(tokens.revoke()),
      control: control && { key: control.key },
      allowedHosts,
      app: control?.beside(app) ?? app
    }
  })

/**
 * Provides a new tenant each time the layer is built. Fails as `make` does.
 * @since 0.1.0 @category layers @example `Tenant.layerWith({ buckets: { tenant: { burst: 5, refill: 1, per: "1 second" } } })`
 */
export const layerWith = (options: Options): Layer.Layer<Tenant, InvalidInput> => Layer.effect(Tenant, make(options))

/** `layerWith` with its defaults: the demo tenant. @since 0.1.0 @category layers */
export const layer: Layer.Layer<Tenant> = /* @__PURE__ */ Layer.effect(
  Tenant,
  /* @__PURE__ */ Effect.suspend(() => Effect.orDie(make())) // the defaults are valid
)

/**
 * Provides a client that sends every request to the tenant in process, whatever the host. A connection cut by a fault is a
 * `RequestError` with the reason `Transport` whose cause has the code `ECONNRESET`; within a body it is a `ResponseError`.
 * @since 0.1.0 @category layers
 */
export const layerHttpClient: Layer.Layer<HttpClient.HttpClient, never, Tenant> = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(Tenant, ({ app }) => InProcessClient.make(app))
)

/**
 * Provides a client of the tenant, in process, that has all scopes: `demoClients.full`, with the limiter of `RateLimiter.layer`. A tenant
 * with `clients` of its own needs that one among them.
 * @since 0.1.0 @category layers @example `program.pipe(Effect.provide(Tenant.layerClient), Effect.provide(Tenant.layer))`
 */
export const layerClient: Layer.Layer<IdentityClient.IdentityClient, never, Tenant> = /* @__PURE__ */ Layer.suspend(
  () =>
    IdentityClient.layer({ domain }).pipe(
      Layer.provide(RateLimiter.layer),
      Layer.provide(TokenProvider.layerClientCredentials({
        domain,
        clientId: demoClients.full.id,
        clientSecret: demoClients.full.secret
      })),
      Layer.provide(layerHttpClient),
      Layer.orDie // the address and the secret are valid
    )
)

/**
 * Serves the tenant with the given HTTP server, for example the one of `NodeHttpServer.layer`. Requests for other hosts than this machine
 * and `allowedHosts` are refused with 421, so that no web page can reach the tenant by a name of its own (DNS rebinding). When it
 * closes, it ends the streams of events.
 * @since 0.1.0 @category layers
 */
export const layerServer: Layer.Layer<never, never, HttpServer.HttpServer | Tenant> = Layer.scopedDiscard(
  Effect.gen(function*() {
    const { allowedHosts, app } = yield* Tenant
    const closing = yield* Deferred.make<void>()
    yield* HttpServer.serveEffect(App.endStreams(AllowedHosts.restrict(app, allowedHosts), closing))
    // Runs before the server's own finalizer, which may wait for responses to end.
    yield* Effect.addFinalizer(() => Deferred.succeed(closing, undefined))
  })
)
