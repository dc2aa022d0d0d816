import { assert, describe, it } from "vitest"
import type { BucketReading } from "../../src/internal/limiter/bucketReading.js"
import { makeStrategy, tenant } from "../support/adaptive.js"
import { largeReading, reading } from "../support/readings.js"

describe("an operation", () => {
  for (
    const [what, responses, stays, every = 100] of [
      ["as many calls as can be left", "a49", true],
      ["one call more than that", "a51", true],
      ["one call more, twice", "a51 b49 a50", false],
      ["one call more, and again after a possible response", "a51 b49 a49 b47 a48", true],
      ["one call more, twice in a row", "a51 a51", false],
      ["more than its own last call left", "a49 a51", false, 10],
      ["many more", "a52", false],
      ["many more, as soon as the last call has ended", "a52", false, 10],
      ["many more than its newest call", "c49 b30 a32", false],
      ["calls that may have come back", "a52", true, 30_000],
      ["more than may have come back", "a58", false, 30_000],
      ["a full bucket when it can be full", "a99", true, 1_000_000]
    ] as ReadonlyArray<readonly [what: string, responses: string, stays: boolean, every?: number]>
  ) {
    it(`${stays ? "stays in" : "leaves"} its bucket when responses show ${what}`, () => {
      const { call, levels, share } = makeStrategy()
      call("a", 0, largeReading(60))
      call("b", 100, largeReading(50))
      assert.isTrue(share("a", "b"))
      responses.split(" ").forEach((step, nth) => {
        call(step.slice(0, 1), 100 + (nth + 1) * every, largeReading(Number(step.slice(1))))
      })
      assert.strictEqual(share("a", "b"), stays)
      assert.strictEqual(levels(2_000_000).size, stays ? 1 : 2)
    })
  }

  it("that has a bucket alone replaces it when its limit changes", () => {
    const { call, levels } = makeStrategy()
    call("a", 0, largeReading(60))
    call("a", 100, reading(5))
    assert.deepStrictEqual([...levels(200).values()], [5])
  })

  it("that shares a bucket leaves it when its limit changes", () => {
    const { call, levels, share } = makeStrategy()
    call("a", 0, largeReading(60))
    call("b", 100, largeReading(50))
    call("a", 200, reading(5))
    assert.isFalse(share("a", "b"))
    assert.deepStrictEqual([...levels(210).values()], [50, 5])
  })

  it("stays in its bucket whatever a refusal shows", () => {
    const { call, share } = makeStrategy()
    call("a", 0, largeReading(60))
    call("b", 100, largeReading(50))
    call("b", 200, { ...largeReading(0), isRateLimited: true })
    call("a", 300, largeReading(48))
    assert.isTrue(share("a", "b"))
  })

  it("stays in its bucket when a fixed window ends", () => {
    const { call, share } = makeStrategy()
    const window = (left: number, untilFull: number) => reading(left, { limit: 100, untilFull })
    call("a", 0, window(99, 60))
    call("b", 10_000, window(30, 50))
    call("a", 60_200, window(99, 60))
    call("b", 70_000, window(30, 50))
    assert.isTrue(share("a", "b"))
    call("a", 120_500, window(99, 60))
    assert.isTrue(share("a", "b"))
  })

  it("joins the bucket that explains its responses best", () => {
    const { call, share } = makeStrategy()
    call("a", 0, largeReading(30))
    call("b", 100, largeReading(89))
    assert.isFalse(share("a", "b"))
    call("c", 200, largeReading(29))
    assert.isTrue(share("c", "a"))
    call("b", 300, largeReading(20))
    call("d", 400, largeReading(19))
    assert.isTrue(share("d", "b"))
  })

  it("does not join a prior of others that no response has confirmed", () => {
    const { call, share } = makeStrategy({
      ceilings: [],
      priors: [{ burst: 100, limit: 1, interval: 1000, operations: ["a"] }]
    })
    call("b", 0, largeReading(60))
    assert.isFalse(share("a", "b"))
    call("a", 100, largeReading(59))
    assert.isTrue(share("a", "b"))
  })

  it("keeps a bounded number of observations, the newest", () => {
    const { call, save } = makeStrategy()
    for (let nth = 0; nth < 200; nth++) call("a", nth * 100, largeReading(90 - nth % 50))
    const ends = save().operations["a"]?.observations.map(({ endedAt }) => endedAt) ?? []
    assert.isAtLeast(ends.length, 10)
    assert.isAtMost(ends.length, 100)
    assert.deepStrictEqual(ends, Array.from(ends, (_, nth) => (200 - ends.length + nth) * 100 + 10))
  })
})

