/** The time for which a call waits that needs room in several limits at once, while other calls use each of them all the time. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Random } from "effect"
import * as Fleet from "../../src/Fleet.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import * as VirtualTime from "../support/virtualTime.js"

const tenant = "https://t.example.com/api/v2"

/** A bucket of the service: `burst` calls at once, and one more in each `interval` milliseconds. */
const makeBucket = (burst: number, interval: number) => {
  let fullAt = 0
  return (now: number): RateLimiter.LimitedResponse => {
    const missing = Math.max(0, fullAt - now) / interval
    const isServed = missing <= burst - 1
    if (isServed) fullAt = Math.max(fullAt, now) + interval
    const left = Math.floor(burst - Math.max(0, fullAt - now) / interval)
    return {
      status: isServed ? 200 : 429,
      headers: Headers.fromInput({
        "x-ratelimit-limit": String(burst),
        "x-ratelimit-remaining": String(left),
        "x-ratelimit-reset": String(Math.ceil(Math.max(now, fullAt) / 1000)),
        date: new Date(Math.floor(now / 1000) * 1000).toUTCString()
      })
    }
  }
}

/** Keeps each operation in use, and returns the wait of a call that comes after a minute, and how many others started meanwhile. */
const waitBeside = <E>(
  layer: Layer.Layer<RateLimiter.RateLimiter, E>,
  operations: Readonly<Record<string, (now: number) => RateLimiter.LimitedResponse>>
) =>
  VirtualTime.run(
    Effect.scoped(Effect.gen(function*() {
      const limiter = Context.get(yield* Layer.build(layer), RateLimiter.RateLimiter)
      let started = 0
      let refused = 0
      const exchange = (operation: string, respond: (now: number) => RateLimiter.LimitedResponse) =>
        Effect.acquireUseRelease(
          limiter.acquire({ tenant, operation }),
          () => Effect.zipRight(Effect.sleep(20), Clock.currentTimeMillis),
          ({ settle }, exit) => {
            started++
            const response = exit._tag === "Success" ? respond(exit.value) : undefined
            if (response?.status === 429) refused++
            return settle(response)
          }
        )
      for (const [operation, respond] of Object.entries(operations)) {
        yield* Effect.forkScoped(
          Effect.forEach([1, 2, 3], () => Effect.forever(exchange(operation, respond)), { concurrency: "unbounded" })
        )
      }
      yield* Effect.sleep("1 minute")
      const [before, since] = [started, yield* Clock.currentTimeMillis]
      yield* Effect.timeoutOption(exchange("late", makeBucket(100, 10)), "20 minutes")
      return { waited: (yield* Clock.currentTimeMillis) - since - 20, passed: started - before, refused }
    })).pipe(Effect.withRandom(Random.make(1))),
    { most: "1 hour" }
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

  it.effect("starts within two seconds in a process of a fleet", () =>
    Effect.gen(function*() {
      const layer = Layer.provide(Fleet.layerRateLimiter(), SharedStore.layerMemory)
      const found = yield* waitBeside(layer, { a: makeBucket(5, 600), b: makeBucket(6, 600), c: makeBucket(7, 600) })
      assert.isAtMost(found.waited, 2300, JSON.stringify(found))
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
