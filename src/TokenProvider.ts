/** Who is calling: gives the bearer token of a call, and takes back one that the service has refused. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { InvalidInput, type TokenError } from "./Errors.js"
import type { SharedToken } from "./internal/fleet/token.js"
import * as Address from "./internal/http/baseUrl.js"
import * as Http from "./internal/http/exchange.js"
import * as Fiber from "./internal/runtime/fiber.js"
import { monotonicMillis } from "./internal/runtime/monotonicClock.js"
import * as Watch from "./internal/telemetry/callTelemetry.js"
import * as OAuth from "./internal/token/clientCredentials.js"
import { dated, type DatedToken } from "./internal/token/datedToken.js"

/** The service that supplies tokens (contract: Authentication). */
export class TokenProvider extends Context.Tag("effect-identity-client/TokenProvider")<TokenProvider, {
  /** A token that is good for a call now. */
  readonly get: Effect.Effect<Redacted.Redacted, TokenError>
  /** Reports a token that was refused: exactly this one is not given again, unless it is the only one there is. */
  readonly invalidate: (token: Redacted.Redacted) => Effect.Effect<void>
}>() {}

/** A token as it was issued. */
export interface IssuedToken {
  /** The bearer token. */
  readonly token: Redacted.Redacted
  /** How long it is good from the moment it was asked for; absent: until it is refused. */
  readonly lifetime?: Duration.Duration | undefined
  /** That moment, in milliseconds of the `Clock` (default: when the effect that gives it began). */
  readonly requestedAt?: number | undefined
}

interface Kept {
  readonly token: Redacted.Redacted
  /** In milliseconds on the monotonic clock: the token is renewed in the background from `renewAt` on, and not given from `staleAt` on. */
  readonly renewAt: number
  readonly staleAt: number
  /** Time of day less monotonic clock. The latter may stand still while the machine sleeps: then the former tells the time. */
  readonly offset: number
}

interface State {
  readonly kept?: Kept
  readonly pending?: Deferred.Deferred<Redacted.Redacted, TokenError>
}

/** How many milliseconds a background renewal that failed is not tried again: 5 s, or what the endpoint asks for. */
const pauseAfter = (cause: Cause.Cause<TokenError>): number =>
  Math.max(
    5000,
    ...Option.match(Cause.failureOption(cause), {
      onNone: () => [],
      onSome: ({ retryAfter }) => retryAfter === undefined ? [] : [Duration.toMillis(retryAfter)]
    })
  )

const offsetOf = (clock: Clock.Clock): number => clock.unsafeCurrentTimeMillis() - monotonicMillis(clock)

/** The monotonic time; a time of day that was set forward counts, too. */
const localTime = (clock: Clock.Clock, { offset }: Kept): number =>
  Math.max(monotonicMillis(clock), clock.unsafeCurrentTimeMillis() - offset)

const keep = ({ lifetime, requestedAt, token }: DatedToken, offset: number): Kept => {
  const millis = lifetime === undefined ? Infinity : Duration.toMillis(lifetime)
  return {
    token,
    offset,
    renewAt: requestedAt + millis * 0.8,
    staleAt: requestedAt + OAuth.goodFor(millis)
  }
}

const equals = (a: Redacted.Redacted, b: Redacted.Redacted): boolean => Redacted.value(a) === Redacted.value(b)

/**
 * Keeps what `request` issues. However many callers wait, one request is under way, in the scope of the provider, so that
 * interrupting a caller disturbs no other. A token is renewed in the background from 80 % of its lifetime on and not given
 * any more shortly before its end (10 % of the lifetime, at most 30 s). Failures are never kept.
 */
export const make = (
  request: Effect.Effect<IssuedToken, TokenError>
): Effect.Effect<Context.Tag.Service<TokenProvider>, never, Scope.Scope> =>
  keeping({ request: dated(request), forget: () => Effect.void })

/**
 * Keeps what it is issued, and tells when a token was refused.
 *
 * @internal
 */
export const keeping = (
  { forget, request }: SharedToken
): Effect.Effect<Context.Tag.Service<TokenProvider>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const { runSync } = yield* Fiber.makeRunner()
    let state: State = {}

    const settle = (deferred: NonNullable<State["pending"]>, request: Effect.Effect<DatedToken, TokenError>) =>
      Effect.gen(function*() {
        const clock = yield* Effect.clock
        const exit = yield* Effect.exit(Effect.interruptible(request))
        const { kept } = state
        state = exit._tag === "Success"
          ? { kept: keep(exit.value, offsetOf(clock)) }
          : kept === undefined
          ? {}
          : { kept: { ...kept, renewAt: localTime(clock, kept) + pauseAfter(exit.cause) } }
        yield* Deferred.done(deferred, Exit.map(exit, ({ token }) => token))
      })

    // The request that is under way, started if there is none. Nobody can interrupt it between the two.
    const renew = Fiber.withFiber<Deferred.Deferred<Redacted.Redacted, TokenError>>((fiber) => {
      if (state.pending !== undefined) return Effect.succeed(state.pending)
      const pending = Deferred.unsafeMake<Redacted.Redacted, TokenError>(FiberId.none)
      state = { ...state, pending }
      // It is everybody's, so it runs as the layer does: what its first caller has set, headers for one, is not for it.
      const settled = settle(pending, Watch.tokenRequest(fiber, request))
      runSync(Effect.uninterruptible(Effect.forkIn(settled, scope)))
      return Effect.succeed(pending)
    })

    return {
      get: Effect.clockWith((clock) => {
        const { kept } = state
        if (kept === undefined) return Effect.flatMap(renew, Deferred.await)
        const now = localTime(clock, kept)
        if (now >= kept.staleAt) return Effect.flatMap(renew, Deferred.await)
        return now < kept.renewAt ? Effect.succeed(kept.token) : Effect.as(renew, kept.token)
      }),
      invalidate: (token) =>
        Effect.sync(() => {
          const { kept, ...rest } = state
          state = kept === undefined || equals(kept.token, token) ? rest : { kept, ...rest }
        }).pipe(Effect.zipRight(forget(token)))
    }
  })

