import { assert, describe, it } from "@effect/vitest"
import {
  type BlockedCall,
  blockedCalls,
  countBefore,
  countInFlight,
  type Member,
  present,
  rivals,
  totalInFlight
} from "../../src/internal/fleet/membership.js"
import * as Adaptive from "../../src/internal/limiter/adaptive.js"
import { callOf, member } from "../support/fleetStore.js"

const now = 1_000_000

const membersOf = (all: Readonly<Record<string, Member>>) => new Map(Object.entries(all))

describe("members", () => {
  it("are present until they have not written for long", () => {
    const members = membersOf({
      now: member(now),
      recent: member(now - 9999),
      ahead: member(now + 60_000),
      gone: member(now - 10_000)
    })
    assert.deepStrictEqual(Array.from(present(members, now).keys()), ["now", "recent", "ahead"])
  })

  it("are rivals while they write that they wait", () => {
    const waiting = (seenAt: number) => member(seenAt, { waiting: 2 })
    const members = membersOf({ idle: member(now), waiting: waiting(now), silent: waiting(now - 8000) })
    assert.deepStrictEqual(rivals(members, now), [waiting(now)])
  })

  it("go first if they have waited at least as long", () => {
    const since = (waitingSince: number) => member(now, { waiting: 1, waitingSince })
    const members = membersOf({
      earlier: since(now - 20),
      same: since(now - 10),
      later: since(now - 5),
      idle: member(0)
    })
    assert.strictEqual(countBefore(members, now, now - 10), 2)
    assert.strictEqual(countBefore(members, now, Infinity), 3)
    assert.strictEqual(countBefore(members, now, now - 30), 0)
  })

  it("show the oldest waiting call of each operation, and of its background work", () => {
    const call = (operation: string, since: number, isBackground = false): BlockedCall => (
      { operation, since, isBackground }
    )
    const members = [
      member(now, { blocked: [call("a", 3), call("b", 1)] }),
      member(now, { blocked: [call("a", 2), call("b", 2), call("a", 5, true)] })
    ]
    assert.deepStrictEqual(blockedCalls(members), [call("a", 2), call("b", 1), call("a", 5, true)])
  })

  it("add up their calls in flight", () => {
    const { buckets, operations } = totalInFlight([
      { operations: { a: 1, b: 2 }, buckets: { 1: 3 } },
      { operations: {}, buckets: {} },
      { operations: { b: 5 }, buckets: { 1: 1, 2: 4 } }
    ])
    assert.deepStrictEqual(operations, new Map([["a", 1], ["b", 7]]))
    assert.deepStrictEqual(buckets, new Map([["1", 4], ["2", 4]]))
  })

  it("count a call for its operation and for each bucket that it may draw on", () => {
    const strategy = Adaptive.make()
    const settle = (operation: string, limit: number) =>
      strategy.settle(
        strategy.start(strategy.stateOf(callOf(operation)), now, false),
        {
          isRateLimited: false,
          isServed: true,
          limit,
          remaining: limit - 1,
          untilFull: 1,
          date: 0,
          pause: undefined,
          isPauseCut: false
        },
        now
      )
    settle("a", 10)
    settle("b", 20)
    const grants = ["a", "a", "new"].map((operation) => strategy.start(strategy.stateOf(callOf(operation)), now, false))
    const { buckets, operations } = countInFlight(grants)
    assert.deepStrictEqual(operations, { a: 2, new: 1 })
    assert.deepStrictEqual(Object.values(buckets).sort(), [1, 3])
  })
})
