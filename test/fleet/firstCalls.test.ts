/** First calls of an operation in several processes of a fleet, while another operation's limit is used up. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Random } from "effect"
import * as Fleet from "../../src/Fleet.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import { flakyStore, layerOf, skewed } from "../support/fleet.js"
import * as Permits from "../support/permits.js"
import * as VirtualTime from "../support/virtualTime.js"

const call = (operation: string): RateLimiter.Call => ({ tenant: "https://t.example.com/api/v2", operation })

/** A response of an operation whose bucket is used up for an hour, or full. */
const response = (operation: string, now: number): RateLimiter.LimitedResponse => ({
  status: 200,
  headers: Headers.fromInput({
    "x-ratelimit-limit": operation === "used up" ? "60" : "50",
    "x-ratelimit-remaining": operation === "used up" ? "0" : "49",
    "x-ratelimit-reset": String(Math.floor(now / 1000) + (operation === "used up" ? 3600 : 1)),
    date: new Date(now).toUTCString()
  })
})

const member = (store: Context.Tag.Service<SharedStore.SharedStore>) =>
  Effect.map(
    Layer.build(Layer.provide(Fleet.layerRateLimiter, Layer.succeed(SharedStore.SharedStore, store))),
    Context.get(RateLimiter.RateLimiter)
  )

const start = (limiter: RateLimiter.RateLimiter["Type"], operation: string) =>
  Effect.gen(function*() {
    const since = yield* Clock.currentTimeMillis
    const { settle } = yield* Effect.orDie(Permits.start(limiter, call(operation)))
    const waited = (yield* Clock.currentTimeMillis) - since
    yield* settle(response(operation, yield* Clock.currentTimeMillis))
    return waited
  })

describe("the first calls of an operation in two processes", () => {
  for (const ahead of [0, 60_000]) {
    it.effect(`start within seconds, by a clock that is ${ahead / 1000} s ahead of the store's at first`, () =>
      VirtualTime.run(
        Effect.scoped(Effect.gen(function*() {
          const memory = Context.get(yield* Layer.build(SharedStore.layerMemory), SharedStore.SharedStore)
          // A write that takes a while often finds that another process has written.
          const swap: typeof memory.swap = (...write) => Effect.delay(memory.swap(...write), 8)
          const { clock, skew } = skewed(yield* Effect.clock)
          skew.millis = ahead
          const members = Array.from({ length: 3 }, () => member({ ...memory, swap }))
          const [one, other, third] = yield* Effect.withClock(Effect.all(members), clock)
          yield* start(one!, "used up")
          skew.millis = 0
          yield* start(third!, "busy")
          const busy = Effect.forever(Effect.zipRight(start(third!, "busy"), Effect.sleep(5)))
          yield* Effect.forkScoped(busy)
          const waits = yield* Effect.all([start(one!, "first"), start(other!, "first")], { concurrency: 2 })
          assert.isAtMost(Math.max(...waits), 6000)
        })).pipe(Effect.withRandom(Random.make(1))),
        { most: "2 days" }
      ))
  }
})

describe("a process of a fleet whose store comes and goes", () => {
  it.effect("learns from the test of headers that have lied, although it has lost and found the store meanwhile", () =>
    VirtualTime.run(
      Effect.scoped(Effect.gen(function*() {
        const store = yield* flakyStore
        const layer = Layer.provide(Fleet.layerRateLimiterWith({ maxPause: "10 minutes" }), layerOf(store))
        const [one, other] = yield* Effect.map(
          Effect.all([Layer.build(Layer.fresh(layer)), Layer.build(Layer.fresh(layer))]),
          (contexts) => contexts.map(Context.get(RateLimiter.RateLimiter))
        )
        yield* start(one!, "used up")
        const toggle = Effect.sync(() => store.state = store.state === "up" ? "down" : "up")
        yield* Effect.forkScoped(Effect.forever(Effect.delay(toggle, 700)))
        const next = (limiter: RateLimiter.RateLimiter["Type"]) =>
          Effect.gen(function*() {
            const since = yield* Clock.currentTimeMillis
            const { settle } = yield* Effect.orDie(Permits.start(limiter, call("used up")))
            const waited = (yield* Clock.currentTimeMillis) - since
            yield* Effect.sleep(5000)
            yield* settle(response("first", yield* Clock.currentTimeMillis))
            return waited
          })
        const waits = yield* Effect.all([next(one!), next(other!), next(one!), next(other!)], { concurrency: 4 })
        assert.isAtMost(Math.max(...waits), 11 * 60_000)
      })).pipe(Effect.withRandom(Random.make(1))),
      { most: "2 days" }
    ))
})
