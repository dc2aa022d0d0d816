/** Dates tokens by the monotonic clock, so that their age is right even if the time of day is changed. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { clockOffset } from "../runtime/monotonicClock.js"

/** A token, and the scheme under which a request carries it. A plain `Redacted` is one, too. @since 0.1.0 @category models */
export interface AccessToken extends Redacted.Redacted {
  /** The scheme of the header `Authorization`. Default: `Bearer`. */
  readonly scheme?: string | undefined
}

/** Joins a token with its scheme; a missing or malformed `token_type`, or `Bearer` in any case, stands for the default. */
export const withScheme = (token: Redacted.Redacted, type: string | undefined): AccessToken =>
  type === undefined || !/^[\w!#$%&'*+.^`|~-]+$/.test(type) || type.toLowerCase() === "bearer"
    ? token
    : Object.assign(Redacted.make(Redacted.value(token)), { scheme: type })

/** A token as it was issued. @since 0.1.0 @category models */
export interface IssuedToken {
  /** The access token. */
  readonly token: Redacted.Redacted
  /** The token's `token_type`, which is the scheme of the header `Authorization`. Default: `Bearer`. */
  readonly tokenType?: string | undefined
  /** The time for which it is valid, from `requestedAt` on. Default: until the service refuses it. */
  readonly lifetime?: Duration.Duration | undefined
  /** The time of the request, in milliseconds of the `Clock`. Default: when the effect that issues the token began. */
  readonly requestedAt?: number | undefined
}

/** A token with the time of its request. */
export interface DatedToken {
  readonly token: AccessToken
  /** In milliseconds; `Infinity` if it is not known. */
  readonly lifetime: number
  /** In milliseconds: on the monotonic clock, or in a shared store on the store's clock. */
  readonly requestedAt: number
}

/** Requests a token and dates it. If the time of day changes meanwhile, the token counts as older rather than younger. */
export const dated = <E, R>(request: Effect.Effect<IssuedToken, E, R>): Effect.Effect<DatedToken, E, R> =>
  Effect.flatMap(Effect.clock, (clock) => {
    const startedAt = clock.unsafeCurrentTimeMillis()
    const offsetBefore = clockOffset(clock)
    return Effect.map(request, ({ lifetime, requestedAt = startedAt, token, tokenType }) => ({
      token: withScheme(token, tokenType),
      lifetime: lifetime === undefined ? Infinity : Duration.toMillis(lifetime),
      requestedAt: requestedAt - Math.max(offsetBefore, clockOffset(clock))
    }))
  })
