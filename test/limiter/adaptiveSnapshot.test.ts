/** Tests of the state of a tenant as plain data: what it holds, and what an import replaces. */
import { assert, describe, it } from "vitest"
import { bucketIdsOf } from "../../src/internal/limiter/adaptiveState.js"
import { Estimator } from "../../src/internal/limiter/estimator/estimator.js"
import { makeStrategy, noneInFlight, nothing } from "../support/adaptive.js"
import { reading } from "../support/readings.js"

const all = { interval: 1000, limit: 5, operations: undefined }

const exports = { interval: 60_000, limit: 2, operations: ["c", "b"] }

describe("the state of a tenant as plain data", () => {
  it("has its operations, its buckets and its ceilings", () => {
    const prior = { burst: 50, interval: 1000, limit: 10 }
    const { save, start, stateOf } = makeStrategy({
      ceilings: [all, exports],
      priors: [{ ...prior, operations: ["c", "b"] }, { ...prior, operations: undefined }]
    })
    assert.deepStrictEqual([...bucketIdsOf(start("b", 7)), ...bucketIdsOf(start("a", 9))], ["prior b,c", "prior *"])
    const operation = { isSilent: false, observations: [], contradictions: 0 }
    const bucket = { limit: 50 }
    assert.deepStrictEqual<unknown>(save(), {
      bucketCount: 0,
      startedAt: 9,
      unknown: new Estimator().state,
      buckets: [
        { ...bucket, id: "prior b,c", estimator: stateOf("b").bucket?.estimator.state },
        { ...bucket, id: "prior *", estimator: stateOf("a").bucket?.estimator.state }
      ],
      operations: {
        a: { ...operation, startedAt: 9, bucket: "prior *" },
        b: { ...operation, startedAt: 7, bucket: "prior b,c" }
      },
      ceilings: {
        "1000": { started: 2, latest: 9, groups: [{ first: 1, calls: 1, at: 7 }, { first: 2, calls: 1, at: 9 }] },
        "60000 b c": { started: 1, latest: 7, groups: [{ first: 1, calls: 1, at: 7 }] }
      }
    })
  })
})

describe("an import", () => {
  it("replaces the calls of the ceilings that it has, and keeps those of others", () => {
    const [there, here] = [
      makeStrategy({ ceilings: [all], priors: [] }),
      makeStrategy({ ceilings: [exports, all], priors: [] })
    ]
    there.start("a", 100)
    here.start("b", 0)
    const before = here.save().ceilings
    here.load(there.save())
    const { ceilings } = here.save()
    assert.deepStrictEqual(ceilings, { ...before, ...there.save().ceilings })
    assert.notDeepEqual(ceilings, before)
  })

  it("keeps the objects of the buckets that remain, unless their limit is another", () => {
    const { call, load, save, stateOf } = makeStrategy()
    call("a", 0, reading(5))
    const bucket = stateOf("a").bucket
    const snapshot = save()
    call("b", 100, reading(5, { limit: 20 }))
    load(snapshot)
    assert.strictEqual(stateOf("a").bucket, bucket)
    load({ ...snapshot, buckets: snapshot.buckets.map((one) => ({ ...one, limit: 30 })) })
    assert.notStrictEqual(stateOf("a").bucket, bucket)
    assert.strictEqual(stateOf("a").bucket?.limit, 30)
  })

  it("takes over the calls in flight of each operation and each bucket", () => {
    const { call, load, save, stateOf } = makeStrategy()
    call("a", 0, reading(5))
    const snapshot = save()
    stateOf("b")
    const inFlight = () => [stateOf("a").inFlight, stateOf("b").inFlight, stateOf("a").bucket?.estimator.inFlight]
    load(snapshot, { operations: new Map([["a", 2]]), buckets: new Map([["1", 3]]) })
    assert.deepStrictEqual(inFlight(), [2, 0, 3])
    load(snapshot, noneInFlight)
    assert.deepStrictEqual(inFlight(), [0, 0, 0])
  })

  it("leaves calls in flight in no bucket if theirs is gone", () => {
    const { call, load, start } = makeStrategy()
    call("a", 0, reading(5))
    const grant = start("a", 100)
    assert.deepStrictEqual(bucketIdsOf(grant), ["1"])
    load(nothing)
    assert.deepStrictEqual(bucketIdsOf(grant), [])
  })

  it("does not share its observations with the state that it replaced", () => {
    const { call, load, save, stateOf } = makeStrategy()
    call("a", 0, reading(5))
    const [snapshot, copy] = [save(), save()]
    load(snapshot)
    call("a", 1000, reading(5))
    assert.deepStrictEqual(snapshot, copy)
    assert.strictEqual(stateOf("a").observations.length, 2)
  })
})
