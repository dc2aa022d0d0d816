/** Outages with many callers: retries, and the budget that bounds them. */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import { IdentityClient, RateLimiter, updateTokenExchangeProfile } from "../../src/index.js"
import { isBackgroundWork } from "../../src/internal/limiter/backgroundWork.js"
import { type AnyFiber, settingOf, withFiber } from "../../src/internal/runtime/fiber.js"
import { baseUrl, bearer } from "../support/client.js"
import {
  deletion as operation,
  failedOnlyIn,
  failing,
  type Outcome,
  run,
  type Setting,
  unsent
} from "../support/outage.js"
import * as Permits from "../support/permits.js"

/** A limiter whose permits take some calls 100 s, and others no time. */
const slow = (isSlow: (fiber: AnyFiber) => boolean) =>
  Layer.succeed(
    RateLimiter.RateLimiter,
    Permits.limiterOf(() =>
      withFiber((fiber) => Effect.as(Effect.sleep(isSlow(fiber) ? "100 seconds" : 0), Permits.permit))
    )
  )

/** Runs with and without a budget. */
const both = (setting: Setting) =>
  Effect.all({
    without: run({ ...setting, options: { ...setting.options, retryBudget: Infinity } }),
    within: run({ ...setting, options: { ...setting.options, retryBudget: 0.2 } })
  })

/** Tests that the budget fails no call that would not have failed without it, and bounds retries only `inOutage`. */
const failsNoMore = (name: string, inOutage: boolean, setting: Omit<Setting, "pace">) =>
  it.effect(
    `fails no call that would not have failed ${name}`,
    () =>
      Effect.map(both({ pace: "steady", ...setting }), ({ within, without }) => {
        assert.isAbove(within.calls.size, 100)
        assert.strictEqual(within.calls.size, without.calls.size)
        assert.deepStrictEqual(failedOnlyIn(within, without), [])
        assert.strictEqual(within.warnings, inOutage ? 1 : 0)
        if (!inOutage) assert.strictEqual(within.requests, without.requests)
      })
  )

/** An outage of half a minute, run once. */
const outage = Effect.runSync(Effect.cached(both({ pace: "steady", outage: [10_000, 40_000], end: 60_000 })))