describe("two buckets with the same limit", () => {
  /**
   * Two operations that have parted make calls in this order, 300 ms apart. What is left counts the calls of both, except for
   * the operations in `alone`, which see only their own; at an `x` another client takes one of each. Returns whether they
   * have joined at any time.
   */
  const meet = (order: string, alone = "", perSecond = 0.1) => {
    const { call, levels, share } = makeStrategy()
    call("b", 0, largeReading(30, perSecond))
    call("a", 20, largeReading(89, perSecond))
    call("c", 40, reading(9))
    assert.isFalse(share("a", "b"))
    const left = { a: 89, b: 30, c: 9 } as Record<string, number>
    const refilled = (at: number) => Math.floor(perSecond * at / 1000)
    let met = false
    for (const name of ["a", "b"]) if (!alone.includes(name)) left[name] = 25
    ;[..."abab", ...order].forEach((name, nth) => {
      const at = 1000 + nth * 300
      if (name === "x") {
        for (const each of ["a", "b"]) left[each]!--
        return
      }
      for (const each of name === "c" ? ["c"] : ["a", "b"]) {
        if (each === name || !alone.includes(each)) left[each]!--
      }
      const response = name === "c"
        ? reading(Math.max(0, left["c"]!))
        : largeReading(left[name]! + refilled(at), perSecond)
      call(name, at, response)
      met ||= share("a", "b")
    })
    const end = 1000 + (order.length + 3) * 300
    if (share("a", "b")) assert.include([...levels(end + 10).values()], left["a"]! + refilled(end))
    return met
  }

  for (
    const [what, order, alone, together] of [
      ["join when each has seen the other's calls twice", "aabbaabba", "", true],
      ["join in either order", "bbaabbaab", "", true],
      ["do not join sooner", "aabbaab", "", false],
      ["do not join for single calls", "ababababababab", "", false],
      ["do not join when neither sees the other's calls", "aabbaabbaabb", "ab", false],
      ["do not join when only the second sees the other's calls", "aabbaabbaabb", "a", false],
      ["do not join when only the first sees the other's calls", "aabbaabbaabb", "b", false],
      ["do not join when fewer calls are missing than the other made", "xaaaaxbbbbxaaaaxbbbbxaaaaxbbbb", "ab", false],
      ["do not join for the calls of a bucket with another limit", "accaccaccbccbcc", "ab", false]
    ] as const
  ) {
    it(what, () => {
      assert.strictEqual(meet(order, alone), together)
    })
  }

  it("do not join when fewer calls are missing than the other made, however much comes back", () => {
    assert.isFalse(meet("xaaaaxbbbbxaaaaxbbbbxaaaaxbbbb", "ab", 0.3))
  })

  it("do not join for calls that came back", () => {
    for (const perSecond of [0.5, 1, 2, 4]) assert.isFalse(meet("aabbaabbaabb", "ab", perSecond), `${perSecond}`)
  })

  /** Two operations that have parted make calls; returns whether they join at any time. */
  const meetEver = (
    gap: number,
    respond: (name: string, nth: number) => BucketReading,
    limitOf: (name: string) => number = () => 100
  ) => {
    const { call, share, start, strategy } = makeStrategy()
    for (const [name, at, left] of [["b", 0, 30], ["a", 20, 89]] as const) {
      call(name, at, reading(left, { limit: limitOf(name), untilFull: 900 }))
    }
    assert.isFalse(share("a", "b"))
    return [..."ababaabbaabbaabb"].some((name, nth) => {
      const at = 1000 + nth * gap
      strategy.settle(start(name, at), { ...respond(name, nth), limit: limitOf(name) }, at + gap / 2)
      return share("a", "b")
    })
  }

  it("join only while their limits are the same", () => {
    const respond = (_: string, nth: number) => reading(25 - nth, { untilFull: 900 })
    assert.isTrue(meetEver(300, respond))
    assert.isFalse(meetEver(300, respond, (name) => name === "a" ? 100 : 90))
  })

  it("join also when they should have been full", () => {
    assert.isTrue(meetEver(20_000, (_, nth) => reading(25 - nth, { untilFull: 1 })))
  })

  it("do not join where no call is missing, however many may have come back", () => {
    const left: Record<string, number> = { a: 50, b: 25 }
    assert.isFalse(meetEver(60_000, (name) => reading(left[name]!--, { untilFull: 900 })))
  })
})

describe("the buckets of tenants", () => {
  it("are inferred for each tenant on its own", () => {
    const { call, levels, strategy } = makeStrategy()
    const elsewhere = "https://u.example.com/api/v2"
    call("a", 0, reading(5))
    strategy.settle(strategy.start(strategy.stateOf({ tenant: elsewhere, operation: "a" }), 0, false), reading(3), 0)
    assert.deepStrictEqual([[...levels(10, tenant).values()], [...levels(10, elsewhere).values()]], [[5], [3]])
  })
})
