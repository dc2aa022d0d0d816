/** The client: carries out operations with a token, a permit of the rate limiter, retries and typed errors. */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual, pipe } from "effect/Function"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Endpoint } from "./Endpoint.js"
import type { ClientError, InvalidInput } from "./Errors.js"
import { authorized, readerOf, withToken } from "./internal/call/authorized.js"
import { beginnerOf, runningCalls } from "./internal/call/begin.js"
import type { Stage } from "./internal/call/call.js"
import { guarded, unlessOpen } from "./internal/call/guarded.js"
import { limited } from "./internal/call/limited.js"
import { type Options, resolve, tenantOf } from "./internal/call/options.js"
import { retried } from "./internal/call/retried.js"
import { policiesOf } from "./internal/call/retryPolicy.js"
import { changeSettings } from "./internal/call/settings.js"
import * as Staged from "./internal/call/staged.js"
import { traced, transport } from "./internal/call/transport.js"
import * as Exchange from "./internal/http/exchange.js"
import * as ExtraFields from "./internal/http/extraFields.js"
import { bodyLimits } from "./internal/http/responseBody.js"
import { declare, queryOf, type Request, type RequestFailure, type ResponseOf } from "./internal/request/undeclared.js"
import * as Timeouts from "./internal/runtime/timeouts.js"
import * as CallTelemetry from "./internal/telemetry/callTelemetry.js"
import * as RepeatedBuilds from "./internal/telemetry/repeatedBuilds.js"
import { RateLimiter } from "./RateLimiter.js"
import { TokenProvider } from "./TokenProvider.js"

/** The service that carries out operations. Tests replace it (`Testing.layer`). @since 0.1.0 @category tags */
export class IdentityClient extends Context.Tag("effect-identity-client/IdentityClient")<IdentityClient, {
  /** Carries out one call: validates the input, sends it with a token and a permit, and decodes the response. */
  readonly execute: <Input, Success, Failure>(
    endpoint: Endpoint<Input, Success, Failure>,
    input: Input
  ) => Effect.Effect<Success, Failure | ClientError>
}>() {}

export type { Call, Send, Stage } from "./internal/call/call.js"
export type { AttemptFailure } from "./internal/call/retryPolicy.js"
export type { CircuitOptions } from "./internal/call/circuit.js"
export type { Defaults, Options } from "./internal/call/options.js"
export { type ResponseInfo, withResponse } from "./internal/call/settings.js"
export type { RawResponse as Response } from "./internal/http/rawExchange.js"
export type { Request, RequestFailure, ResponseOf }

/**
 * Makes a client. Make it once and share it. Closing its scope waits up to 5 s for running calls; one that still waits or has no response
 * then fails with `TransportError` and the code `CLOSED`. A limiter, provider or stage of your own that cannot be interrupted is waited
 * for. Fails with `InvalidInput` if an option is out of range, or if `baseUrl` is not http(s),
 * contains credentials, a query or a fragment, or would send tokens unencrypted.
 * @since 0.1.0 @category constructors
 */
export const make = (options: Options): Effect.Effect<
  Context.Tag.Service<IdentityClient>,
  InvalidInput,
  HttpClient.HttpClient | TokenProvider | RateLimiter | Scope.Scope
> =>
  Effect.gen(function*() {
    const { maxBodySize = bodyLimits.decoded, propagateTrace = false, retry, timeout = "30 seconds" } = options
    const tenant = yield* tenantOf("IdentityClient.layer", options)
    yield* RepeatedBuilds.count(tenant)
    const http = yield* HttpClient.HttpClient
    const tokens = yield* TokenProvider
    const limiter = yield* RateLimiter
    const timeouts = yield* Timeouts.make
    const begin = beginnerOf(tenant, policiesOf(retry), CallTelemetry.make(tenant, propagateTrace), timeouts)
    const calls = yield* runningCalls(tenant, begin)
    const { budget, circuit } = yield* resolve("IdentityClient.layer", tenant, options)
    yield* Effect.addFinalizer(() => calls.drain) // before the requests and waits end
    const largest = Math.max(maxBodySize, bodyLimits.drained)
    const readToken = readerOf(tokens)
    const limits = { maxBodySize, timeout: Duration.decode(timeout) }

    // A request passes it from the bottom to the top, and its response from the top to the bottom.
    const send = pipe(
      transport(Exchange.make(http, largest), Exchange.make(http, largest, true), limits),
      traced,
      unlessOpen(circuit), // again: it may have opened during the waits
      Staged.staged(options.stages), // the user's own
      withToken(readToken), // another one, if the call has waited for 1 s or longer
      limited(limiter), // waits
      authorized(readToken, tokens), // before the wait, so that a slow token does not hold a place; and once more after a 401
      guarded({ budget, circuit }), // nothing is sent while the circuit is open
      retried(budget)
    )

    const execute = <Input, Success, Failure>(endpoint: Endpoint<Input, Success, Failure>, input: Input) =>
      calls.run(endpoint, input, send)
    // Sound: the only failure that the type lacks is the limiter's `RateLimited`, which all operations must declare.
    return new Staged.StagedClient(execute as Context.Tag.Service<IdentityClient>["execute"])
  })

