/** Limits that are known beforehand: right ones save the first round trip, and wrong ones are corrected. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Logger, TestClock } from "effect"
import * as RateLimiter from "../../../src/RateLimiter.js"
import { type BucketServer, profileOf } from "../../support/bucketServer.js"
import { bucket, respond } from "../../support/fleetStore.js"
import { bounds, measure, refusalsAllowed, scenarios, seeds } from "../../support/goodput.js"
import * as Permits from "../../support/permits.js"
import * as VirtualTime from "../../support/virtualTime.js"

/** A prior for a server whose size is known, wrong by these factors. */
const prior = (burst: number, rate: number) => ({ size }: BucketServer) =>
  Layer.orDie(RateLimiter.layerAdaptive({
    prior: {
      burst: Math.max(1, Math.round(size.burst * burst)),
      limit: Math.max(1, Math.round(size.burst * rate)),
      interval: size.burst * size.interval
    }
  }))

/** Each operation has a bucket of its own, as far as the prior knows. */
const apart = ({ size: { burst, interval } }: BucketServer) =>
  Layer.orDie(RateLimiter.layerAdaptive({
    prior: ["createUsersExport", "listActionVersions", "redeliverEvent", "deleteEventStream"].map((operation) => ({
      burst,
      limit: burst,
      interval: burst * interval,
      operations: [operation]
    }))
  }))

describe("a prior", () => {
  for (
    const [title, layer, first] of [
      ["that is right", prior(1, 1), 0],
      ["with a rate that is too high", prior(1, 4), 1],
      ["with a rate that is too low", prior(1, 0.25), 0],
      ["with a burst that is too large", prior(3, 1), 3],
      ["with a burst that is too small", prior(0.2, 1), 0],
      ["that is wrong in all", prior(4, 10), 4],
      ["with a bucket for each operation, where all share one", apart, 4]
    ] as const
  ) {
    it.effect(`${title} keeps the bounds, but for the first burst`, () =>
      Effect.gen(function*() {
        for (const scenario of scenarios) {
          for (const seed of seeds.slice(0, 6)) {
            const result = yield* measure(scenario, seed, layer)
            const found = JSON.stringify({ scenario: scenario.name, ...result, ...profileOf(seed) })
            const { kind } = profileOf(seed)
            const { burst } = (kind === "refill" ? scenario.refill : scenario.window).size
            // A call that is refused twice for a minute may fail.
            assert.isAtMost(result.failed, layer === apart && kind !== "refill" ? 3 : 0, found)
            assert.isAtMost(result.refused, refusalsAllowed(result.requests) + first * burst, found)
            // A refused first burst may cost a pause of two seconds.
            assert.isAtMost(result.elapsed, result.needed / bounds.goodput + (first === 0 ? 0 : 2000), found)
          }
        }
      }), 120_000)
  }
})

