/** Limiters whose machine's time of day is set while calls wait: durations are measured by another clock. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, DateTime, Effect, Exit, Fiber, Layer, Random, TestClock } from "effect"
import type { InvalidInput, RateLimited } from "../../src/Errors.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import { skewed } from "../support/fleet.js"
import * as Permits from "../support/permits.js"

const hour = 3_600_000
const tenant = "https://t.example.com/api/v2"
const call: RateLimiter.Call = { tenant, operation: "listActionVersions" }
const abroad: RateLimiter.Call = { tenant: "https://u.example.com/api/v2", operation: "listActionVersions" }

/** A response after which the bucket is full again in a second for each missing call, by the server's own clock. */
const respond = (
  limit: number,
  remaining: number,
  more: Record<string, string> = {}
): RateLimiter.LimitedResponse => ({
  status: more["retry-after"] === undefined ? 200 : 429,
  headers: Headers.fromInput({
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(1000 + limit - remaining),
    date: new Date(1_000_000).toUTCString(),
    ...more
  })
})

/** Makes a limiter, calls that record the milliseconds after which they start, and a way to set the time of day. */
const setUp = (layer: Layer.Layer<RateLimiter.RateLimiter, InvalidInput>) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(10 * hour)
    const { clock, skew } = skewed(yield* Effect.clock)
    const limiter = yield* Layer.build(layer).pipe(
      Effect.map(Context.get(RateLimiter.RateLimiter)),
      Effect.withClock(clock),
      Effect.withRandom(Random.make("seed"))
    )
    const startsAt: Array<number> = []
    const start = (which = call, response?: RateLimiter.LimitedResponse): Effect.Effect<void, RateLimited> =>
      Effect.flatMap(Permits.start(limiter, which), (permit) =>
        Effect.zipRight(
          Effect.map(Clock.currentTimeMillis, (now) => void startsAt.push(now - 10 * hour)),
          permit.settle(response)
        ))
    return { limiter, skew, start, startsAt }
  })

describe("setting the time of day", () => {
  for (const [name, millis] of [["forward", 2 * hour], ["back", -2 * hour]] as const) {
    it.scoped(`${name} brings no call of a fixed limit forward, and holds none longer`, () =>
      Effect.gen(function*() {
        const { skew, start, startsAt } = yield* setUp(RateLimiter.layerFixed({ limit: 2, interval: "1 minute" }))
        yield* start()
        yield* start()
        yield* Effect.fork(start())
        yield* TestClock.adjust("10 seconds")
        skew.millis = millis
        const last = yield* Effect.fork(start())
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(last)
        assert.deepStrictEqual(startsAt.map((at) => Math.round(at / 1000)), [0, 0, 30, 60])
      }))

    it.scoped(`${name} changes no pause that the service asked for`, () =>
      Effect.gen(function*() {
        const { skew, start, startsAt } = yield* setUp(RateLimiter.layer)
        yield* start(call, respond(10, 0, { "retry-after": "600" }))
        skew.millis = millis
        const next = yield* Effect.fork(start(call, respond(10, 9)))
        yield* TestClock.adjust("599 seconds")
        assert.isNull(next.unsafePoll())
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.join(next)
        assert.lengthOf(startsAt, 2)
      }))

    it.scoped(`${name} changes nothing of the longest wait of a call`, () =>
      Effect.gen(function*() {
        const ceiling = { limit: 1, interval: "20 seconds" } as const
        const { limiter, skew, start } = yield* setUp(RateLimiter.layerAdaptive({ ceiling, maxWait: "30 seconds" }))
        const permit = yield* Permits.start(limiter, call)
        const short = yield* Effect.fork(start())
        yield* TestClock.adjust("1 second")
        skew.millis = millis
        yield* permit.settle(undefined) // looks for calls that have waited for too long
        const long = yield* Effect.fork(Effect.exit(start()))
        yield* TestClock.adjust("20 seconds")
        yield* Fiber.join(short)
        assert.isTrue(Exit.isFailure(yield* Fiber.join(long)))
      }))

    it.scoped(`${name} lets no other tenant's call oversleep`, () =>
      Effect.gen(function*() {
        const ceiling = { operations: [call.operation], limit: 1, interval: "1 hour" } as const
        const { skew, start, startsAt } = yield* setUp(RateLimiter.layerAdaptive({ ceiling }))
        yield* start(call)
        yield* Effect.fork(start(call))
        yield* TestClock.adjust("1 second")
        skew.millis = millis
        const other = { ...abroad, operation: "deleteEventStream" }
        yield* start(other, respond(2, 0))
        yield* Effect.fork(start(other, respond(2, 0)))
        yield* TestClock.adjust("10 seconds")
        assert.lengthOf(startsAt, 3)
      }))

    it.scoped(`${name} moves the time at which the limit is shown to be full`, () =>
      Effect.gen(function*() {
        const { limiter, skew, start } = yield* setUp(RateLimiter.layer)
        yield* start(call, respond(10, 0))
        const resetAt = Effect.map(limiter.status, ([first]) => {
          assert.isDefined(first?.resetAt)
          return DateTime.toEpochMillis(first.resetAt)
        })
        const before = yield* resetAt
        assert.isAbove(before, 10 * hour)
        skew.millis = millis
        assert.strictEqual(yield* resetAt, before + millis)
      }))
  }
})
