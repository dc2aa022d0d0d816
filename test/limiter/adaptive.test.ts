import { assert, describe, it } from "vitest"
import { bucketIdsOf } from "../../src/internal/limiter/adaptiveState.js"
import { idleTime, none } from "../../src/internal/limiter/strategy.js"
import { makeStrategy, tenant, waiterOf } from "../support/adaptive.js"
import { largeReading, rateLimited, reading } from "../support/readings.js"

describe("a new operation", () => {
  it("goes first where its response will show its bucket", () => {
    const { call, start, stateOf } = makeStrategy()
    assert.isFalse(stateOf("b").isFirst) // no bucket is known
    call("a", 0, largeReading(60))
    assert.deepStrictEqual([stateOf("a").isFirst, stateOf("b").isFirst], [false, true])
    start("b", 100)
    assert.isFalse(stateOf("b").isFirst)
  })

  it("draws on all known buckets, unless its responses have no rate-limit headers", () => {
    const { call, levels, start } = makeStrategy()
    const drawnOn = (operation: string) => bucketIdsOf(start(operation, 1000))
    call("a", 0, largeReading(60))
    const known = [...levels(10).keys()]
    call("b", 100, reading(undefined))
    call("c", 200, reading(undefined, { isServed: false }))
    assert.deepStrictEqual([drawnOn("b"), drawnOn("c")], [["?"], known])
  })

  it("waits for no response while no response of its tenant has rate-limit headers", () => {
    const { call, start, wait } = makeStrategy()
    for (const at of [0, 100, 200]) call("a", at, reading(undefined))
    start("b", 300)
    assert.strictEqual(wait("b", 310), 0)
  })

  it("may start again when no response came or it was not sent, but only one call at a time", () => {
    const { call, start, strategy, wait } = makeStrategy()
    call("a", 0, largeReading(60))
    call("b", 100, undefined)
    assert.isBelow(wait("b", 200), 3000)
    strategy.giveBack(start("b", 200), 200)
    assert.isBelow(wait("b", 300), 3000)
    start("b", 300)
    assert.strictEqual(wait("b", 400), Infinity)
  })

  it("waits for known buckets, but not for ever while no other call starts", () => {
    const { call, wait } = makeStrategy()
    call("a", 0, reading(0, { isRateLimited: true, untilFull: 600 }))
    const [first, later] = [wait("b", 100), wait("b", 1000, 900)]
    assert.isAbove(first, 0)
    assert.isAtMost(first, 10_000)
    assert.isBelow(later, first)
  })

  it("is paused by a Retry-After without rate-limit headers, as it has no bucket yet", () => {
    const { call, stateOf, strategy } = makeStrategy()
    call("a", 0, largeReading(60))
    call("b", 100, rateLimited({ pause: 5000 }))
    const waitAt = (now: number) => strategy.wait(waiterOf(stateOf("b"), now), now, none)
    assert.deepStrictEqual(waitAt(200), { millis: 4910, reason: "pause" })
    assert.strictEqual(waitAt(6000).millis, 0)
  })
})

describe("an idle tenant", () => {
  /** Checks that a tenant is forgotten some time after its only call began. */
  const isForgotten = (
    idleFor: number,
    { needed = false, ...call }: { readonly needed?: boolean; readonly lasts?: true; readonly isPaused?: true } = {}
  ) => {
    const { start, strategy } = makeStrategy({ maxPause: Infinity })
    const grant = start("a", 0)
    if (call.lasts !== true) {
      strategy.settle(grant, call.isPaused === true ? rateLimited({ pause: 2 * idleTime }) : largeReading(60), 0)
    }
    const before = strategy.tenantOf(tenant)
    strategy.forgetIdle(idleFor, () => needed)
    return strategy.tenantOf(tenant) !== before
  }

  it("is forgotten after an hour", () => {
    assert.deepStrictEqual([isForgotten(idleTime - 1), isForgotten(idleTime)], [false, true])
  })

  it("is kept while a call is in flight, would have to wait, or is needed", () => {
    assert.isFalse(isForgotten(idleTime, { lasts: true }))
    assert.isFalse(isForgotten(idleTime, { isPaused: true }))
    assert.isFalse(isForgotten(idleTime, { needed: true }))
  })
})

describe("a call", () => {
  it("stays counted if its response is lost", () => {
    const { call, levels } = makeStrategy()
    call("a", 0, largeReading(60))
    const before = [...levels(100).values()]
    call("a", 100, undefined)
    assert.deepStrictEqual([...levels(110).values()], before.map((level) => level - 1))
  })

  it("counts once, in the bucket of its response", () => {
    const { call, levels, save } = makeStrategy()
    const limits = [50, 60, 70]
    limits.forEach((limit, nth) => call("abc"[nth]!, nth * 100, reading(limit - 1, { limit, untilFull: 1 })))
    assert.deepStrictEqual([...levels(300).values()], [49, 59, 69])
    call("d", 2300, reading(65, { limit: 70, untilFull: 5 }))
    const estimators = save().buckets.map(({ estimator }) => estimator)
    assert.deepStrictEqual(estimators.map(({ served }) => served), [1, 1, 2])
    assert.deepStrictEqual(estimators.map(({ ended, started }) => started - ended), [0, 0, 0])
  })
})