/** Provides a client. Build it once: all calls share token, limits and connections. @since 0.1.0 @category layers */
export const layer = (
  options: Options
): Layer.Layer<IdentityClient, InvalidInput, HttpClient.HttpClient | TokenProvider | RateLimiter> =>
  Layer.scoped(IdentityClient, make(options))

/** Provides a client, with each setting from a `Config`. @since 0.1.0 @category layers */
export const layerConfig = (options: Config.Config.Wrap<Options>) =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))

/**
 * Makes any call, without a declaration: with the same token, limits, retries and secrecy as others. It fails with the error of the status,
 * and returns the JSON of the response, or what `response` accepts; `undefined` if there is none. Telemetry and limiter name it by method
 * and path, such as `GET /users/:id`.
 * @since 0.1.0 @category combinators
 * @example `IdentityClient.request({ method: "GET", path: "/users/:id/roles", params: { id }, query: { per_page: 50 } })`
 */
export const request = <const R extends Request>(
  options: R
): Effect.Effect<ResponseOf<R>, RequestFailure | ClientError, IdentityClient> =>
  withFields(Effect.flatMap(IdentityClient, ({ execute }) => execute(...declare(options))), queryOf(options))

/**
 * Limits the time of each attempt, from asking for a connection to the last byte of the response. Default: the client's `timeout`, 30 s. Waits for a
 * token, for a permit and between attempts do not count; a wait for a free connection does. Exceeding it is `TransportError` with the code `TIMEOUT`.
 * @since 0.1.0 @category combinators @example `deleteEventStream({ id }).pipe(IdentityClient.withTimeout("5 seconds"))`
 */
export const withTimeout: {
  (limit: Duration.DurationInput): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, limit: Duration.DurationInput): Effect.Effect<A, E, R>
} = /* @__PURE__ */ dual(2, (self, limit) => changeSettings(self, () => ({ timeout: Duration.decode(limit) })))

/**
 * Adds headers to the calls in an effect and their retries, or replaces `Accept` and `User-Agent`. `Authorization` cannot be replaced.
 * @since 0.1.0 @category combinators @example `program.pipe(IdentityClient.withHeaders({ "x-correlation-id": id }))`
 */
export const withHeaders: {
  (headers: Headers.Input): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, headers: Headers.Input): Effect.Effect<A, E, R>
} = /* @__PURE__ */ dual(
  2,
  (self, headers) =>
    changeSettings(self, (outer) => ({ headers: Headers.merge(outer.headers, Headers.fromInput(headers)) }))
)

/**
 * Sends the bodies of the calls in an effect as `application/x-www-form-urlencoded`, with nested fields in brackets:
 * `fields[0][name]=email`. What a form cannot express is `InvalidInput`, for example `null` or an empty list.
 * @since 0.1.0 @category combinators
 */
export const withFormBody = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  changeSettings(self, () => ({ contentType: "application/x-www-form-urlencoded" }))

/**
 * Adds a stage to the calls in an effect: it sees each request after all waits, and its response. So it can
 * add a header, write an audit log, or fail in place of the request. After it, only an open circuit can keep the request from being sent. It can be interrupted, and its own calls have no stage.
 * @since 0.1.0 @category combinators
 * @example `IdentityClient.withStage(program, (next) => (call) => Effect.zipRight(Effect.log(call.operation), next(call)))`
 */
export const withStage: {
  (stage: Stage): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, stage: Stage): Effect.Effect<A, E, R>
} = /* @__PURE__ */ dual(2, Staged.withStage)

export type { ExtraFields, Json } from "./internal/http/extraFields.js"

/**
 * Sends fields that the operations of the calls in an effect do not declare, because the service is ahead of its documents. Fields of
 * the body are merged with those of the input at any depth; where both set a field, or one is a list, this value is sent. They are typed as JSON and otherwise
 * unchecked, up to 64 KiB in all. Strings in them are hidden in errors, as those of the input are. `InvalidInput` names `withFields` if they are no JSON,
 * too long, or of a body that is not an object or that a GET would have. A stream of pages refuses them where they would change what its pages mean.
 * @since 0.1.0 @category combinators
 * @example `update.pipe(IdentityClient.withFields({ body: { destination: { configuration: { token } } } }))`
 */
export const withFields: {
  (fields: ExtraFields.ExtraFields): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, fields: ExtraFields.ExtraFields): Effect.Effect<A, E, R>
} = /* @__PURE__ */ dual(
  2,
  (self, fields) => changeSettings(self, (outer) => ({ fields: ExtraFields.append(outer.fields, fields) }))
)
