/** Tests of one process's copy of a tenant's limits, by a clock that the test sets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Host, Replica } from "../../src/internal/fleet/replica.js"
import { none as noLimits } from "../../src/internal/limiter/known/options.js"
import { none } from "../../src/internal/limiter/strategy.js"
import * as SharedStore from "../../src/SharedStore.js"
import { waiterOf } from "../support/adaptive.js"
import {
  call,
  format,
  type Known,
  limitsOf,
  many,
  member,
  type Members,
  members,
  nobody,
  tenant
} from "../support/fleetStore.js"

const full = {
  isRateLimited: false,
  isServed: true,
  limit: 100,
  remaining: 99,
  untilFull: 1,
  date: 0,
  pause: undefined,
  isPauseCut: false
}

/** A replica that has loaded what others know, below a ceiling. */
const replicaOf = (limit: number, known: Known = many, others: Members = nobody) =>
  Effect.gen(function*() {
    let now = 1_900_000_000_000
    const host: Host = {
      id: "own",
      store: yield* SharedStore.make(yield* SharedStore.memory),
      format,
      reserve: 0,
      limits: { ...noLimits, ceilings: [{ limit, interval: 1000, operations: undefined }] },
      queue: undefined,
      isClosed: false,
      hasStoreTime: false,
      storeTime: () => now,
      setStoreTime: () => {},
      fork: () => {}
    }
    const replica = new Replica(host, tenant, () => now)
    const state = replica.strategy.stateOf(call)
    /** What others have written now, with a number of calls below the ceiling. */
    const written = (others: Members, calls = 0) => ({
      writtenAt: now,
      members: others(now),
      limits: {
        ...limitsOf(now, known),
        ceilings: { 1000: { started: calls, latest: now, groups: calls === 0 ? [] : [{ first: 1, calls, at: now }] } }
      }
    })
    replica.load(written(others))
    return {
      replica,
      state,
      written,
      pass: (millis: number) => void (now += millis),
      now: () => now,
      /** Starts calls without the store until one has to wait. */
      startAlone: () => {
        let started = 0
        for (; started < 20 && replica.waitAlone(waiterOf(state, now), none).millis === 0; started++) {
          replica.start(state, false)
        }
        return started
      }
    }
  })

describe("a replica", () => {
  it.effect("forgets a tenant that nobody needs after an hour without calls", () =>
    Effect.gen(function*() {
      const { pass, replica, state } = yield* replicaOf(8)
      replica.end(replica.start(state, false), undefined, true)
      replica.settleAlone()
      pass(3_599_999)
      assert.isFalse(replica.forgetIdle(() => false))
      pass(1)
      assert.isFalse(replica.forgetIdle(() => true))
      assert.isTrue(replica.forgetIdle(() => false))
    }))

  it.effect("leaves the other members as they are when its process leaves", () =>
    Effect.gen(function*() {
      const { now, replica } = yield* replicaOf(8, many, members("xy"))
      const { own, snapshot } = replica.update(undefined)
      assert.deepStrictEqual(own, member(now()))
      assert.deepStrictEqual(snapshot.members, members("xy")(now()))
    }))

  it.effect("starts a call for each member while it is alone", () =>
    Effect.gen(function*() {
      const { pass, replica, startAlone } = yield* replicaOf(8, many, members("xyz"))
      replica.goAlone()
      assert.strictEqual(startAlone(), 0, "the others may have used the ceiling up")
      pass(1000)
      assert.strictEqual(startAlone(), 2)
    }))

  for (const [millis, permits] of [[9999, 2], [10_000, 8]] as const) {
    it.effect(`starts ${permits} calls if it loses the store again after ${millis} ms and has seen nobody since`, () =>
      Effect.gen(function*() {
        const { pass, replica, startAlone, written } = yield* replicaOf(8, many, members("xyz"))
        replica.goAlone()
        pass(2000)
        replica.rejoin(written(nobody), false)
        pass(millis)
        replica.goAlone()
        pass(1000)
        assert.strictEqual(startAlone(), permits)
      }))
  }

  for (
    const [title, hasWaited, others, isShared] of [
      ["if they waited and nobody else is there", true, nobody, false],
      ["unless they waited", false, nobody, true],
      ["unless it is the only member", true, members("x"), true]
    ] as const
  ) {
    it.effect(`concludes without the store that nobody else uses a bucket that calls find full, ${title}`, () =>
      Effect.gen(function*() {
        const { pass, replica, state } = yield* replicaOf(100, { ...many, left: 90, isShared: true }, others)
        replica.goAlone()
        for (let nth = 0; nth < 3; nth++) {
          pass(1000)
          replica.end(replica.start(state, hasWaited), full, true)
          replica.settleAlone()
        }
        assert.strictEqual(replica.export().buckets[0]?.estimator.isShared, isShared)
      }))
  }

  for (
    const [title, calls, isUnchanged, millis, left] of [
      ["what others have written", 3, false, 999, 1],
      ["nothing, if it was alone for an interval", 3, false, 1000, 0],
      ["what it knew, if nobody has written", undefined, true, 999, 2],
      ["nothing, if the store has lost its value", undefined, false, 999, 0]
    ] as const
  ) {
    it.effect(`rejoins the others with a ceiling that leaves ${title}`, () =>
      Effect.gen(function*() {
        const { now, pass, replica, state, written } = yield* replicaOf(4)
        replica.load(written(nobody, 2))
        replica.goAlone()
        pass(millis)
        replica.rejoin(calls === undefined ? undefined : written(nobody, calls), isUnchanged)
        const ready = [0, 1, 2, 3].filter((ahead) => replica.wait(waiterOf(state, now()), () => ahead).millis === 0)
        assert.strictEqual(ready.length, left)
      }))
  }

  it.effect("gives no call back that the store does not count", () =>
    Effect.gen(function*() {
      const { replica, state, written } = yield* replicaOf(4)
      const grant = replica.start(state, false)
      const snapshot = written(nobody, 1)
      replica.goAlone()
      replica.rejoin(snapshot, false)
      replica.end(grant, undefined, false)
      replica.settleAlone()
      assert.deepStrictEqual(replica.export().ceilings, snapshot.limits.ceilings)
      assert.strictEqual(state.inFlight, 0)
    }))
})
