/** The log lines of calls, as a logger receives them. */
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, Exit, Fiber, Layer, LogLevel, Redacted, TestClock } from "effect"
import { RateLimited, TokenError } from "../../src/Errors.js"
import { createUsersExport, IdentityClient, RateLimiter, Retry, TokenProvider } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { bearer } from "../support/client.js"
import { skewed } from "../support/fleet.js"
import * as Permits from "../support/permits.js"
import { call, clientOf, logged, outage, quota } from "../support/telemetry.js"
import { inProcess } from "../support/tokenServer.js"

describe("the log", () => {
  it.effect("has a debug line for each attempt and each wait, and no others", () =>
    Effect.gen(function*() {
      const replies = [Testing.reply({ status: 503 }), Testing.noReply("ECONNRESET"), Testing.reply({ status: 403 })]
      const run = ({ layer }: ReturnType<typeof clientOf>) =>
        Effect.provide(call.pipe(Retry.withPolicy({ delay: 0 })), layer)
      const { exit, lines } = yield* logged(run(clientOf({ replies })), LogLevel.Debug)
      assert.isTrue(Exit.isFailure(exit))
      const about = (attempt: number) => `DEBUG attempt=${attempt} operation=deleteEventStream`
      assert.deepStrictEqual(lines, [
        `${about(1)} response with status 503 after 0 ms`,
        `${about(1)} retrying in 0 ms`,
        `${about(2)} no response (ECONNRESET) after 0 ms`,
        `${about(2)} retrying in 0 ms`,
        `${about(3)} response with status 403 after 0 ms`,
        `${about(3)} failed with Forbidden after 0 ms`
      ])
      assert.deepStrictEqual((yield* logged(run(clientOf({ replies })))).lines, [])
    }))

  it.effect("has the duration of each attempt on debug level, and nothing else for a call that succeeds", () =>
    Effect.gen(function*() {
      const network = inProcess((nth) =>
        Effect.delay(Effect.succeed({ status: nth === 1 ? 204 : 403 }), nth === 1 ? 1000 : 1500)
      )
      const layer = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
        Layer.provide([network.layer, RateLimiter.layerUnlimited, bearer])
      )
      yield* TestClock.adjust("1 hour")
      const run = Effect.gen(function*() {
        const running = yield* Effect.fork(Effect.exit(call))
        yield* TestClock.adjust(1500)
        yield* Fiber.join(running)
      })
      const { lines } = yield* logged(Effect.provide(Effect.zipRight(run, run), layer), LogLevel.Debug)
      const about = "DEBUG attempt=1 operation=deleteEventStream"
      assert.deepStrictEqual(lines, [
        `${about} response with status 204 after 1 s`,
        `${about} response with status 403 after 1.5 s`,
        `${about} failed with Forbidden after 1.5 s`
      ])
    }))

  it.effect("has durations that a clock set back meanwhile does not change", () =>
    Effect.gen(function*() {
      const { clock, skew } = skewed(yield* Effect.clock)
      const network = inProcess(() =>
        Effect.delay(Effect.sync(() => ({ status: 403 })), 1000).pipe(
          Effect.tap(() => Effect.sync(() => skew.millis -= 3_600_000))
        )
      )
      const layer = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
        Layer.provide([network.layer, RateLimiter.layerUnlimited, bearer])
      )
      const running = yield* Effect.fork(
        logged(Effect.provide(call, layer), LogLevel.Debug).pipe(Effect.withClock(clock))
      )
      yield* TestClock.adjust(1000)
      const { lines } = yield* Fiber.join(running)
      assert.deepStrictEqual(lines, [
        "DEBUG attempt=1 operation=deleteEventStream response with status 403 after 1 s",
        "DEBUG attempt=1 operation=deleteEventStream failed with Forbidden after 1 s"
      ])
    }))

  it.effect("warns about a failed token request, with its status or code", () =>
    Effect.gen(function*() {
      for (
        const [known, shown] of [[{ status: 401, code: "a" }, " (status 401)"], [{ code: "a" }, " (a)"], [
          {},
          ""
        ]] as const
      ) {
        const failure = new TokenError({ operation: "token", message: "none", ...known })
        const { layer } = clientOf({ tokens: TokenProvider.layerEffect(Effect.fail(failure)), replies: [] })
        const { lines } = yield* logged(Effect.provide(call, layer))
        assert.deepStrictEqual(lines, [`WARN operation=token could not obtain a token${shown}`])
      }
    }))

  it.effect("has a debug line for a retry with a new token", () =>
    Effect.gen(function*() {
      let nth = 0
      const tokens = Layer.succeed(TokenProvider.TokenProvider, {
        get: Effect.sync(() => Redacted.make(`token-${nth}`)),
        invalidate: () => Effect.sync(() => void nth++)
      })
      const { layer } = clientOf({ tokens, replies: [401, 204].map((status) => Testing.reply({ status })) })
      const { lines } = yield* logged(Effect.provide(call, layer), LogLevel.Debug)
      assert.include(
        lines,
        "DEBUG attempt=1 operation=deleteEventStream the token was refused; retrying with a new one"
      )
    }))

  it.effect("warns about long waits, once a minute for each operation", () =>
    Effect.gen(function*() {
      const { layer } = clientOf({
        replies: Array.makeBy(8, (nth) =>
          nth % 2 === 0
            ? Testing.reply({ status: 429, headers: { "retry-after": "6" } })
            : Testing.reply({ status: 204 }))
      })
      const { lines } = yield* logged(
        Effect.gen(function*() {
          for (const pause of [0, 30, 12, 0]) {
            const running = yield* Effect.fork(call)
            yield* TestClock.adjust("6 seconds")
            yield* Fiber.join(running)
            yield* TestClock.adjust(`${pause} seconds`)
          }
        }).pipe(Effect.provide(layer))
      )
      // At 0, 6, 42 and 60 seconds.
      assert.deepStrictEqual(
        lines,
        Array.makeBy(2, () => "WARN attempt=1 operation=deleteEventStream retrying in 6 s")
      )
    }))

  it.effect("has debug lines for waits for the limiter, which warns about long ones itself", () =>
    Effect.gen(function*() {
      const acquire = (wait: number) => (Permits.limiterOf(() => Effect.as(Effect.sleep(wait), Permits.permit)))
      const about = "operation=deleteEventStream the rate limiter delayed the call for"
      for (
        const [wait, level, expected] of [
          [5000, LogLevel.Info, []],
          [5000, LogLevel.Debug, [`DEBUG attempt=0 ${about} 5 s`]],
          [2, LogLevel.Debug, [`DEBUG attempt=0 ${about} 2 ms`]],
          [1, LogLevel.Debug, []] // not a wait: the clock only went on meanwhile
        ] as const
      ) {
        const limiter = Layer.succeed(RateLimiter.RateLimiter, acquire(wait))
        const { layer } = clientOf({ limiter, replies: [Testing.reply({ status: 204 })] })
        const { lines } = yield* logged(
          Effect.gen(function*() {
            const running = yield* Effect.fork(call)
            yield* TestClock.adjust(wait)
            yield* Fiber.join(running)
          }).pipe(Effect.provide(layer)),
          level
        )
        assert.deepStrictEqual<unknown>(lines.filter((line) => line.includes("attempt=0")), expected)
      }
    }))

  it.effect("warns when 80 % of a limit is used, and again after more than half was left, at most once a minute", () =>
    Effect.gen(function*() {
      const left = [9, 3, 2, 1, 0, 2, 5, 2]
      const { layer } = clientOf({
        // Within the minute the limit is used again, and remains so.
        replies: [...left, 6, 2, 1, 0, 6, 2].map((remaining) =>
          Testing.reply({ status: 204, headers: quota(remaining) })
        )
      })
      const { lines } = yield* logged(
        Effect.gen(function*() {
          yield* Effect.repeatN(call, left.length - 1)
          yield* TestClock.adjust("59 seconds")
          yield* Effect.repeatN(call, 1)
          yield* TestClock.adjust("1 second")
          yield* Effect.repeatN(call, 3)
        }).pipe(Effect.provide(layer))
      )
      const warning = (remaining: number) =>
        `WARN attempt=1 operation=deleteEventStream the rate limit is nearly used up: ${remaining} of 10 calls left`
      assert.deepStrictEqual(lines, [warning(2), warning(1)])
    }))

  it.effect("warns about a limit again only if more than half was left meanwhile, even after a long time", () =>
    Effect.gen(function*() {
      const left = [2, 2, 5, 2, 6, 2]
      const { layer } = clientOf({
        replies: left.map((remaining) => Testing.reply({ status: 204, headers: quota(remaining) }))
      })
      const { exit, lines } = yield* logged(
        Effect.provide(Effect.forEach(left, () => Effect.zipRight(call, TestClock.adjust("1 minute"))), layer)
      )
      assert.isTrue(Exit.isSuccess(exit))
      assert.lengthOf(lines, 2) // for the first and the last call
    }))

  it.effect("warns once for all operations with the same limit, in words that fit none left", () =>
    Effect.gen(function*() {
      const { layer } = clientOf({
        replies: [0, 0, 0].map((remaining) => Testing.reply({ status: 403, headers: quota(remaining) }))
      })
      const { lines } = yield* logged(
        Effect.provide(Effect.forEach([call, createUsersExport({}), call], Effect.exit), layer)
      )
      assert.deepStrictEqual(lines, [
        "WARN attempt=1 operation=deleteEventStream the rate limit is used up: 0 of 10 calls left"
      ])
    }))

  it.effect("does not warn about a limit of 0 or without all headers", () =>
    Effect.gen(function*() {
      const { "x-ratelimit-limit": _, ...withoutLimit } = quota(0)
      const { layer } = clientOf({
        replies: [withoutLimit, quota(0, 0), {}].map((headers) => Testing.reply({ status: 204, headers }))
      })
      assert.deepStrictEqual((yield* logged(Effect.provide(Effect.repeatN(call, 2), layer))).lines, [])
    }))

  it.effect("has all lines that one response causes", () =>
    Effect.gen(function*() {
      const { layer } = clientOf({ replies: [Testing.reply({ status: 403, headers: quota(1) })] })
      const { lines } = yield* logged(Effect.provide(call, layer), LogLevel.Debug)
      const about = "attempt=1 operation=deleteEventStream"
      assert.deepStrictEqual(lines, [
        `DEBUG ${about} response with status 403 after 0 ms`,
        `WARN ${about} the rate limit is nearly used up: 1 of 10 calls left`,
        `DEBUG ${about} failed with Forbidden after 0 ms`
      ])
    }))

  it.effect("has the lines that precede a failure of the limiter", () =>
    Effect.gen(function*() {
      const refusing = Layer.succeed(
        RateLimiter.RateLimiter,
        Permits.limiterOf(({ operation }) =>
          Effect.zipRight(Effect.sleep("6 seconds"), new RateLimited({ operation, message: "no", source: "limiter" }))
        )
      )
      const { layer } = clientOf({ limiter: refusing, replies: [] })
      const { lines } = yield* logged(
        Effect.gen(function*() {
          const running = yield* Effect.fork(Effect.exit(createUsersExport({})))
          yield* TestClock.adjust("6 seconds")
          yield* Fiber.join(running)
        }).pipe(Effect.provide(layer)),
        LogLevel.Debug
      )
      assert.include(lines, "DEBUG attempt=0 operation=createUsersExport the rate limiter delayed the call for 6 s")
    }))

  it.effect("warn once when a circuit opens, and tell when it closes", () =>
    Effect.gen(function*() {
      const { layer } = clientOf({
        options: { circuit: { failures: 2 } },
        replies: [503, 503, 503, 204, 204].map((status) => Testing.reply({ status }))
      })
      const once = Effect.exit(Retry.withoutRetries(call))
      const { lines } = yield* logged(
        Effect.gen(function*() {
          yield* Effect.repeatN(once, 3) // the last two are refused
          for (const pause of ["1 second", "2 seconds", 0] as const) {
            yield* Effect.zipRight(TestClock.adjust(pause), once)
          }
        }).pipe(Effect.provide(layer))
      )
      assert.deepStrictEqual(lines, [
        "WARN attempt=1 operation=deleteEventStream the circuit is open after 2 failures in a row: calls fail at once",
        "INFO attempt=1 operation=deleteEventStream the circuit is closed: the service responds again"
      ])
    }))

  it.effect("warn once in an outage that the retry budget is used up, and tell no retry that is not made", () =>
    Effect.gen(function*() {
      const callers = 30
      let requests = 0
      const { lines } = yield* logged(
        Effect.map(outage(callers).run, (count) => void (requests = count)),
        LogLevel.Debug
      )
      const count = (text: string) => lines.filter((line) => line.includes(text)).length
      const warning = "the service is unavailable and the retry budget is used up: calls fail without a retry"
      assert.strictEqual(count(`operation=deleteEventStream ${warning}`), 1)
      const made = count("DEBUG attempt=1 operation=deleteEventStream retrying in") // of the first attempts
      assert.isAbove(made, 10)
      assert.isAbove(count(" skipped a retry: the service is still unavailable"), 10)
      assert.strictEqual(callers + count(" retrying in "), requests)
    }))
})
