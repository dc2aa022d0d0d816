/** The log lines of a limiter. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, HashMap, type Layer, Logger, LogLevel, TestClock } from "effect"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as Permits from "../support/permits.js"
import { cycle } from "../support/random.js"

const call: RateLimiter.Call = { tenant: "https://t.example.com/api/v2", operation: "one" }

const response = (status: number, headers: Record<string, string>): RateLimiter.LimitedResponse => ({
  status,
  headers: Headers.fromInput(headers)
})

const pause = (seconds: number) => response(429, { "retry-after": String(seconds) })

const acquire = Effect.flatMap(RateLimiter.RateLimiter, (limiter) => Permits.acquire(limiter, call))

const settle = (response: RateLimiter.LimitedResponse) =>
  Effect.flatMap(RateLimiter.RateLimiter, (limiter) => Permits.settleOldest(limiter, call, response))

/** Makes a call with an immediate response. */
const exchange = (response: RateLimiter.LimitedResponse) => Effect.zipRight(acquire, settle(response))

/** Runs a program with a limiter; returns the lines that it logs. */
const logged = <A>(
  program: (lines: ReadonlyArray<string>) => Effect.Effect<A, unknown, RateLimiter.RateLimiter>,
  limiter: Layer.Layer<RateLimiter.RateLimiter, unknown> = RateLimiter.layer
) => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ annotations, logLevel, message }) => {
    const operation = String(HashMap.unsafeGet(annotations, "operation"))
    lines.push(`${logLevel.label} ${operation} ${String(message)}`)
  })
  return program(lines).pipe(
    Effect.provide([Logger.replace(Logger.defaultLogger, logger), limiter]),
    Effect.withRandom(cycle(0)),
    Logger.withMinimumLogLevel(LogLevel.Info),
    Effect.as(lines)
  )
}

describe("a wait for the limiter", () => {
  it.effect("is logged when it begins, with its length and its reason", () =>
    logged((lines) =>
      Effect.gen(function*() {
        yield* exchange(pause(99_999_999_999))
        assert.deepStrictEqual(lines, [])
        const fiber = yield* Effect.fork(acquire)
        yield* TestClock.adjust(0)
        assert.deepStrictEqual(lines, [
          "WARN one calls wait 15m for the rate limiter: the service asked for a pause (Retry-After)"
        ])
        yield* Fiber.interrupt(fiber)
      })
    ))

  it.effect("is logged if only the calls before it make it long", () =>
    Effect.gen(function*() {
      const lines = yield* logged(
        () =>
          Effect.gen(function*() {
            const fibers = yield* Effect.replicateEffect(Effect.fork(exchange(response(200, {}))), 60)
            yield* TestClock.adjust("29 seconds")
            yield* Effect.forEach(fibers, Fiber.join)
          }),
        RateLimiter.layerFixed({ limit: 2, interval: "1 second" })
      )
      assert.deepStrictEqual(lines, ["WARN one calls wait 5s for the rate limiter: the rate limit is used up"])
    }))

  it.effect("is logged when a pause begins, though one for another reason was logged just before", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const headers = { "x-ratelimit-limit": "5", "x-ratelimit-remaining": "5", "x-ratelimit-reset": "0" }
        yield* exchange(response(200, headers))
        const fibers = yield* Effect.replicateEffect(Effect.fork(acquire), 60)
        yield* TestClock.adjust(0)
        yield* settle(pause(600))
        yield* TestClock.adjust(0)
        assert.deepStrictEqual(lines.map((line) => line.replace(/wait \d+s/, "wait")), [
          "WARN one calls wait for the rate limiter: the rate limit is used up",
          "WARN one calls wait 10m for the rate limiter: the service asked for a pause (Retry-After)"
        ])
        yield* Effect.forEach(fibers, Fiber.interrupt)
      })
    ))

  it.effect("is logged when a call that waits for the end of another has to wait on", () =>
    Effect.gen(function*() {
      const lines = yield* logged(() =>
        Effect.gen(function*() {
          yield* acquire
          const fiber = yield* Effect.fork(acquire)
          yield* TestClock.adjust("10 seconds")
          const headers = { "x-ratelimit-limit": "5", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "310" }
          yield* settle(response(200, headers))
          yield* TestClock.adjust(0)
          yield* Fiber.interrupt(fiber)
        })
      )
      assert.lengthOf(lines, 1)
      assert.match(lines[0] ?? "", /^WARN one calls wait \d+m.* for the rate limiter: the rate limit is used up$/)
    }))

  it.effect("is not logged if it is shorter than 5 s", () =>
    Effect.gen(function*() {
      const linesAfter = (seconds: number) =>
        logged(() =>
          Effect.gen(function*() {
            yield* exchange(pause(seconds))
            const fiber = yield* Effect.fork(acquire)
            yield* TestClock.adjust(Duration.seconds(seconds))
            yield* Fiber.join(fiber)
          })
        )
      assert.lengthOf(yield* linesAfter(4), 0)
      assert.lengthOf(yield* linesAfter(5), 1)
    }))

  it.effect("is logged once a minute for each bucket, not for each call", () =>
    logged((lines) =>
      Effect.gen(function*() {
        yield* exchange(pause(600))
        const fibers = yield* Effect.replicateEffect(Effect.fork(acquire), 3)
        yield* TestClock.adjust("59 seconds")
        fibers.push(yield* Effect.fork(acquire))
        yield* TestClock.adjust(0)
        assert.lengthOf(lines, 1)
        yield* TestClock.adjust("1 second")
        fibers.push(yield* Effect.fork(acquire))
        yield* TestClock.adjust(0)
        assert.deepStrictEqual(lines.slice(1), [
          "WARN one calls wait 9m for the rate limiter: the service asked for a pause (Retry-After)"
        ])
        yield* Effect.forEach(fibers, Fiber.interrupt)
      })
    ))
})
