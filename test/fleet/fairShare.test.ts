import { assert, describe, it } from "@effect/vitest"
import { grant, type GrantRequest } from "../../src/internal/fleet/fairShare.js"
import * as Adaptive from "../../src/internal/limiter/adaptive.js"
import type { OperationState } from "../../src/internal/limiter/adaptiveState.js"
import type { Waiter } from "../../src/internal/limiter/strategy.js"
import { callOf } from "../support/fleetStore.js"

const adaptive = Adaptive.make()
const [a, b, c] = ["a", "b", "c"].map((operation) => adaptive.stateOf(callOf(operation))) as [
  OperationState,
  OperationState,
  OperationState
]

interface Options {
  readonly rivals?: number
  readonly throttledAt?: GrantRequest["throttledAt"]
  readonly grantedAt?: GrantRequest["grantedAt"]
  readonly blocked?: GrantRequest["blocked"]
  readonly paced?: OperationState
}

/** Grants calls of a bucket with `left` calls left; returns the granted operations, the throttled ones and those that still wait. */
const grantFrom = (
  left: number,
  queues: ReadonlyArray<Iterable<Waiter<OperationState>>>,
  options: Options = {}
) => {
  const started: Array<readonly [string, boolean]> = []
  const [size, bucket] = [left, {}]
  const { blocked, grants, throttled } = grant({
    strategy: {
      limitsOf: () => [bucket],
      wait: ({ share, state }, _, ahead) => ({
        millis: left - ahead(bucket) - share * size >= 1 ? 0 : 100,
        reason: state === options.paced ? "pace" : "limit"
      }),
      start: (state, now, waited) => {
        left--
        started.push([state.call.operation, waited])
        return { state, sentAt: now, doubtfulBefore: -Infinity, reservations: [], counted: [] }
      }
    },
    queues,
    rivals: options.rivals ?? 0,
    now: 5000,
    queueNow: 1000,
    throttledAt: options.throttledAt ?? new Map(),
    grantedAt: options.grantedAt ?? new Map(),
    blocked: options.blocked ?? []
  })
  assert.deepStrictEqual(grants.map(({ state }) => state.call.operation), started.map(([operation]) => operation))
  return {
    granted: started.map(([operation]) => operation).join(""),
    waited: started.map(([, waited]) => waited),
    throttled: Array.from(throttled, ({ call }) => call.operation),
    blocked: blocked.map(({ since, state }) => [state.call.operation, since])
  }
}

/** Waiting calls with these numbers. */
const queue = (state: OperationState, numbers: ReadonlyArray<number>, isBackground = false, share = 0) =>
  numbers.map((nth): Waiter<OperationState> => ({ state, nth, since: 900, isBackground, share }))

describe("grants", () => {
  it("are as many as the bucket allows, first come, first served", () => {
    const queues = [queue(a, [0, 3, 4]), queue(b, [1, 2, 5])]
    assert.strictEqual(grantFrom(4, queues).granted, "abba")
    assert.strictEqual(grantFrom(9, queues).granted, "abbaab")
    assert.strictEqual(grantFrom(0, queues).granted, "")
    assert.strictEqual(grantFrom(9, []).granted, "")
  })

  it("leave as many calls to each rival", () => {
    const queues = [queue(a, [0, 1, 2, 3, 4, 5, 6, 7])]
    assert.strictEqual(grantFrom(6, queues, { rivals: 1 }).granted, "aaa")
    assert.strictEqual(grantFrom(6, queues, { rivals: 2 }).granted, "aa")
    assert.strictEqual(grantFrom(6, queues, { rivals: 50 }).granted, "a")
  })

  it("go to background work last", () => {
    const queues = [queue(a, [0, 1], true), queue(b, [2]), queue(c, [3])]
    assert.strictEqual(grantFrom(9, queues).granted, "bcaa")
  })

  it("leave the reserve to calls that are not background work", () => {
    const queues = [queue(a, [0, 1, 2, 3], true, 0.5), queue(b, [4])]
    assert.strictEqual(grantFrom(4, queues).granted, "ba")
  })

  it("tell which operations are throttled by their limit, not by rivals", () => {
    const queues = [queue(a, [0, 1, 2])]
    assert.deepStrictEqual(grantFrom(2, queues).throttled, ["a"])
    assert.deepStrictEqual(grantFrom(4, queues, { rivals: 2 }).throttled, [])
    assert.deepStrictEqual(grantFrom(9, queues).throttled, [])
  })

  it("leave the last call to another process whose operation has waited longer", () => {
    const queues = [queue(a, [0, 1])]
    const granted = (left: number, since: number, more: Options = {}, isBackground = false) =>
      grantFrom(left, queues, { blocked: [{ state: b, since, isBackground, share: 0 }], ...more }).granted
    assert.strictEqual(granted(1, 899), "")
    assert.strictEqual(granted(2, 899), "a")
    assert.strictEqual(granted(3, 899), "aa")
    // The first call of as many is granted; then its operation has waited for no time.
    assert.strictEqual(granted(1, 900), "a")
    assert.strictEqual(granted(2, 900), "a")
    assert.strictEqual(granted(1, 950, { grantedAt: new Map([["a false", 960]]) }), "")
    assert.strictEqual(granted(1, 950, { grantedAt: new Map([["a true", 960]]) }), "a")
    assert.strictEqual(granted(1, 0, {}, true), "a")
  })

  it("leave no call to younger background work because another kind of its operation's calls was granted", () => {
    const queues = [queue(a, [0]), queue(a, [1], true)]
    const blocked = [{ state: b, since: 950, isBackground: true, share: 0 }]
    assert.strictEqual(grantFrom(2, queues, { blocked }).granted, "aa")
  })

  it("tell the other processes which operations still wait: at most eight, first those that have waited longest", () => {
    const { blocked } = grantFrom(1, [queue(a, [0, 1]), queue(b, [2])], { grantedAt: new Map([["b false", 950]]) })
    assert.deepStrictEqual(blocked, [["b", 950], ["a", 1000]])
    const many = Array.from("abcdefghij", (name) => queue(adaptive.stateOf(callOf(name)), [0]))
    assert.strictEqual(grantFrom(0, many).blocked.length, 8)
  })

  it("say nothing of a call that waits for a pace: neither that its limit throttles it, nor that others should give way to it", () => {
    const { blocked, throttled } = grantFrom(0, [queue(a, [0]), queue(b, [1])], { paced: a })
    assert.deepStrictEqual([throttled, blocked], [["b"], [["b", 900]]])
  })

  it("tell the strategy whether a call was throttled while it waited", () => {
    const queues = [queue(a, [0]), queue(b, [1]), queue(c, [2])]
    const throttledAt = new Map([[a, 900], [b, 899]])
    assert.deepStrictEqual(grantFrom(9, queues, { throttledAt }).waited, [true, false, false])
  })

  it("take no more calls off a queue than are granted", () => {
    let taken = 0
    const endless = {
      *[Symbol.iterator]() {
        for (;;) yield { state: a, nth: taken++, since: 0, isBackground: false, share: 0 }
      }
    }
    assert.strictEqual(grantFrom(3, [endless]).granted, "aaa")
    assert.isAtMost(taken, 5)
  })
})