describe("the retry budget", () => {
  it.effect(
    "keeps retries below a fifth of all requests, where there were three for each call",
    () =>
      Effect.map(outage, ({ within, without }) => {
        const retries = ({ callsDuringOutage, duringOutage }: Outcome) => duringOutage - callsDuringOutage
        assert.isAbove(retries(without) / without.duringOutage, 0.7)
        assert.isAtMost(retries(within) / within.duringOutage, 0.2)
      })
  )

  it.effect("is a fifth by default", () =>
    Effect.gen(function*() {
      const setting = { pace: "steady", outage: [1000, 5000], end: 6000 } as const
      const { within, without } = yield* both(setting)
      const { duringOutage } = yield* run(setting)
      assert.strictEqual(duringOutage, within.duringOutage)
      assert.isBelow(duringOutage, without.duringOutage)
    }))

  it.effect(
    "fails no call that would not have failed, and lets calls fail within seconds",
    () =>
      Effect.map(outage, ({ within, without }) => {
        assert.isAbove(Array.from(within.calls.values()).filter(({ succeeded }) => !succeeded).length, 1000)
        assert.deepStrictEqual(failedOnlyIn(within, without), [])
        assert.isAtMost(Math.max(...Array.from(within.calls.values(), ({ millis }) => millis)), 5000)
      })
  )

  failsNoMore("in a short outage that hits many at once", true, { callers: 200, outage: [3000, 3300], end: 6000 })

  failsNoMore("in a short outage while calls wait long for a permit", true, {
    callers: 100,
    limiter: slow(() => true),
    outage: [110_000, 112_000],
    end: 20_000
  })

  failsNoMore("while background calls wait long for a permit, but others do not", true, {
    callers: 100,
    call: (caller) => caller % 4 === 0 ? RateLimiter.withBackground(operation) : Effect.delay(operation, "100 seconds"),
    limiter: slow((fiber) => settingOf(fiber, isBackgroundWork)),
    outage: [102_000, 110_000],
    end: 12_000
  })

  failsNoMore("when its retries hardly fit into the total time", true, {
    callers: 400,
    options: { retry: { totalTime: "500 millis" } },
    outage: [3000, 3400],
    end: 6000
  })

  failsNoMore("in an outage whose responses say when it will end", true, {
    callers: 100,
    headers: { "retry-after": "4" },
    outage: [3000, 12_000],
    end: 20_000
  })

  failsNoMore("in an outage in which some get a response after seconds, and others at once", true, {
    callers: 100,
    responseTime: ({ call }) => failing(0.5, 1)({ call, nth: 0, method: "" }) ? 4000 : 20,
    outage: [3000, 12_000],
    end: 20_000
  })

  failsNoMore("in an outage in which later attempts fail earlier", true, {
    callers: 400,
    options: { retry: { totalTime: "700 millis" } },
    responseTime: ({ nth }) => nth === 1 ? 500 : 20,
    outage: [3000, 4500],
    end: 6000
  })

  for (const share of [0.3, 0.5, 0.7]) {
    failsNoMore(`while ${100 * share} % of the requests fail`, false, {
      fails: failing(share, 1),
      outage: [0, 20_000],
      end: 20_000
    })
  }

  failsNoMore("while all calls of one operation and some of another fail", false, {
    call: (caller) => caller % 2 === 0 ? operation : updateTokenExchangeProfile({ id: "tep_1", name: "a name" }),
    fails: (attempt) => attempt.method === "DELETE" || failing(0.3, 1)(attempt),
    outage: [0, 20_000],
    end: 20_000
  })

  it.effect("also lets a single caller fail, whose calls nobody else makes", () =>
    Effect.gen(function*() {
      const { calls, duringOutage } = yield* run({ pace: "eager", callers: 1, options: { retryBudget: 0 } })
      assert.isAbove(calls.size, 10)
      // Its calls, the retries before it counts as an outage, and one in each second.
      assert.isAtMost(duringOutage, calls.size + 50 + 60)
    }))

  it.effect("does not bound the retries after 429", () =>
    Effect.gen(function*() {
      const result = yield* run({
        pace: "steady",
        status: 429,
        options: { retryBudget: 0 },
        outage: [1000, 5000],
        end: 8000
      })
      assert.isAtLeast(result.duringOutage, 3 * result.callsDuringOutage)
    }))

  it.effect("does not count waits for it towards the total time", () =>
    Effect.gen(function*() {
      const requests = { DELETE: 0, PATCH: 0 }
      // The retries of one operation get no response, so nothing shows what would become of that of the other.
      const network = HttpClient.make((request) => {
        const { method } = request
        const isRetry = (method === "DELETE" || method === "PATCH") &&
          ++requests[method] > (method === "DELETE" ? 70 : 1)
        if (isRetry && method === "DELETE") return Effect.never
        return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status: isRetry ? 204 : 503 })))
      })
      const client = IdentityClient.layer({ baseUrl, retryBudget: 0, retry: { totalTime: "700 millis" } }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, bearer, Layer.succeed(HttpClient.HttpClient, network)])
      )
      const calls = Effect.forEach(Array.from({ length: 70 }), () => Effect.fork(Effect.exit(operation)))
      const other = Effect.delay(updateTokenExchangeProfile({ id: "tep_1", name: "a name" }), 1)
      const call = yield* Effect.fork(Effect.exit(Effect.provide(Effect.zipRight(calls, other), client)))
      yield* TestClock.adjust("1 minute")
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(call)))
    }))

  it.effect("lets a skipped retry take as long as the attempt before it, without its wait for a permit", () =>
    Effect.gen(function*() {
      let permits = 0
      const limiter = Layer.succeed(
        RateLimiter.RateLimiter,
        Permits.limiterOf(() => Effect.as(Effect.sleep(++permits <= 70 ? "100 seconds" : 0), Permits.permit))
      )
      const network = HttpClient.make((request) =>
        Effect.delay(
          Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status: 503 }))),
          "1 second"
        )
      )
      const client = IdentityClient.layer({ baseUrl, retryBudget: 0 }).pipe(
        Layer.provide([limiter, bearer, Layer.succeed(HttpClient.HttpClient, network)])
      )
      const run = Effect.all(Array.from({ length: 70 }, () => Effect.flip(operation)), { concurrency: "unbounded" })
      const calls = yield* Effect.fork(Effect.provide(run, client))
      yield* TestClock.adjust("120 seconds")
      assert.isNotNull(calls.unsafePoll())
    }))

  it.effect("lets retries that wait go on when the client is closed", () =>
    Effect.gen(function*() {
      let requests = 0
      // Responds to the first 70 requests alone. Each retry after that is lost.
      const network = HttpClient.make((request) =>
        ++requests > 70
          ? Effect.never
          : Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status: 503 })))
      )
      const scope = yield* Scope.make()
      const client = IdentityClient.layer({ baseUrl, retryBudget: 0 }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, bearer, Layer.succeed(HttpClient.HttpClient, network)])
      )
      const context = yield* Layer.buildWithScope(client, scope)
      const calls = Effect.all(Array.from({ length: 70 }, () => Effect.flip(operation)), { concurrency: "unbounded" })
      const running = yield* Effect.fork(Effect.provide(calls, context))
      yield* TestClock.adjust("2 seconds")
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(closing)
      assert.isNotNull(running.unsafePoll())
    }))

  it.effect("does not count attempts that were not sent in time, which say nothing of the service", () =>
    Effect.gen(function*() {
      let attempts = 0
      const calls = yield* Effect.fork(
        Effect.all(
          Array.from({ length: 30 }, () => Effect.flip(IdentityClient.withTimeout(operation, "1 second"))),
          { concurrency: "unbounded" }
        ).pipe(Effect.provide(unsent({ retryBudget: 0 }, () => attempts++)))
      )
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(calls)
      assert.strictEqual(attempts, 4 * 30)
    }))
})
