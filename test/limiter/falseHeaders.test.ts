/** Headers that lie once: the limiter believes them for `maxPause` at most, and then lets one call test them. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Random } from "effect"
import * as Fleet from "../../src/Fleet.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import * as Permits from "../support/permits.js"
import * as VirtualTime from "../support/virtualTime.js"

const call = { tenant: "https://t.example.com/api/v2", operation: "a" }
const minute = 60_000

/** A response by a server whose clock is `behind` seconds behind. */
const response = (now: number, remaining: number, reset: number, behind = 0): RateLimiter.LimitedResponse => ({
  status: 200,
  headers: Headers.fromInput({
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(Math.floor(now / 1000) + reset),
    date: new Date(now - behind * 1000).toUTCString()
  })
})

const lies: Readonly<Record<string, (now: number) => RateLimiter.LimitedResponse>> = {
  "0 left and a reset in 80,000 s": (now) => response(now, 0, 80_000),
  "0 left by a clock that is nearly a day behind": (now) => response(now, 0, 1, 86_300),
  "1 left and a reset in 80,000 s": (now) => response(now, 1, 80_000),
  "a refusal and a reset in 80,000 s": (now) => ({ ...response(now, 0, 80_000), status: 429 })
}

const layers = {
  "a process": (options: RateLimiter.Options) => Layer.orDie(RateLimiter.layerAdaptive(options)),
  "a process of a fleet": (options: RateLimiter.Options) =>
    Layer.orDie(Layer.provide(Fleet.layerRateLimiterWith(options), SharedStore.layerMemory))
}

/** Runs with a limiter. `next` makes a call whose response tells what is left, and returns its start in minutes. */
const run = <A>(
  layer: Layer.Layer<RateLimiter.RateLimiter>,
  body: (
    next: (
      respond: (now: number) => RateLimiter.LimitedResponse | undefined,
      operation?: string
    ) => Effect.Effect<number>
  ) => Effect.Effect<A>
) =>
  VirtualTime.run(
    Effect.scoped(Effect.gen(function*() {
      const limiter = Context.get(yield* Layer.build(layer), RateLimiter.RateLimiter)
      const begin = yield* Clock.currentTimeMillis
      return yield* body((respond, operation = call.operation) =>
        Effect.gen(function*() {
          const { settle } = yield* Effect.orDie(Permits.start(limiter, { ...call, operation }))
          const started = yield* Clock.currentTimeMillis
          yield* Effect.sleep(20)
          yield* settle(respond(yield* Clock.currentTimeMillis))
          return Math.round((started - begin) / minute)
        })
      )
    })).pipe(Effect.withRandom(Random.make(1))),
    { most: "2 days" }
  )

const full = (now: number) => response(now, 59, 1)

for (const [where, layer] of Object.entries(layers)) {
  describe(where, () => {
    for (const [lie, respond] of Object.entries(lies)) {
      it.effect(`tests after maxPause: ${lie}`, () =>
        Effect.gen(function*() {
          const starts = yield* run(layer({ maxPause: "10 minutes" }), (next) =>
            Effect.gen(function*() {
              yield* next(respond)
              const test = yield* next(full)
              const others = yield* Effect.all(Array.from({ length: 50 }, () => next(full)), {
                concurrency: "unbounded"
              })
              return [test, Math.max(...others)]
            }))
          assert.isAtMost(starts[0]!, 10)
          assert.isAtMost(starts[1]! - starts[0]!, 1)
        }))
    }

    it.effect("tests with one call at a time, until a response comes, and again after maxPause while they all say the same", () =>
      Effect.gen(function*() {
        const starts = yield* run(layer({ maxPause: "10 minutes" }), (next) =>
          Effect.gen(function*() {
            const lie = lies["0 left and a reset in 80,000 s"]!
            yield* next(lie)
            let calls = 0
            const respond = (now: number) => ++calls === 1 ? undefined : calls < 4 ? lie(now) : full(now)
            return yield* Effect.all(Array.from({ length: 6 }, () => next(respond)), { concurrency: "unbounded" })
          }))
        assert.deepStrictEqual(starts, [10, 10, 20, 30, 30, 30])
      }))

    it.effect("corrects a bucket for all operations that share it", () =>
      Effect.gen(function*() {
        const starts = yield* run(layer({ maxPause: "10 minutes" }), (next) =>
          Effect.gen(function*() {
            yield* next(full)
            yield* next((now) => response(now, 58, 1), "b")
            yield* next(lies["0 left and a reset in 80,000 s"]!)
            const test = yield* next(full, "b")
            return [test, yield* next((now) => response(now, 58, 1))]
          }))
        assert.deepStrictEqual(starts, [10, 10])
      }))
  })
}
