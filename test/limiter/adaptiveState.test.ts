import { assert, describe, it } from "vitest"
import { bucketIdsOf, exportTenant, importTenant } from "../../src/internal/limiter/adaptiveState.js"
import { makeStrategy, noneInFlight, nothing, waiterOf } from "../support/adaptive.js"
import { largeReading, rateLimited, reading } from "../support/readings.js"

/** Makes the same random calls with several strategies; returns the waits, levels and states of each. */
const play = (seed: number, from: number, count: number, ...all: ReadonlyArray<ReturnType<typeof makeStrategy>>) => {
  let state = seed
  const random = () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
  const results = all.map((): Array<unknown> => [])
  for (let nth = 0; nth < count; nth++) {
    const at = from + nth * 400
    const operation = "abcde"[Math.floor(random() * 5)]!
    const limit = "cd".includes(operation) ? 100 : 50
    const remaining = Math.floor(random() * 40)
    const response = [
      undefined,
      reading(undefined),
      reading(undefined, { isRateLimited: true, pause: 300 }),
      rateLimited({ limit, untilFull: 30 })
    ][Math.floor(random() * 20)] ??
      reading(operation === "e" ? undefined : remaining, { limit, untilFull: 50 - remaining })
    all.forEach(({ call, levels, save, wait }, which) => {
      results[which]!.push([wait(operation, at, 100), wait("abcde"[nth % 5]!, at + 1)])
      call(operation, at, response)
      results[which]!.push([...levels(at + 10)], save())
    })
  }
  return results
}

