/** The time for which a call waits in a process of a fleet, while other processes use each of the limits that it needs all the time. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as Fleet from "../../src/Fleet.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import { makeBucket, waitBeside } from "../support/starvation.js"

/** The limiters of several processes that share a store whose requests take a while. */
const fleet = (processes: number, ceiling: ReadonlyArray<RateLimiter.Ceiling> = [], millis = 2) =>
  Effect.gen(function*() {
    const memory = yield* SharedStore.memory
    const store = SharedStore.layer(Effect.succeed({
      get: (key) => Effect.delay(memory.get(key), millis),
      swap: (...change) => Effect.delay(memory.swap(...change), millis)
    }))
    const layer = Layer.fresh(Layer.provide(Fleet.layerRateLimiterWith({ ceiling }), store))
    return yield* Effect.replicateEffect(
      Effect.map(Layer.build(layer), (context) => Context.get(context, RateLimiter.RateLimiter)),
      processes
    )
  })

const ceilings = (limits: ReadonlyArray<readonly [operation: string, limit: number, interval: number]>) =>
  limits.map(([operation, limit, interval]): RateLimiter.Ceiling => ({
    limit,
    interval,
    operations: [operation, "late"]
  }))

describe("a call that several ceilings count", () => {
  for (const processes of [2, 3]) {
    it.effect(`starts soon after the latest of them may let it start, in one of ${processes} processes`, () =>
      Effect.gen(function*() {
        const plenty = makeBucket(1000, 1)
        const limiters = fleet(processes, ceilings([["a", 3, 1000], ["b", 1, 700], ["c", 4, 1300]]))
        const found = yield* waitBeside(limiters, { a: plenty, b: plenty, c: plenty }, plenty)
        assert.isAtMost(found.waited, 3 * 1300, JSON.stringify(found))
        assert.isAtLeast(found.goodput.after, 0.9 * found.goodput.before, JSON.stringify(found))
      }))
  }
})

describe("the first call of an operation", () => {
  it.effect("starts within seconds while another process uses three buckets of 100 per minute", () =>
    Effect.gen(function*() {
      const operations = { a: makeBucket(5, 600), b: makeBucket(6, 600), c: makeBucket(7, 600) }
      const found = yield* waitBeside(fleet(2), operations)
      assert.isAtMost(found.waited, 2500, JSON.stringify(found))
    }))
})
