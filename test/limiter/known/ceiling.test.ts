/** Ceilings: no schedule of calls gets more through than they allow, and all that they allow can be used. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, FastCheck, Fiber, Layer, Logger, Random, TestClock } from "effect"
import { InvalidInput, type RateLimited } from "../../../src/Errors.js"
import { CeilingCounter } from "../../../src/internal/limiter/known/ceiling.js"
import { disconnect } from "../../../src/internal/runtime/runner.js"
import * as RateLimiter from "../../../src/RateLimiter.js"
import { assertKept } from "../../support/ceilings.js"
import { skewed } from "../../support/fleet.js"
import { respond } from "../../support/fleetStore.js"
import * as Permits from "../../support/permits.js"
import * as VirtualTime from "../../support/virtualTime.js"

const make = (limit: number, interval = 1000) => new CeilingCounter({ limit, interval, operations: undefined })

/** The wait of each of a number of calls that come at once. */
const waits = (ceiling: CeilingCounter, calls: number, now = 0, share = 0) =>
  Array.from({ length: calls }, (_, ahead) => ceiling.wait(now, share, ahead))

describe("a ceiling", () => {
  it("lets its limit start at once, and as many again when the first are an interval old", () => {
    const ceiling = make(3)
    assert.deepStrictEqual(waits(ceiling, 7), [0, 0, 0, 1000, 1000, 1000, 2000])
    ceiling.start(0)
    ceiling.start(400, 2)
    assert.deepStrictEqual(waits(ceiling, 5, 500), [500, 900, 900, 1500, 1900])
    assert.deepStrictEqual(waits(ceiling, 2, 1000), [0, 400])
  })

  it("leaves a share to others", () => {
    const ceiling = make(10)
    assert.deepStrictEqual(waits(ceiling, 9, 0, 0.2).filter((wait) => wait === 0).length, 8)
    assert.isAbove(make(1).wait(0, 1, 0), -1)
    assert.strictEqual(make(1).wait(0, 1, 0), 0)
  })

  it("is idle when no call counts any more", () => {
    const ceiling = make(2)
    ceiling.start(0)
    assert.deepStrictEqual([999, 1000].map((now) => ceiling.isIdle(now)), [false, true])
  })

  it("has one name whatever its limit, and others for other calls", () => {
    const key = (limit: number, interval: number, operations?: ReadonlyArray<string>) =>
      new CeilingCounter({ limit, interval, operations }).key
    assert.strictEqual(key(1, 1000, ["a", "b"]), key(2, 1000, ["b", "a"]))
    assert.strictEqual(new Set([key(1, 1000), key(1, 2000), key(1, 1000, ["a"]), key(1, 1000, ["b"])]).size, 4)
  })

  const step = FastCheck.record({
    millis: FastCheck.integer({ min: 0, max: 700 }),
    back: FastCheck.constantFrom(0, 0, 0, 0, 100, 3_600_000),
    event: FastCheck.constantFrom("start", "start", "start", "start", "giveBack", "exhaust", "store")
  })

  it("never lets more through, and never less than all but one group", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.constantFrom(1, 2, 5, 128, 129, 500),
      FastCheck.array(step, { maxLength: 60, size: "max" }),
      (limit, steps) => {
        let ceiling = make(limit)
        let [time, skew] = [0, 0]
        const sent: Array<{ readonly at: number; readonly nth: number }> = []
        for (const { back, event, millis } of steps) {
          time += millis
          skew -= back
          const now = time + skew
          const inWindow = sent.length - 1 - sent.findLastIndex(({ at }) => at <= time - 1000)
          if (event === "giveBack") {
            // The last call was not sent after all.
            const last = sent.pop()
            if (last !== undefined) ceiling.giveBack(last.nth)
          } else if (event === "store") {
            const restored = make(limit)
            restored.restore(JSON.parse(JSON.stringify(ceiling.snapshot), (_, value) => value ?? -Infinity))
            ceiling = restored
          } else if (event === "exhaust" && millis > 690) {
            ceiling.exhaust(now)
            assert.isAbove(ceiling.wait(now, 0, 0), 0)
            break
          } else {
            // As many as may start, up to half the limit.
            for (let more = Math.ceil(limit / 2); more > 0 && ceiling.wait(now, 0, 0) <= 0; more--) {
              sent.push({ at: time, nth: ceiling.start(now) })
            }
          }
          const unused = limit - inWindow
          // A clock that was set back is noticed late.
          if (skew === 0 && event === "start" && unused > Math.ceil(limit / 128)) {
            assert.strictEqual(sent.at(-1)?.at, time, "a call could start")
          }
        }
        if (sent.length > 0) assertKept(sent.map(({ at }) => at), limit, 1000)
      }
    ))
  })
})

