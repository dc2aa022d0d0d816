/** Dates tokens by the monotonic clock, so that their age is right even if the time of day is changed. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { monotonicMillis } from "../runtime/monotonicClock.js"

/** A token as it was issued. @since 0.1.0 @category models */
export interface IssuedToken {
  /** The bearer token. */
  readonly token: Redacted.Redacted
  /** The time for which it is valid, from `requestedAt` on. Default: until the service refuses it. */
  readonly lifetime?: Duration.Duration | undefined
  /** The time of the request, in milliseconds of the `Clock`. Default: when the effect that issues the token began. */
  readonly requestedAt?: number | undefined
}

/** A token with the time of its request. */
export interface DatedToken extends IssuedToken {
  /** In milliseconds on the monotonic clock. */
  readonly requestedAt: number
}

/** Requests a token and dates it. If the time of day changes meanwhile, the token counts as older rather than younger. */
export const dated = <E, R>(request: Effect.Effect<IssuedToken, E, R>): Effect.Effect<DatedToken, E, R> =>
  Effect.flatMap(Effect.clock, (clock) => {
    const offset = () => clock.unsafeCurrentTimeMillis() - monotonicMillis(clock)
    const startedAt = monotonicMillis(clock)
    const offsetBefore = offset()
    return Effect.map(request, (issued) => {
      const offsetAfter = offset()
      return {
        ...issued,
        requestedAt: issued.requestedAt === undefined
          ? startedAt - Math.max(0, offsetAfter - offsetBefore) // the monotonic clock may stop while the machine sleeps
          : issued.requestedAt - Math.max(offsetBefore, offsetAfter)
      }
    })
  })