/** A token of your own, for as long as it is good. */
export const layerBearer = (token: Redacted.Redacted): Layer.Layer<TokenProvider> =>
  Layer.succeed(TokenProvider, { get: Effect.succeed(token), invalidate: () => Effect.void })

/** A token of your own, from a `Config`. */
export const layerBearerConfig = (
  token: Config.Config<Redacted.Redacted>
): Layer.Layer<TokenProvider, ConfigError.ConfigError> => Layer.unwrapEffect(Effect.map(token, layerBearer))

/** Tokens from an effect, which is run when one is needed; what it issues is kept as long as it is good. */
export const layerEffect = <R>(
  request: Effect.Effect<IssuedToken, TokenError, R>
): Layer.Layer<TokenProvider, never, R> =>
  Layer.scoped(
    TokenProvider,
    Effect.flatMap(Effect.context<R>(), (context) =>
      // What is here goes first: the span that it runs in is that of the request, not that which the layer was built in.
      make(Effect.mapInputContext(request, (here: Context.Context<never>) => Context.merge(context, here))))
  )

/** OAuth 2.0 client credentials (contract: Authentication). */
export type ClientCredentials =
  & {
    /** Who asks for tokens. */
    readonly clientId: string
    /** Its secret. It is sent to the token endpoint alone, in the body. */
    readonly clientSecret: Redacted.Redacted
    /** What the token is for. Default: `/api/v2/`, or with `domain` `https://{domain}/api/v2/`. */
    readonly audience?: string | undefined
    /** Where tokens are issued. Default: `/oauth/token/`, or with `domain` `/oauth/token`. */
    readonly tokenPath?: string | undefined
    /** Allows plain http to a host that is not this machine. Default: false. */
    readonly allowInsecure?: boolean | undefined
  }
  & (
    /** The authentication host, for example `https://login.example.com`. */
    | { readonly authUrl: string; readonly domain?: undefined }
    /** The tenant's domain, for example `tenant.eu.example.com`; the rest follows from it. */
    | { readonly domain: string; readonly authUrl?: undefined }
  )

/** Tokens by OAuth 2.0 client credentials, with settings from a `Config` each. */
export const layerClientCredentialsConfig = (
  options: Config.Config.Wrap<ClientCredentials>
): Layer.Layer<TokenProvider, InvalidInput | ConfigError.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerClientCredentials))

/**
 * How one of these asks, and what tells its tokens from others'.
 *
 * @internal
 */
export const clientCredentials = (operation: string, options: ClientCredentials) =>
  Effect.gen(function*() {
    const client = Http.strict(yield* HttpClient.HttpClient, Http.bodyLimits.drained)
    const base = yield* options.domain === undefined
      ? Address.parse(operation, "authUrl", options.authUrl, options.allowInsecure)
      : Address.ofDomain(operation, options.domain)
    const path = options.tokenPath ?? (options.domain === undefined ? "/oauth/token/" : "/oauth/token")
    const audience = options.audience ?? (options.domain === undefined ? "/api/v2/" : `${base}/api/v2/`)
    if (!/^\/(?!\/)[^?#\\\s]*$/.test(path)) {
      const issue = { path: "tokenPath", message: "expected a path that begins with one slash, and no query" }
      return yield* new InvalidInput({ operation, issues: [issue] })
    }
    const secret = Redacted.value(options.clientSecret)
    const request = OAuth.request(
      client,
      HttpClientRequest.post(new URL(`${base}${path}`).href).pipe(
        HttpClientRequest.acceptJson,
        HttpClientRequest.bodyUrlParams({
          grant_type: "client_credentials",
          client_id: options.clientId,
          client_secret: secret,
          audience
        })
      ),
      [secret, Encoding.encodeBase64(`${options.clientId}:${secret}`)]
    )
    return { request, tenant: base, identity: [path, options.clientId, audience] }
  })

/**
 * Tokens by OAuth 2.0 client credentials, kept until shortly before they expire or until they are refused. They are asked
 * for up to three times if there is no answer within 10 s, or one of 429 or 5xx, unless its `Retry-After` is over 60 s.
 */
export const layerClientCredentials = (
  options: ClientCredentials
): Layer.Layer<TokenProvider, InvalidInput, HttpClient.HttpClient> =>
  Layer.scoped(
    TokenProvider,
    Effect.flatMap(
      clientCredentials("TokenProvider.layerClientCredentials", options),
      ({ request }) => make(request)
    )
  )