describe("layerAdaptive with a ceiling", () => {
  const call = { tenant: "https://t.example.com/api/v2", operation: "a" }
  const large = respond(100_000, 99_999, 1)

  /** Acquires a permit and records the time by a clock that nobody sets. */
  const send = (limiter: RateLimiter.RateLimiter["Type"], times: Array<number>, operation = "a") =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const permit = yield* restore(Permits.start(limiter, { ...call, operation }))
        times.push(Number(yield* Clock.currentTimeNanos) / 1e6)
        yield* permit.settle(yield* large)
      })
    )

  const schedule = FastCheck.record({
    seed: FastCheck.integer(),
    limit: FastCheck.integer({ min: 1, max: 20 }),
    interval: FastCheck.constantFrom(50, 1000, 60_000)
  })

  it(
    "never lets more through: retried, background and interrupted calls, while the clock is set back and forth",
    async () => {
      await FastCheck.assert(
        FastCheck.asyncProperty(schedule, async ({ interval, limit, seed }) => {
          const [all, exports]: [Array<number>, Array<number>] = [[], []]
          const run = Effect.gen(function*() {
            const { clock, skew } = skewed(yield* Effect.clock)
            const worker = (nth: number) =>
              Effect.gen(function*() {
                const limiter = yield* RateLimiter.RateLimiter
                for (let time = 0; time < 10; time++) {
                  yield* Effect.sleep(
                    (yield* Random.nextIntBetween(0, 2)) * (yield* Random.nextIntBetween(0, interval))
                  )
                  if ((yield* Random.next) < 0.1) skew.millis = yield* Random.nextIntBetween(-90_000, 90_000)
                  const isExport = nth % 3 === 0
                  const sent = Effect.zipRight(
                    send(limiter, all, isExport ? "export" : "a"),
                    Effect.sync(() => void (isExport && exports.push(all.at(-1)!)))
                  )
                  const set = (yield* Random.next) < 0.3 ? RateLimiter.withBackground(sent) : sent
                  if ((yield* Random.next) < 0.2) yield* Effect.timeoutOption(disconnect(set), interval / 3)
                  else yield* set
                }
              })
            const layer = RateLimiter.layerAdaptive({
              ceiling: [{ limit, interval }, { limit: 2, interval: 3 * interval, operations: ["export"] }]
            })
            yield* Effect.forEach([0, 1, 2, 3, 4, 5], worker, { concurrency: "unbounded" }).pipe(
              Effect.provide(layer),
              Effect.withClock(clock)
            )
          })
          const silent = Effect.provide(run, Logger.remove(Logger.defaultLogger))
          await Effect.runPromise(
            VirtualTime.run(Effect.withRandom(silent, Random.make(seed)), { most: "10 hours" })
          )
          assertKept(all, limit, interval)
          assertKept(exports, 2, 3 * interval)
        }),
        { numRuns: 60 }
      )
    },
    120_000
  )

  it.effect("uses all but a two-hundredth of it", () =>
    VirtualTime.run(
      Effect.gen(function*() {
        const times: Array<number> = []
        const limiter = yield* RateLimiter.RateLimiter
        const from = Number(yield* Clock.currentTimeNanos) / 1e6
        yield* Effect.forEach(Array.from({ length: 505 }), () => send(limiter, times), { concurrency: 50 })
        assertKept(times, 5, 1000)
        assert.isAtMost(times.at(-1)! - from, 100_000 / 0.995)
      }).pipe(Effect.provide(RateLimiter.layerAdaptive({ ceiling: { limit: 5, interval: "1 second" } }))),
      { most: "1 hour" }
    ))

  it.effect("refuses at once what would wait longer than maxWait, whatever the calls before it draw on", () =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      const first = (operation: string) =>
        Effect.flatMap(Permits.start(limiter, { ...call, operation }), (permit) => Effect.flatMap(large, permit.settle))
      yield* first("a")
      yield* first("b")
      // Ten calls of each; two calls in an hour are left of those of b.
      const fibers = yield* Effect.forEach(
        ["a", "b", "c"],
        (operation) =>
          Effect.forEach(
            Array.from({ length: 10 }),
            () => Effect.fork(Effect.either(Permits.start(limiter, { ...call, operation })))
          )
      )
      yield* TestClock.adjust(0)
      const failures = (yield* Effect.forEach(fibers.flat(), (fiber) => Fiber.poll(fiber))).flatMap((exit) =>
        exit._tag === "Some" && Exit.isSuccess(exit.value) && exit.value.value._tag === "Left"
          ? [exit.value.value.left as RateLimited]
          : []
      )
      assert.strictEqual(failures.filter(({ operation }) => operation === "b").length, 8)
      // Ten seconds allow forty calls in all: none of the others is refused.
      assert.strictEqual(failures.length, 8)
      for (const { retryAfter, source } of failures) {
        assert.strictEqual(source, "limiter")
        assert.isAbove(Duration.toMillis(retryAfter ?? 0), 10_000)
      }
      yield* Fiber.interruptAll(fibers.flat())
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({
      maxWait: "10 seconds",
      ceiling: [{ limit: 4, interval: "1 second" }, { limit: 3, interval: "1 hour", operations: ["b"] }]
    }))))

  /** Makes a call of a and of b, lets others wait, and tells what becomes of another a. */
  const outcome = (
    response: (operation: string) => Effect.Effect<RateLimiter.LimitedResponse>,
    waiting: ReadonlyArray<string>
  ) =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      const begin = (operation: string) => Effect.fork(Permits.start(limiter, { ...call, operation }))
      for (const operation of ["a", "b"]) {
        const permit = yield* Permits.start(limiter, { ...call, operation })
        yield* TestClock.adjust(10)
        yield* Effect.flatMap(response(operation), permit.settle)
        yield* TestClock.adjust(10)
      }
      yield* Effect.forEach(waiting, begin)
      yield* TestClock.adjust(0)
      const last = yield* begin("a")
      yield* TestClock.adjust(0)
      const exit = last.unsafePoll()
      return exit === null ? "waits" : Exit.isSuccess(exit) ? "starts" : "fails"
    })

  it.effect("does not count calls that another ceiling holds as ahead in the same bucket", () =>
    Effect.gen(function*() {
      // A call comes back in 100 s; each b waits for at least a minute.
      assert.strictEqual(yield* outcome(() => respond(10, 5, 500), Array.from("bbbbbbbbbb")), "starts")
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({
      maxWait: "6 minutes",
      ceiling: { limit: 1, interval: "1 minute", operations: ["b"] }
    }))))

  it.effect("does not count calls that another ceiling holds as ahead below a ceiling of both", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* outcome(() => large, Array.from("bbb")), "starts")
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({
      maxWait: "50 seconds",
      ceiling: [
        { limit: 5, interval: "1 minute" },
        { limit: 1, interval: "10 seconds", operations: ["b"] }
      ]
    }))))

  it.effect("does not count calls that wait for another bucket as ahead below a ceiling of both", () =>
    Effect.gen(function*() {
      // The bucket of b is empty; calls come back within some seconds.
      const response = (operation: string) => operation === "b" ? respond(5, 0, 20) : large
      assert.strictEqual(yield* outcome(response, Array.from("bbb")), "starts")
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({
      maxWait: "50 seconds",
      ceiling: { limit: 5, interval: "1 minute" }
    }))))

  it.effect("shows the ceiling as the reason of a wait", () =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      yield* Effect.flatMap(Permits.start(limiter, call), (permit) => Effect.flatMap(large, permit.settle))
      yield* Effect.fork(Permits.start(limiter, call))
      yield* TestClock.adjust(100)
      assert.strictEqual((yield* limiter.status)[0]?.reason, "ceiling")
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ ceiling: { limit: 1, interval: "1 minute" } }))))

  it.effect("gives back the place of a call that was not sent", () =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      const gone = yield* Permits.start(limiter, call)
      yield* gone.giveBack ?? Effect.void
      const next = yield* Effect.fork(Permits.start(limiter, call))
      yield* TestClock.adjust(0)
      assert.isNotNull(next.unsafePoll())
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ ceiling: { limit: 1, interval: "1 hour" } }))))

  it.effect("remembers an hour's calls of a tenant that was idle for an hour", () =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      yield* Effect.flatMap(Permits.start(limiter, call), (permit) => Effect.flatMap(large, permit.settle))
      yield* TestClock.adjust("90 minutes")
      yield* Permits.start(limiter, { ...call, tenant: "https://u.example.com/api/v2" })
      const second = yield* Effect.fork(Permits.start(limiter, call))
      yield* TestClock.adjust("29 minutes")
      assert.isNull(second.unsafePoll())
      yield* TestClock.adjust("2 minutes")
      yield* Fiber.join(second)
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ ceiling: { limit: 1, interval: "2 hours" } }))))

  it.effect("does not count waiting calls before one that goes first", () =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      const exchange = (operation: string) =>
        Effect.flatMap(
          Permits.start(limiter, { ...call, operation }),
          (permit) => Effect.flatMap(respond(100, 98, 1), permit.settle)
        )
      yield* exchange("a")
      yield* Effect.forEach(Array.from({ length: 5 }), () => Effect.fork(exchange("a")))
      yield* TestClock.adjust(0)
      const first = yield* Effect.fork(Effect.exit(exchange("b")))
      yield* TestClock.adjust(1100)
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(first)))
    }).pipe(Effect.provide(
      RateLimiter.layerAdaptive({ ceiling: { limit: 1, interval: "1 second" }, maxWait: "5500 millis" })
    )))

  it.effect("names each field that is no limit", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Layer.build(RateLimiter.layerAdaptive({
        ceiling: [{ limit: 0, interval: 0 }, { limit: 1, interval: 1, operations: [] }],
        prior: { burst: 1.5, limit: NaN, interval: Infinity },
        reserve: NaN
      })))
      assert.instanceOf(error, InvalidInput)
      assert.deepStrictEqual(error.issues.map(({ path }) => path), [
        "ceiling.0.limit",
        "ceiling.0.interval",
        "prior.limit",
        "prior.interval",
        "ceiling.1.operations",
        "prior.burst",
        "reserve"
      ])
    }).pipe(Effect.scoped))
})
