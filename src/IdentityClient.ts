/** The client: takes an operation's description and an input through token, limit, network and back. */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { ContentType, Endpoint } from "./Endpoint.js"
import type { ClientError, InvalidInput, RateLimited } from "./Errors.js"
import * as OpenCalls from "./internal/call/drain.js"
import * as Attempt from "./internal/call/pipeline.js"
import * as Repeat from "./internal/call/retry.js"
import * as Address from "./internal/http/baseUrl.js"
import * as Http from "./internal/http/exchange.js"
import * as Request from "./internal/http/requestEncoder.js"
import * as Response from "./internal/http/responseDecoder.js"
import * as Fiber from "./internal/runtime/fiber.js"
import { memoizeByEndpoint } from "./internal/runtime/memoizeByEndpoint.js"
import * as Timeouts from "./internal/runtime/timeouts.js"
import * as Watch from "./internal/telemetry/callTelemetry.js"
import { RateLimiter } from "./RateLimiter.js"
import * as Retry from "./Retry.js"
import { TokenProvider } from "./TokenProvider.js"

/** The service that carries operations out. Tests replace it (`Testing.layer`). */
export class IdentityClient extends Context.Tag("effect-identity-client/IdentityClient")<IdentityClient, {
  /** Carries one call out: the input is checked, sent with a token and a permit, and what comes back decoded. */
  readonly execute: <Input, Success, Failure>(
    endpoint: Endpoint<Input, Success, Failure>,
    input: Input
  ) => Effect.Effect<Success, Failure | ClientError>
}>() {}

/** How a client reaches its tenant, and what holds for all its calls. */
export type Options =
  & Defaults
  & (
    /** The base URL with the prefix of the interface, for example `https://tenant.eu.example.com/api/v2`. */
    | { readonly baseUrl: string; readonly domain?: undefined }
    /** The tenant's domain, for example `tenant.eu.example.com`; the base URL follows from it. */
    | { readonly domain: string; readonly baseUrl?: undefined }
  )

/** What holds for all calls of a client. */
export interface Defaults {
  /** Allows plain http to a host that is not this machine (default: false). */
  readonly allowInsecure?: boolean | undefined
  /** When calls are sent again (default: `Retry.defaultPolicy`). `Retry.withPolicy` and `Retry.withoutRetries` around a call go before it. */
  readonly retry?: Retry.Changes | undefined
  /** How many bytes of an answer are accepted, unzipped (default: 64 MiB); a larger one is `UnexpectedResponse`. */
  readonly maxBodySize?: number | undefined
  /** Sends `traceparent` with each request, so that the service can continue the trace of the call (default: false). */
  readonly propagateTrace?: boolean | undefined
}

/**
 * Makes a client. Make it once and share it. Closing its scope lets running calls end for up to 5 s. It fails with
 * `InvalidInput` if `baseUrl` is not http(s), holds credentials, a query or a fragment, or would send tokens in the clear.
 */
export const make = (
  options: Options
): Effect.Effect<
  Context.Tag.Service<IdentityClient>,
  InvalidInput,
  HttpClient.HttpClient | TokenProvider | RateLimiter | Scope.Scope
> =>
  Effect.gen(function*() {
    const { maxBodySize = Http.bodyLimits.decoded, propagateTrace = false, retry } = options
    const tenant = yield* options.domain === undefined
      ? Address.parse("IdentityClient.layer", "baseUrl", options.baseUrl, options.allowInsecure)
      : Either.map(Address.ofDomain("IdentityClient.layer", options.domain), (origin) => `${origin}/api/v2`)
    const http = Http.strict(yield* HttpClient.HttpClient, Math.max(maxBodySize, Http.bodyLimits.drained))
    const tokens = yield* TokenProvider
    const limiter = yield* RateLimiter
    const timeouts = yield* Timeouts.make
    const calls = yield* OpenCalls.make(
      timeouts,
      (operation) => Attempt.transportError(operation, "not-sent", "CLOSED")
    )

    const watchOf = Watch.make(tenant, propagateTrace)
    const policyOf = Retry.current(retry)
    const limits = memoizeByEndpoint((endpoint) => Response.bodyLimit(endpoint, maxBodySize))

    const execute = <Input, Success, Failure>(endpoint: Endpoint<Input, Success, Failure>, input: Input) => {
      const operation = endpoint.name
      return calls.track<Success, Failure | ClientError | RateLimited>(operation, (restore, fiber) => {
        const settings = Fiber.settingOf(fiber, currentSettings)
        const clock = Fiber.clockOf(fiber)
        const prepared = Request.make(endpoint, input, settings)
        if (Either.isLeft(prepared)) return Effect.fail(prepared.left)
        const request = prepared.right
        const watch = watchOf(endpoint, fiber, clock)
        return watch.around(
          Repeat.around(endpoint, policyOf(fiber), fiber, restore, watch, (turn) =>
            Attempt.authorized(tokens, operation, turn, (authorization) =>
              Attempt.permitted(limiter, { tenant, operation }, turn, (trace) =>
                Attempt.exchange(http, operation, Request.authorize(request, tenant, authorization, trace), {
                  bodyLimit: limits(endpoint),
                  timeouts,
                  millis: turn.limit(Duration.toMillis(settings.timeout)),
                  restore
                })))),
          request.members,
          (answer, strings) => {
            settings.witness?.(answer)
            return Response.interpret(endpoint, answer, strings, clock)
          }
        )
      })
    }
    // Sound: what the limiter adds to the failures is `RateLimited`, which `Operation.make` demands in every list.
    return { execute: execute as Context.Tag.Service<IdentityClient>["execute"] }
  })

