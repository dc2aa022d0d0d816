/** The time for which a call waits that needs room in several limits at once, while other calls use each of them all the time. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as Starvation from "../support/starvation.js"
import { makeBucket } from "../support/starvation.js"

/** The same with one limiter. */
const waitBeside = <E>(
  layer: Layer.Layer<RateLimiter.RateLimiter, E>,
  operations: Parameters<typeof Starvation.waitBeside>[1]
) =>
  Starvation.waitBeside(
    Effect.map(Layer.build(layer), (context) => [Context.get(context, RateLimiter.RateLimiter)]),
    operations
  )

describe("the first call of an operation", () => {
  it.effect("starts within two seconds while three buckets of 100 per minute are in use", () =>
    Effect.gen(function*() {
      const found = yield* waitBeside(RateLimiter.layer, {
        a: makeBucket(5, 600),
        b: makeBucket(6, 600),
        c: makeBucket(7, 600)
      })
      assert.isAtMost(found.waited, 2100, JSON.stringify(found))
    }))

  it.effect("starts within two seconds while four buckets of one call are in use", () =>
    Effect.gen(function*() {
      const found = yield* waitBeside(RateLimiter.layer, {
        a: makeBucket(2, 600),
        b: makeBucket(3, 700),
        c: makeBucket(4, 800),
        d: makeBucket(5, 900)
      })
      assert.isAtMost(found.waited, 2100, JSON.stringify(found))
    }))

  it.effect("starts within two seconds though one bucket gives a call in a minute", () =>
    Effect.gen(function*() {
      const found = yield* waitBeside(RateLimiter.layer, { a: makeBucket(2, 60_000), b: makeBucket(6, 600) })
      assert.isAtMost(found.waited, 2100, JSON.stringify(found))
    }))
})

describe("a call that several ceilings count", () => {
  it.effect("starts when the latest of them may, though others use each", () =>
    Effect.gen(function*() {
      const ceiling = (limit: number, interval: number, operation: string): RateLimiter.Ceiling => ({
        limit,
        interval,
        operations: [operation, "late"]
      })
      const layer = RateLimiter.layerAdaptive({
        ceiling: [ceiling(3, 1000, "a"), ceiling(1, 700, "b"), ceiling(4, 1300, "c")]
      })
      const plenty = makeBucket(1000, 1)
      const found = yield* waitBeside(layer, { a: plenty, b: plenty, c: plenty })
      assert.isAtMost(found.waited, 1400, JSON.stringify(found))
    }))
})
