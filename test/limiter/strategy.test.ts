/** Tests of the arithmetic that strategies share. */
import { assert, describe, it } from "vitest"
import { reserved, rounding, waitFor } from "../../src/internal/limiter/strategy.js"

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
