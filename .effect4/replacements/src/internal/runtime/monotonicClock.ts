/** Measures durations: unlike the time of day, the monotonic clock never jumps. */
import type * as Clock from "effect/Clock"

/** Reads the monotonic clock, in milliseconds. Only differences mean something. */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1000n) / 1000

/** The time of day minus the monotonic clock, in milliseconds. It changes if the time of day is set or the machine sleeps. */
export const clockOffset = (clock: Clock.Clock): number => clock.currentTimeMillisUnsafe() - monotonicMillis(clock)
