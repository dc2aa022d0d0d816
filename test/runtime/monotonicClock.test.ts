import { assert, describe, it } from "@effect/vitest"
import { Clock } from "effect"
import { clockOffset, monotonicMillis } from "../../src/internal/runtime/monotonicClock.js"

/** A clock that stands still at a time of day, in milliseconds, and at a monotonic time, in nanoseconds. */
const clockAt = (timeOfDay: number, monotonic: bigint): Clock.Clock => ({
  ...Clock.make(),
  unsafeCurrentTimeMillis: () => timeOfDay,
  unsafeCurrentTimeNanos: () => monotonic
})

describe("the monotonic clock", () => {
  it("counts milliseconds with three decimals, whatever the time of day", () => {
    for (const timeOfDay of [0, 1_700_000_000_000]) {
      assert.strictEqual(monotonicMillis(clockAt(timeOfDay, 2_500_125_999n)), 2500.125)
    }
  })

  it("has an offset to the time of day that changes only if that is set", () => {
    assert.strictEqual(clockOffset(clockAt(10_000, 2_000_000_000n)), 8000)
    assert.strictEqual(clockOffset(clockAt(11_500, 3_500_000_000n)), 8000)
    assert.strictEqual(clockOffset(clockAt(71_500, 3_500_000_000n)), 68_000)
  })
})
