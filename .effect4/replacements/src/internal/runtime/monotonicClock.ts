/** Measures durations: unlike the time of day, the monotonic clock never jumps. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Reads the monotonic clock, in milliseconds. Only differences mean something. */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1000n) / 1000

/** The time of day minus the monotonic clock, in milliseconds. It changes if the time of day is set or the machine sleeps. */
export const clockOffset = (clock: Clock.Clock): number => clock.currentTimeMillisUnsafe() - monotonicMillis(clock)

/** Begins to measure; the effect gives the whole milliseconds since then, also if the time of day is set meanwhile. */
export const stopwatch: Effect.Effect<Effect.Effect<number>> = /* @__PURE__ */ Clock.clockWith((clock) => {
  const startedAt = monotonicMillis(clock)
  return Effect.succeed(Effect.sync(() => Math.floor(monotonicMillis(clock) - startedAt)))
})
