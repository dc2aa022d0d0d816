/** Tests of the clock that can be moved forward. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as MovableClock from "../../../src/tenant/control/clock.js"

/** The times that an effect sees, in milliseconds. */
const times = Effect.flatMap(Effect.clock, (clock) =>
  Effect.map(
    Effect.all([Clock.currentTimeMillis, Clock.currentTimeNanos, MovableClock.steadyMillis]),
    ([millis, nanos, steady]) => [
      [millis, clock.unsafeCurrentTimeMillis()],
      [Number(nanos) / 1e6, Number(clock.unsafeCurrentTimeNanos()) / 1e6, steady]
    ]
  ))

describe("a moved clock", () => {
  it.effect("is ahead by its offset, and the time that only runs is not", () =>
    Effect.gen(function*() {
      const clock = MovableClock.make()
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* clock.provide(times), [[5000, 5000], [5000, 5000, 5000]])
      clock.setOffset(1000)
      assert.strictEqual(clock.offset(), 1000)
      assert.deepStrictEqual(yield* clock.provide(times), [[6000, 6000], [5000, 5000, 5000]])
      assert.deepStrictEqual(yield* clock.provide(clock.provide(times)), [[6000, 6000], [5000, 5000, 5000]])
      assert.deepStrictEqual(yield* times, [[5000, 5000], [5000, 5000, 5000]])
    }))
})