/** The client as a layer. Build it once: the tokens, limits and connections that it holds are what makes it good. */
export const layer = (
  options: Options
): Layer.Layer<IdentityClient, InvalidInput, HttpClient.HttpClient | TokenProvider | RateLimiter> =>
  Layer.scoped(IdentityClient, make(options))

/** The client as a layer, with settings from a `Config` each. */
export const layerConfig = (
  options: Config.Config.Wrap<Options>
): Layer.Layer<
  IdentityClient,
  InvalidInput | ConfigError.ConfigError,
  HttpClient.HttpClient | TokenProvider | RateLimiter
> => Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))

/** What calls may set besides their input. */
interface Settings {
  readonly contentType: ContentType
  readonly headers: Headers.Headers
  readonly timeout: Duration.Duration
  readonly witness?: (answer: ResponseInfo) => void
}

const currentSettings = /* @__PURE__ */ Fiber.makeSetting("IdentityClient/currentSettings", (): Settings => ({
  contentType: "application/json",
  headers: Headers.empty,
  timeout: Duration.seconds(30)
}))

/**
 * Limits the time that each attempt may take from sending to the last byte of the answer (default: 30 s). Waiting for a
 * token, for the limiter and between attempts does not count. It fails with `TransportError`, code `TIMEOUT`.
 */
export const withTimeout: {
  (limit: Duration.DurationInput): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, limit: Duration.DurationInput): Effect.Effect<A, E, R>
} = /* @__PURE__ */ dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, limit: Duration.DurationInput) =>
    Fiber.withSetting(self, currentSettings, (settings) => ({ ...settings, timeout: Duration.decode(limit) }))
)

/** Adds headers to the calls in an effect, or replaces `Accept` and `User-Agent`. The token's header stays the client's. */
export const withHeaders: {
  (headers: Headers.Input): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, headers: Headers.Input): Effect.Effect<A, E, R>
} = /* @__PURE__ */ dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, headers: Headers.Input) =>
    Fiber.withSetting(self, currentSettings, (settings) => ({
      ...settings,
      headers: Headers.merge(settings.headers, Headers.fromInput(headers))
    }))
)

/**
 * Sends the bodies of the calls in an effect as `application/x-www-form-urlencoded`, nested members in brackets:
 * `fields[0][name]=email`. A form has no notation for an empty list; one is `InvalidInput`.
 */
export const withFormBody = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Fiber.withSetting(self, currentSettings, (settings): Settings => ({
    ...settings,
    contentType: "application/x-www-form-urlencoded"
  }))

/** Status and headers of an answer. */
export interface ResponseInfo {
  readonly status: number
  readonly headers: Headers.Headers
}

/** Also gives status and headers of the last answer in an effect; none if no request was made, as with a mock. */
export const withResponse = <A, E, R>(
  self: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly value: A; readonly response: Option.Option<ResponseInfo> }, E, R> =>
  Effect.suspend(() => {
    let response = Option.none<ResponseInfo>()
    const witnessed = Fiber.withSetting(self, currentSettings, (outer): Settings => ({
      ...outer,
      witness: (answer) => {
        response = Option.some({ status: answer.status, headers: answer.headers })
        outer.witness?.(answer)
      }
    }))
    return Effect.map(witnessed, (value) => ({ value, response }))
  })
