/** Caches a token until shortly before it expires, and makes one token request for all callers that need one. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { TokenError } from "../../Errors.js"
import { makeDeferred, withFiber } from "../runtime/fiber.js"
import { clockOffset, monotonicMillis } from "../runtime/monotonicClock.js"
import { makeRunner, onExit } from "../runtime/runner.js"
import * as TokenTelemetry from "../telemetry/tokenTelemetry.js"
import type { AccessToken, DatedToken } from "./issuedToken.js"

/** Gives a token that is valid now. */
interface GetToken extends Effect.Effect<AccessToken, TokenError> {
  /** The token, if there is no need to wait for it. Without this, each call reads its token in a fiber of its own. */
  readonly peek?: () => AccessToken | undefined
}

/** Supplies access tokens and drops refused ones. */
export interface Tokens {
  /** Gives a token that is valid now. */
  readonly get: GetToken
  /** Reports a token that the service refused. `get` does not give it again, unless there is no other or a token was refused just before. */
  readonly invalidate: (token: Redacted.Redacted) => Effect.Effect<void>
}

export interface TokenSource {
  readonly request: Effect.Effect<DatedToken, TokenError>
  /** Runs for each token that the service refused. */
  readonly forget?: (token: Redacted.Redacted) => Effect.Effect<void>
}

/** All times are milliseconds of the monotonic clock. */
interface CachedToken {
  readonly token: AccessToken
  /** From this time on a new token is requested in the background. */
  readonly renewAt: number
  /** From this time on callers wait for a new token. */
  readonly unusableAt: number
  /** The time of day minus the monotonic clock when the token was cached. */
  readonly offset: number
}

/** The part of a lifetime in which a token is used: all but the last 10 %, at most 30 s. Both in milliseconds. */
export const usableMillis = (lifetime: number): number => lifetime - Math.min(30_000, lifetime * 0.1)

/**
 * The time in milliseconds in which a second refused token is kept. If the service refuses the token that replaced a refused one,
 * the reason is not the token, but for example a client that is not global: each call would cost a token request.
 */
const invalidationInterval = 30_000

/** The longest pause in milliseconds that the token endpoint may ask for. After that, one request tests whether it responds again. */
const maxPause = 900_000

/** The time in milliseconds in which the token endpoint asks for no other request after a failure; 0 if it does not ask. */
const askedPause = ({ retryAfter = Duration.zero }: TokenError): number =>
  Math.min(maxPause, Duration.toMillis(retryAfter))

const closed = () => new TokenError({ operation: "token", message: "the token provider was closed", code: "CLOSED" })

/** A failure that is given again until the pause that the token endpoint has asked for is over. */
interface Refusal {
  readonly error: TokenError
  readonly until: number
}

/**
 * Caches the tokens that `source` issues. One request at a time is under way; it runs in the scope of the cache, so
 * interrupting a caller does not disturb the others. A token is renewed in the background from 80 % of its lifetime on.
 * A failure is given again only while the token endpoint asks for a pause (`Retry-After`, up to 15 minutes).
 */
export const make = ({ forget = () => Effect.void, request }: TokenSource): Effect.Effect<Tokens, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const clock = yield* Effect.clock
    const { runSync } = yield* makeRunner()
    let cached: CachedToken | undefined
    let refusal: Refusal | undefined
    let nextInvalidationAt = -Infinity
    /** The result of the token request under way. */
    let underWay: Deferred.Deferred<AccessToken, TokenError> | undefined

    /** Reads the monotonic clock, or the time of day if that is ahead: the former may stop while the machine sleeps. */
    const timeFor = ({ offset }: CachedToken): number =>
      Math.max(monotonicMillis(clock), clock.unsafeCurrentTimeMillis() - offset)

    const ended = (result: Exit.Exit<DatedToken, TokenError>): Exit.Exit<AccessToken, TokenError> => {
      underWay = undefined
      const exit = Exit.isInterrupted(result) ? Exit.fail(closed()) : result // callers have asked for no interruption
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
      const pause = error === undefined ? 0 : askedPause(error)
      refusal = error === undefined || pause === 0 ? undefined : { error, until: monotonicMillis(clock) + pause }
      if (Exit.isSuccess(exit)) {
        const { lifetime, requestedAt, token } = exit.value
        cached = {
          token,
          renewAt: requestedAt + lifetime * 0.8,
          unusableAt: requestedAt + usableMillis(lifetime),
          offset: clockOffset(clock)
        }
      } else if (cached !== undefined) cached = { ...cached, renewAt: timeFor(cached) + Math.max(5000, pause) }
      return Exit.map(exit, ({ token }) => token)
    }

    /** Joins the request under way, or starts one. */
    const renew = withFiber((fiber) => {
      if (underWay !== undefined) return Effect.succeed(underWay)
      const result = makeDeferred<AccessToken, TokenError>()
      underWay = result
      // All callers share the request, so it runs with the settings of the layer, not with those of its first caller.
      const requested = Effect.interruptible(TokenTelemetry.tokenRequest(fiber, request))
      const fetched = Effect.flatMap(Effect.exit(requested), (exit) => Deferred.done(result, ended(exit)))
      const fetching = runSync(Effect.uninterruptible(Effect.forkIn(fetched, scope)))
      // In a scope that is closed it may not even begin.
      onExit(fetching, (exit) => {
        if (Exit.isFailure(exit) && underWay === result) Deferred.unsafeDone(result, ended(Exit.failCause(exit.cause)))
      })
      return Effect.succeed(result)
    })

    /** The cached token, unless it is time to renew it. */
    const peek = (): AccessToken | undefined =>
      cached !== undefined && timeFor(cached) < Math.min(cached.renewAt, cached.unusableAt) ? cached.token : undefined

    const get = Effect.suspend(() => {
      const fresh = peek()
      if (fresh !== undefined) return Effect.succeed(fresh)
      if (cached !== undefined && timeFor(cached) < cached.unusableAt) return Effect.as(renew, cached.token)
      const pause = refusal === undefined ? 0 : refusal.until - monotonicMillis(clock)
      return refusal !== undefined && pause > 0
        ? new TokenError({ ...refusal.error, message: refusal.error.message, retryAfter: Duration.millis(pause) })
        : Effect.flatMap(renew, Deferred.await)
    })

    return {
      get: Object.assign(get, { peek }),
      invalidate: (token) =>
        Effect.suspend(() => {
          if (cached !== undefined && Redacted.value(cached.token) === Redacted.value(token)) {
            const now = monotonicMillis(clock)
            if (now < nextInvalidationAt) return Effect.void
            nextInvalidationAt = now + invalidationInterval
            cached = undefined
          }
          return forget(token)
        })
    }
  })
