import { assert, describe, it } from "vitest"
import * as Fixed from "../../src/internal/limiter/fixed.js"
import { waiterOf } from "../support/adaptive.js"

const call = { tenant: "https://t.example.com/api/v2", operation: "a" }

describe("the strategy for a fixed limit", () => {
  it("adds the calls ahead and the reserve to a call's wait", () => {
    const strategy = Fixed.make(10, 1 / 100)
    const state = strategy.stateOf(call)
    const wait = (share: number, ahead: number) =>
      strategy.wait({ ...waiterOf(state, 0), share }, 0, () => ahead).millis
    assert.deepStrictEqual([wait(0, 9), wait(0, 10), wait(0.2, 7), wait(0.2, 8)], [0, 100, 0, 100])
    strategy.start(state, 0, false)
    assert.deepStrictEqual([wait(0, 8), wait(0, 12), wait(0.2, 8)], [0, 400, 200])
  })

  it("takes a call back that was not sent, and ignores responses", () => {
    const strategy = Fixed.make(2, 1 / 100)
    const state = strategy.stateOf(call)
    const remaining = () => strategy.statusOf(state, 0)?.remaining
    for (const _ of [1, 2]) strategy.start(state, 0, false)
    assert.strictEqual(remaining(), 0)
    strategy.settle(undefined, undefined, 0)
    assert.strictEqual(remaining(), 0)
    strategy.giveBack(undefined, 0)
    assert.strictEqual(remaining(), 1)
  })

  it("lets no call of a slow limit start early", () => {
    const strategy = Fixed.make(1, 1 / 3_600_000)
    const state = strategy.stateOf(call)
    const wait = (now: number) => strategy.wait(waiterOf(state, now), now, () => 0).millis
    strategy.start(state, 1_000_000, false)
    assert.closeTo(wait(4_599_000), 1000, 0.001)
    assert.closeTo(wait(4_599_990), 10, 0.001)
  })

  it("is full now before the first call", () => {
    const strategy = Fixed.make(2, 1 / 100)
    assert.deepStrictEqual(strategy.statusOf(strategy.stateOf(call), 5000), { limit: 2, remaining: 2, fullAt: 5000 })
  })

  it("has one state for all calls", () => {
    const strategy = Fixed.make(2, 1 / 100)
    const other = strategy.stateOf({ tenant: "https://u.example.com", operation: "b" })
    assert.strictEqual(strategy.stateOf(call), other)
    assert.deepStrictEqual([...strategy.states()], [other])
  })
})