describe("layerAdaptive with a prior", () => {
  const callOf = (operation: string) => ({ tenant: "https://t.example.com/api/v2", operation })

  /** The calls that start at once. */
  const started = (limiter: RateLimiter.RateLimiter["Type"], operation: string, calls = 100) =>
    Effect.gen(function*() {
      const times: Array<unknown> = []
      for (let nth = 0; nth < calls; nth++) {
        yield* Effect.fork(Effect.map(Permits.start(limiter, callOf(operation)), (permit) => void times.push(permit)))
      }
      yield* TestClock.adjust(0)
      return times.length
    })

  it.effect("starts with two fifths of a burst, each group for itself, and with one call where nothing is known", () =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      assert.strictEqual(yield* started(limiter, "a"), 20)
      assert.strictEqual(yield* started(limiter, "b"), 0)
      assert.strictEqual(yield* started(limiter, "c"), 4)
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({
      prior: [
        { burst: 50, limit: 16, interval: "1 second", operations: ["a", "b"] },
        { burst: 10, limit: 1, interval: "1 second" }
      ]
    }))))

  it.scoped("is refused if an operation has two", () =>
    Effect.gen(function*() {
      const one = { burst: 50, limit: 16, interval: "1 second" } as const
      const prior = [one, { ...one, operations: ["a"] }, { ...one, operations: ["b", "a"] }, one]
      const error = yield* Effect.flip(Layer.build(RateLimiter.layerAdaptive({ prior })))
      assert.deepStrictEqual(error.issues, [
        { path: "prior.2.operations", message: "another prior has a, too" },
        { path: "prior.3.operations", message: "expected names, as another prior has none" }
      ])
    }))

  it.effect("is all that limits calls while the service sends no headers", () =>
    VirtualTime.run(
      Effect.gen(function*() {
        const limiter = yield* RateLimiter.RateLimiter
        const response = { ...(yield* respond(1, 1, 1)), headers: {} as never }
        const one = Effect.flatMap(Permits.start(limiter, callOf("a")), (permit) =>
          Effect.zipRight(Effect.sleep(50), permit.settle(response)))
        const [elapsed] = yield* Effect.timed(
          Effect.forEach(Array.from({ length: 110 }), () =>
            one, { concurrency: 20 })
        )
        // 10 at once, and 10 in each second after that.
        assert.isAtLeast(Duration.toMillis(elapsed), 10_000)
        assert.isAtMost(Duration.toMillis(elapsed), 10_500)
      }).pipe(Effect.provide(RateLimiter.layerAdaptive({ prior: { burst: 10, limit: 10, interval: "1 second" } }))),
      { most: "1 minute" }
    ))

  /** Lets 20 callers make calls without rate-limit headers for a time; gives the statuses of the calls that ended, and when. */
  const underLoad = (seconds: number, ask: Effect.Effect<RateLimiter.LimitedResponse>) =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      const ended: Array<{ readonly at: number; readonly status: number }> = []
      const one = Effect.gen(function*() {
        const permit = yield* Permits.start(limiter, callOf("a"))
        yield* Effect.sleep(25)
        const { status } = yield* ask
        yield* Effect.sleep(25)
        yield* permit.settle({ status, headers: Headers.empty })
        ended.push({ at: yield* Clock.currentTimeMillis, status })
      })
      const callers = yield* Effect.replicateEffect(Effect.fork(Effect.forever(one)), 20)
      yield* Effect.sleep(Duration.seconds(seconds))
      yield* Fiber.interruptAll(callers)
      return ended
    }).pipe(
      Effect.provide([
        RateLimiter.layerAdaptive({ prior: { burst: 10, limit: 10, interval: "1 second" } }),
        Logger.remove(Logger.defaultLogger)
      ]),
      (run) => VirtualTime.run(run, { most: "1 hour" })
    )

  const refusedOf = (ended: ReadonlyArray<{ readonly status: number }>) =>
    ended.filter(({ status }) => status === 429).length

  it.effect("rises again to the prior, and not above it, when the service refuses no more", () =>
    Effect.gen(function*() {
      // For ten seconds every second call is refused.
      let [nth, from] = [0, Infinity]
      const ask = Effect.map(Clock.currentTimeMillis, (now) => {
        from = Math.min(from, now)
        return { status: now < from + 10_000 && nth++ % 2 === 0 ? 429 : 200, headers: Headers.empty }
      })
      const ended = yield* underLoad(600, ask)
      const served = (first: number, last: number) =>
        ended.filter(({ at, status }) => status === 200 && at > from + first * 1000 && at <= from + last * 1000).length
      assert.isBelow(served(10, 20), 60)
      assert.isAtLeast(served(300, 600), 2850)
      assert.isAtMost(served(300, 600), 3010)
    }))

  it.effect("finds a rate below the prior without headers: most of it is used, and few calls are refused", () =>
    Effect.gen(function*() {
      const { ask } = bucket(10, 4)
      const ended = yield* underLoad(900, ask)
      const late = ended.slice(Math.floor(ended.length / 2))
      assert.isAtMost(refusedOf(late), late.length * 0.02)
      assert.isAtLeast(late.length - refusedOf(late), 0.95 * 4 * (late.at(-1)!.at - late[0]!.at) / 1000)
    }))
})
