/** Measures durations: unlike the time of day, the monotonic clock never jumps. */
import type * as Clock from "effect/Clock"

/** Reads the monotonic clock, in milliseconds. Only differences mean something. */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos() / 1000n) / 1000
