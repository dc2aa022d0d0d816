/** A token whose age can be measured, even if the time of day is changed. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { monotonicMillis } from "../runtime/monotonicClock.js"

interface Issued {
  readonly token: Redacted.Redacted
  readonly lifetime?: Duration.Duration | undefined
  /** In milliseconds of the `Clock`. */
  readonly requestedAt?: number | undefined
}

/** A token with the moment of its request. */
export interface DatedToken extends Issued {
  /** In milliseconds on the monotonic clock. */
  readonly requestedAt: number
}

/** Requests a token and dates it. If the time of day changes meanwhile, the token counts as older rather than younger. */
export const dated = <E, R>(request: Effect.Effect<Issued, E, R>): Effect.Effect<DatedToken, E, R> =>
  Effect.flatMap(Effect.clock, (clock) => {
    const offset = () => clock.unsafeCurrentTimeMillis() - monotonicMillis(clock)
    const began = monotonicMillis(clock)
    const offsetBefore = offset()
    return Effect.map(request, (issued) => ({
      ...issued,
      requestedAt: issued.requestedAt === undefined ? began : issued.requestedAt - Math.max(offsetBefore, offset())
    }))
  })
