/** Tests of the arithmetic that strategies share. */
import { assert, describe, it } from "vitest"
import { countWithin, reserved, rounding, waitFor } from "../../src/internal/limiter/strategy.js"

describe("the number of calls within a time", () => {
  for (
    const [until, waits, expected] of [
      [0, [], 0],
      [0, [0], 1],
      [9, [10], 0],
      [10, [10], 1],
      [50, [10, 20, 30, 40], 4],
      [40, [10, 20, 30, 40], 4],
      [39, [10, 20, 30, 40], 3],
      [30, [10, 20, 30, 40], 3],
      [29, [10, 20, 30, 40], 2],
      [20, [10, 20, 30, 40, 50], 2],
      [10, [10, 20, 30, 40, 50], 1],
      [9, [10, 20, 30, 40, 50], 0],
      [0, [0, 0, 0, 10, 10], 3],
      [Infinity, [10, Infinity], 2]
    ] as const
  ) {
    it(`is ${expected} where ${until} ms pass and the calls wait ${waits.join(", ") || "for nothing, as there is none"}`, () => {
      const waitAfter = (ahead: number) => waits[ahead] ?? assert.fail(`there is no call after ${ahead} others`)
      assert.strictEqual(countWithin(until, waits.length, waitAfter), expected)
    })
  }
})

describe("the wait until calls have come back", () => {
  for (
    const [missing, rate, expected] of [
      [-1, 0.5, 0],
      [0, 0.5, 0],
      [rounding, 1e-9, 0],
      [2 * rounding, 1e-9, 2 * rounding / 1e-9],
      [1, 1000, 0],
      [1, 500, 0.002],
      [3, 0.5, 6]
    ] as const
  ) {
    it(`is ${expected} ms for ${missing} calls at ${rate} a millisecond`, () => {
      assert.strictEqual(waitFor(missing, rate), expected)
    })
  }
})

describe("the calls left to others", () => {
  it("are a share of the limit, rounded up, but never all", () => {
    const shares = [0, 0.2, 0.21, 0.9, 1]
    assert.deepStrictEqual(shares.map((share) => reserved(share, 10)), [0, 2, 3, 9, 9])
    assert.deepStrictEqual(shares.map((share) => reserved(share, 1)), [0, 0, 0, 0, 0])
  })
})
