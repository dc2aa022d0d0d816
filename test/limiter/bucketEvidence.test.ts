/** What exactly parts, joins and keeps operations in buckets: the last call that still does, and the first that does not. */
import { assert, describe, it } from "@effect/vitest"
import type { BucketReading } from "../../src/internal/limiter/bucketReading.js"
import { makeStrategy } from "../support/adaptive.js"
import { largeReading, rateLimited, reading } from "../support/readings.js"

/** A strategy whose calls take no time, unless a time is given. */
const setUp = (limits?: Parameters<typeof makeStrategy>[0]) => {
  const made = makeStrategy(limits)
  const { save, start, strategy } = made
  return {
    ...made,
    call: (operation: string, at: number, response: BucketReading, millis = 0) =>
      strategy.settle(start(operation, at), response, at + millis),
    /** The id of the bucket of each operation. */
    buckets: () => Object.fromEntries(Object.entries(save().operations).map(([name, { bucket }]) => [name, bucket]))
  }
}

describe("an operation at one instant", () => {
  // After the calls of a and b 50 are left; a third call leaves at most 48, as each may have counted twice.
  for (
    const [what, left, contradictions, stays] of [
      ["as many calls as can be left, twice", [48, 47], 0, true],
      ["one call more", [49], 1, true],
      ["one call more, and then as many as can be left", [49, 47], 0, true],
      ["two calls more", [50], 0, false]
    ] as const
  ) {
    it(`${stays ? "stays in" : "leaves"} its bucket when responses show ${what}`, () => {
      const { buckets, call, save } = setUp()
      call("a", 0, largeReading(60))
      call("b", 0, largeReading(50))
      for (const each of left) call("a", 0, largeReading(each))
      assert.deepStrictEqual(buckets(), { a: stays ? "1" : "2", b: "1" })
      const observation = (remaining: number) => ({
        sentAt: 0,
        endedAt: 0,
        remaining,
        fullAt: (1000 - 10 * remaining - 1) * 1000
      })
      assert.deepInclude(save().operations["a"], {
        contradictions,
        observations: (stays ? [60, ...left] : [left.at(-1)!]).map(observation)
      })
    })
  }
})

describe("a response without the calls left", () => {
  it("shows no bucket", () => {
    const { buckets, call, save } = setUp()
    call("a", 0, reading(5))
    call("b", 100, reading(undefined, { limit: 10, untilFull: 5 }))
    assert.deepStrictEqual(buckets(), { a: "1", b: undefined })
    assert.deepInclude(save().operations["b"], { isSilent: true, observations: [] })
  })
})

describe("the observations of an operation", () => {
  it("are its last 32", () => {
    const { call, save } = setUp()
    for (let nth = 1; nth <= 33; nth++) call("a", nth, reading(5))
    assert.deepStrictEqual(
      save().operations["a"]?.observations,
      Array.from({ length: 32 }, (_, nth) => ({ sentAt: nth + 2, endedAt: nth + 2, remaining: 5, fullAt: nth + 4002 }))
    )
  })
})

describe("a new operation", () => {
  /** A strategy with two buckets of a hundred calls, with 30 left in each. */
  const parted = () => {
    const made = setUp()
    made.call("a", 0, largeReading(30))
    made.call("b", 0, largeReading(89))
    for (const operation of ["a", "b"]) made.call(operation, 100, largeReading(30))
    assert.deepStrictEqual(made.buckets(), { a: "1", b: "2" })
    return made
  }

  for (
    const [what, left, bucket] of [
      ["joins the older of two buckets that explain its response as well", 29, "1"],
      ["gets a bucket of its own for one call more than either can have left", 30, "3"]
    ] as const
  ) {
    it(what, () => {
      const { buckets, call } = parted()
      call("c", 100, largeReading(left))
      assert.deepStrictEqual(buckets(), { a: "1", b: "2", c: bucket })
    })
  }

  for (const [left, bucket] of [[50, "1"], [51, "2"]] as const) {
    it(`is compared with the later known operation of two whose responses came at once: ${left} left`, () => {
      const { buckets, call } = setUp()
      call("a", 0, largeReading(60), 10)
      call("b", 0, largeReading(50), 10)
      call("c", 20, largeReading(left))
      assert.deepStrictEqual(buckets(), { a: "1", b: "1", c: bucket })
    })
  }

  for (const [left, bucket] of [[59, "1"], [60, "2"]] as const) {
    it(`may see twice the calls that come back in the time between, also long after the start: ${left} left`, () => {
      const { buckets, call } = setUp()
      const late = 1_000_000_000
      call("a", late, largeReading(50))
      call("b", late + 100_000, largeReading(left))
      assert.deepStrictEqual(buckets(), { a: "1", b: bucket })
    })
  }

  it("may see one call more where the bucket should have been full by its rate, but not by its last reset", () => {
    const { buckets, call } = setUp()
    call("a", 0, reading(99, { limit: 100, untilFull: 1 }))
    call("b", 2000, reading(99, { limit: 100, untilFull: 10 }), 10)
    call("c", 5000, reading(99, { limit: 100, untilFull: 10 }), 2000)
    assert.deepStrictEqual(buckets(), { a: "1", b: "1", c: "1" })
  })

  for (const [millis, bucket] of [[999, "2"], [1000, "1"]] as const) {
    it(`may see all calls from the earliest reset on: after ${millis} ms`, () => {
      const { buckets, call } = setUp()
      call("a", 0, reading(5, { untilFull: 2 }))
      call("a", 100, rateLimited({ untilFull: 2 }))
      call("b", 900, reading(9, { untilFull: 1 }), millis - 900)
      assert.deepStrictEqual(buckets(), { a: "1", b: bucket })
    })
  }
})