describe("the state of a tenant", () => {
  it("lets another strategy go on as the first would have", () => {
    for (let seed = 1; seed <= 30; seed++) {
      const [here, there] = [makeStrategy(), makeStrategy()]
      for (const operation of "abcde") here.stateOf(operation)
      play(seed, 1_000_000, seed, here)
      play(seed + 100, 900_000, 5, there) // replaced by the import
      const grant = here.start("a", 1_100_000)
      there.load(here.save(), {
        operations: new Map([["a", 1]]),
        buckets: new Map(bucketIdsOf(grant).map((id) => [id, 1]))
      })
      assert.deepStrictEqual(there.save(), here.save())
      const [one, other] = play(seed + 50, 1_200_000, 12, here, there)
      assert.deepStrictEqual(other, one, `seed ${seed}`)
    }
  })

  it("is independent of other tenants", () => {
    const { call, levels, save, strategy } = makeStrategy()
    call("a", 0, reading(5))
    const before = save()
    const elsewhere = "https://u.example.com/api/v2"
    strategy.settle(strategy.start(strategy.stateOf({ tenant: elsewhere, operation: "z" }), 0, false), reading(3), 0)
    assert.deepStrictEqual(save(), before)
    importTenant(strategy.tenantOf(elsewhere), nothing, noneInFlight)
    assert.deepStrictEqual(save(), before)
    assert.deepStrictEqual(Object.keys(exportTenant(strategy.tenantOf(elsewhere)).operations), ["z"])
    assert.strictEqual(levels(0, elsewhere).size, 0)
  })

  it("can be replaced while calls are in flight, which then settle in the buckets that remain", () => {
    const { call, levels, load, save, start, strategy } = makeStrategy()
    const blind = start("a", 0)
    assert.deepStrictEqual(bucketIdsOf(blind), ["?"])
    strategy.settle(blind, reading(9), 10)
    const grant = start("a", 20)
    const [id, ...more] = bucketIdsOf(grant)
    assert.deepStrictEqual([...levels(30).keys(), ...more], [id])
    const snapshot = save()
    call("b", 25, largeReading(50))
    assert.strictEqual(bucketIdsOf(start("c", 26)).length, 2)
    load(snapshot, { operations: new Map([["a", 1]]), buckets: new Map([[id!, 1]]) })
    strategy.settle(grant, reading(3), 40)
    assert.deepStrictEqual([...levels(40)], [[id, 3]])
  })

  it("keeps the prior of an operation that another process does not know", () => {
    const priors = [{ burst: 50, limit: 10, interval: 1000, operations: ["a", "b"] }]
    const { call, load, save, share, stateOf } = makeStrategy({ ceilings: [], priors })
    call("b", 0, reading(40, { limit: 50 }))
    const snapshot = save()
    stateOf("a")
    load(snapshot)
    assert.isTrue(share("a", "b"))
    assert.strictEqual(stateOf("a").bucket?.operations.size, 2)
    load(nothing)
    assert.isUndefined(stateOf("a").bucket)
  })

  it("may hold operations that are called `constructor` or `toString`, as methods of every object", () => {
    for (const name of ["constructor", "toString"]) {
      const { call, load, save, share, stateOf } = makeStrategy()
      call("a", 0, reading(5))
      const without = save()
      call(name, 20, reading(4))
      const both = save()
      load(without)
      assert.isUndefined(stateOf(name).bucket)
      load(both)
      assert.isTrue(share("a", name))
    }
  })

  it("may lack an operation that is called `__proto__`", () => {
    const { call, load, save, stateOf } = makeStrategy()
    call("a", 0, reading(5))
    const without = save()
    call("__proto__", 20, reading(4))
    load(without)
    assert.isUndefined(stateOf("__proto__").bucket)
  })

  /** A process with a prior of as many calls at once as in a second. */
  const withPrior = (limit: number) => {
    const made = makeStrategy({
      ceilings: [],
      priors: [{ burst: limit, limit, interval: 1000, operations: undefined }]
    })
    const waitAfter = (ahead: number, at: number) =>
      made.strategy.wait(waiterOf(made.stateOf("a"), at), at, () => ahead).millis
    return {
      ...made,
      /** The calls that come back in a second. */
      rate: (at: number) => 1e6 / (waitAfter(2000, at) - waitAfter(1000, at)),
      remaining: (at: number) => made.strategy.statusOf(made.stateOf("a"), at)?.remaining
    }
  }

  for (const [limit, remaining] of [[50, 20], [80, 20], [20, 20], [10, 10]] as const) {
    it(`has the prior of this process, ${limit} calls in a second, where another had one of 50, and no calls more`, () => {
      const [other, own] = [withPrior(50), withPrior(limit)]
      for (let nth = 0; nth < 30; nth++) other.start("a", 1_000_000)
      own.load(other.save())
      assert.strictEqual(own.remaining(1_000_000), remaining)
      assert.closeTo(own.rate(1_000_000), limit, 0.001)
      assert.strictEqual(own.strategy.statusOf(own.stateOf("a"), 1_000_000)?.limit, limit)
      assert.strictEqual(own.remaining(1_010_000), limit)
    })

    it(`keeps a rate that refusals lowered below a prior, and lets it rise to that of this process: ${limit}`, () => {
      const [other, own] = [withPrior(50), withPrior(limit)]
      let at = 1_000_000
      for (let nth = 0; nth < 3; nth++) other.call("a", at += 1000, reading(undefined, { isRateLimited: true }))
      const lowered = other.rate(at += 1000)
      assert.isBelow(lowered, 40)
      own.load(other.save())
      assert.closeTo(own.rate(at), Math.min(lowered, limit), 0.001)
      for (let nth = 0; nth < 500; nth++) own.call("a", at += 1000, reading(undefined))
      assert.closeTo(own.rate(at), limit, 0.001)
    })
  }

  it("has the prior of the same operations where another process lists them in another order, or has more", () => {
    const prior = (burst: number, ...operations: ReadonlyArray<string>) => ({
      burst,
      limit: burst,
      interval: 1000,
      operations: operations.length === 0 ? undefined : operations
    })
    const other = makeStrategy({ ceilings: [], priors: [prior(50), prior(20, "b", "c")] })
    const own = makeStrategy({ ceilings: [], priors: [prior(10, "a"), prior(20, "c", "b"), prior(50)] })
    for (const operation of ["b", "d"]) other.start(operation, 1_000_000)
    own.load(other.save())
    const statusOf = (operation: string) => own.strategy.statusOf(own.stateOf(operation), 1_000_000)
    assert.include(statusOf("b"), { limit: 20, remaining: 19 })
    assert.include(statusOf("c"), { limit: 20, remaining: 19 })
    assert.include(statusOf("d"), { limit: 50, remaining: 49 })
  })

  it("is empty after the import of an empty state, but keeps its operations", () => {
    const { call, load, save, stateOf } = makeStrategy()
    for (const operation of ["a", "b"]) stateOf(operation)
    const before = save()
    call("a", 0, reading(5))
    call("b", 20, reading(undefined))
    load(nothing)
    assert.deepStrictEqual(save().operations, before.operations)
    assert.deepStrictEqual(save().buckets, [])
  })
})
