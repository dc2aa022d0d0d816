import { Headers } from "@effect/platform"
import { assert, beforeEach, describe, it } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Exit, FastCheck, Fiber, Layer, Logger, type Scope } from "effect"
import * as Fleet from "../../src/Fleet.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import { type FlakyStore, flakyStore, layerOf, lineTo } from "../support/fleet.js"
import { measure, scenarios } from "../support/goodput.js"
import * as VirtualTime from "../support/virtualTime.js"

// Virtual time leaves no room for anything else: the runner must hear of each test before the next.
beforeEach(() => new Promise((resolve) => setImmediate(resolve)))

const quiet = Logger.remove(Logger.defaultLogger)

const virtually = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>, most: Duration.DurationInput = "1 hour") =>
  VirtualTime.run(Effect.scoped(Effect.provide(effect, quiet)), { most })

const tenant = "https://t.example.com/api/v2"
const call: RateLimiter.Call = { tenant, operation: "listActionVersions" }
const other: RateLimiter.Call = { tenant, operation: "createUsersExport" }
const abroad: RateLimiter.Call = { tenant: "https://u.example.com/api/v2", operation: call.operation }

/** An answer with the three headers; `reset` in seconds from now on. */
const told = (limit: number, remaining: number, reset: number, more: Record<string, string> = {}) =>
  Effect.map(Clock.currentTimeMillis, (now): RateLimiter.LimitedResponse => ({
    status: more["retry-after"] === undefined ? 200 : 429,
    headers: Headers.fromInput({
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(remaining),
      "x-ratelimit-reset": String(Math.floor(now / 1000) + reset),
      "date": new Date(now).toUTCString(),
      ...more
    })
  }))

/** A process of a fleet: it lives as long as the scope. */
const process = (store: Pick<FlakyStore, "backend">, options: RateLimiter.Options = {}) =>
  Effect.map(
    Layer.build(Layer.fresh(Fleet.layerRateLimiter(options).pipe(Layer.provide(layerOf(store))))),
    Context.get(RateLimiter.RateLimiter)
  )

type Limiter = Effect.Effect.Success<ReturnType<typeof process>>

/** A call that is answered after 5 ms. */
const exchange = (limiter: Limiter, answer: Effect.Effect<RateLimiter.LimitedResponse | undefined>, which = call) =>
  Effect.zipRight(
    limiter.acquire(which),
    Effect.flatMap(Effect.delay(answer, 5), (answer) => limiter.observe(which, answer))
  )

const millis = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timed(effect), ([waited]) => Duration.toMillis(waited))

describe("a fleet as one client", () => {
  for (
    const { bounds, scenario } of [
      { scenario: scenarios[0], bounds: { goodput: 0.8, refused: 4 } },
      { scenario: scenarios[1], bounds: { goodput: 0.95, refused: 3 } },
      { scenario: scenarios[2], bounds: { goodput: 0.9, refused: 1 } }
    ]
  ) {
    for (const clients of [2, 8]) {
      for (const seed of clients === 2 ? [2, 3] : [1, 2, 3, 5]) {
        it.effect(`${clients} processes, ${scenario.name}, seed ${seed}`, () =>
          Effect.gen(function*() {
            let store: FlakyStore | undefined
            const limiter = Fleet.layerRateLimiter().pipe(
              Layer.provide(Layer.unwrapEffect(Effect.suspend(() =>
                store === undefined
                  ? Effect.map(flakyStore, (made) => layerOf(store = made))
                  : Effect.succeed(layerOf(store))
              )))
            )
            const result = yield* measure(scenario, seed, () => limiter, clients)
            assert.strictEqual(result.failed, 0, JSON.stringify(result))
            assert.isAtMost(result.refused, bounds.refused, JSON.stringify(result))
            assert.isAtLeast(result.goodput, bounds.goodput, JSON.stringify(result))
          }), 60_000)
      }
    }
  }

  it.effect("knows in every process what one of them was told", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const [one, two] = [yield* process(store), yield* process(store)]
      yield* exchange(one, told(50, 49, 1))
      yield* Effect.sleep(50)
      yield* exchange(two, told(50, 48, 1), other)
      const status = (yield* two.status).find(({ operation }) => operation === call.operation)
      assert.strictEqual(status?.limit, 50)
      const now = yield* Clock.currentTimeMillis
      yield* exchange(one, told(50, 0, 9, { "retry-after": "30" }))
      yield* Effect.sleep(100)
      assert.isAtLeast(yield* millis(two.acquire(other)), 29_000, "it asked all to wait")
      assert.isAtLeast(yield* Clock.currentTimeMillis, now + 30_000)
    })))

  it.effect("counts by the store's clock, whatever the local ones show", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const one = yield* process(store)
      const clock = yield* Effect.clock
      const ahead: Clock.Clock = {
        ...clock,
        [Clock.ClockTypeId]: Clock.ClockTypeId,
        unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() + 60_000,
        unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos() + 60_000_000_000n,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + 60_000),
        currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + 60_000_000_000n),
        sleep: (duration) => clock.sleep(duration)
      }
      const two = yield* Effect.withClock(process(store), ahead)
      const { ask, refused, served } = bucket(10, 10)
      const from = yield* Clock.currentTimeMillis
      const many = (limiter: Limiter) =>
        Effect.forEach(Array.from({ length: 50 }), () => exchange(limiter, ask), { concurrency: 10, discard: true })
      // What is asked for lives by the true clock.
      yield* Effect.all([many(one), Effect.withClock(many(two), clock)], { concurrency: "unbounded" })
      assert.deepStrictEqual([served(), refused()], [100, 0])
      assert.isAtMost((yield* Clock.currentTimeMillis) - from, 90 / 10 * 1000 / 0.9)
    })))

  it.effect("keeps tenants apart in one process, and in the store", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const one = yield* process(store)
      yield* exchange(one, told(5, 4, 1))
      yield* exchange(one, told(5, 0, 60, { "retry-after": "60" }))
      assert.isBelow(yield* millis(exchange(one, told(50, 49, 1), abroad)), 100)
      assert.isAtLeast(yield* millis(one.acquire(call)), 58_000)
      const values = store.values()
      assert.strictEqual(values.length, 2)
      assert.notDeepEqual(JSON.parse(values[0] ?? "").learned, JSON.parse(values[1] ?? "").learned)
      assert.deepStrictEqual((yield* one.status).map(({ limit, tenant }) => [tenant, limit]), [[tenant, 5], [
        abroad.tenant,
        50
      ]])
    })))

  it.effect("refuses at once what would wait too long, and leaves the reserve to the others", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const one = yield* process(store, { maxWait: "1 second" })
      yield* exchange(one, told(10, 9, 60))
      yield* exchange(one, told(10, 0, 600, { "retry-after": "600" }))
      yield* Effect.sleep(50)
      const [waited, exit] = yield* Effect.timed(Effect.exit(one.acquire(call)))
      assert.isTrue(Exit.isFailure(exit))
      assert.isBelow(Duration.toMillis(waited), 50)
    })))

  it.effect("lets go at once what may go, however short it may wait", () =>
    virtually(Effect.gen(function*() {
      const one = yield* process(yield* flakyStore, { maxWait: 0 })
      yield* exchange(one, told(10, 9, 60))
      yield* exchange(one, told(10, 8, 60))
    })))

  it.effect("is told of a process that goes, even by an interruption, and hears nothing of it afterwards", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const near: SharedStore.Backend = {
        get: (key) => Effect.delay(store.backend.get(key), 2),
        swap: (...change) => Effect.delay(store.backend.swap(...change), 2)
      }
      const worker = Effect.flatMap(
        process({ backend: near }),
        (one) => Effect.zipRight(one.acquire(call), Effect.never)
      )
      const fiber = yield* Effect.fork(Effect.scoped(worker))
      yield* Effect.sleep(500)
      yield* Fiber.interrupt(fiber)
      store.state = "down"
      const trips = store.trips()
      yield* Effect.sleep("1 minute")
      assert.strictEqual(store.trips(), trips)
      assert.deepStrictEqual(JSON.parse(store.values()[0] ?? "").members, {})
    })))

  it.effect("gets back what interrupted callers and closed processes have taken", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const one = yield* process(store)
      yield* exchange(one, told(50, 49, 1))
      for (let nth = 0; nth < 40; nth++) {
        const fiber = yield* Effect.fork(Effect.zipRight(one.acquire(call), Effect.never))
        yield* Effect.sleep(nth % 3)
        yield* Fiber.interrupt(fiber)
      }
      yield* Effect.scoped(
        Effect.flatMap(process(store), (two) => Effect.zipRight(two.acquire(call), two.observe(call, undefined)))
      )
      yield* Effect.sleep("1 second")
      yield* exchange(one, told(50, 48, 1))
      yield* Effect.sleep("1 second")
      const [value] = store.values()
      const { learned, members } = JSON.parse(value ?? "")
      assert.deepStrictEqual(Object.values<any>(members).map(({ lanes, waiting }) => [lanes, waiting]), [[{}, 0]])
      for (const { supply } of learned.buckets) assert.strictEqual(supply.started - supply.ended, 0)
    })))

  it.effect("forgets the calls of a process that is gone", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const line = lineTo(store)
      const [one, dead] = [yield* process(store), yield* process(line)]
      yield* exchange(one, told(20, 19, 1))
      yield* Effect.sleep(50)
      for (let nth = 0; nth < 5; nth++) yield* dead.acquire(call)
      line.cut()
      yield* Effect.sleep("11 seconds")
      yield* exchange(one, told(20, 19, 1))
      yield* Effect.sleep("1 second")
      const { learned, members } = JSON.parse(store.values()[0] ?? "")
      assert.strictEqual(Object.keys(members).length, 1)
      assert.strictEqual(learned.buckets[0].supply.started - learned.buckets[0].supply.ended, 0)
    })))
})

/** A bucket that counts what it was asked for, by the clock of here and now. */
const bucket = (burst: number, perSecond: number) => {
  let [level, at, refused, served] = [burst, 0, 0, 0]
  const ask = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    level = Math.min(burst, level + (at === 0 ? 0 : now - at) * perSecond / 1000)
    at = now
    const isRefused = level < 1
    if (isRefused) refused++
    else {
      served++
      level--
    }
    return Effect.map(
      told(
        burst,
        Math.max(0, Math.floor(level)),
        Math.ceil((burst - level) / perSecond),
        isRefused ? { "retry-after": "1" } : {}
      ),
      (answer) => answer
    )
  })
  return { ask, refused: () => refused, served: () => served }
}

describe("while the store is away", () => {
  for (const lost of [true, false]) {
    it.effect(`the fleet goes on, and shares again when it is back${lost ? ", empty" : ""}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* flakyStore
        const fleet = yield* Effect.all(Array.from({ length: 8 }, () => process(store)))
        const { ask, refused, served } = bucket(50, 32)
        const from = yield* Clock.currentTimeMillis
        const work = Effect.forEach(
          fleet,
          (limiter) =>
            Effect.forEach(Array.from({ length: 100 }), () => exchange(limiter, ask), {
              concurrency: 25,
              discard: true
            }),
          { concurrency: "unbounded", discard: true }
        )
        yield* Effect.fork(
          Effect.gen(function*() {
            yield* Effect.sleep("6 seconds")
            store.state = "down"
            if (lost) yield* store.lose
            yield* Effect.sleep("3 seconds")
            store.state = "up"
          })
        )
        yield* work
        const seconds = ((yield* Clock.currentTimeMillis) - from) / 1000
        assert.isAtMost(refused(), 8, `of ${served()}`)
        assert.isAtLeast(served(), 790)
        assert.isAtMost(seconds, (800 - 50) / 32 / 0.9)
      })))
  }

  it.effect("a store that hangs delays a call by its timeout, and no more", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      store.state = "hung"
      const one = yield* process(store)
      const { ask, refused } = bucket(50, 16)
      assert.isAtMost(yield* millis(exchange(one, ask)), 110)
      assert.isAtMost(yield* millis(exchange(one, ask)), 110)
      assert.strictEqual(refused(), 0)
    })))

  it.effect("a store that is slow, and lets others go first, delays a call by its timeout, and no more", () =>
    virtually(Effect.gen(function*() {
      const { backend } = yield* flakyStore
      let turn = 0
      const slow: SharedStore.Backend = {
        get: (key) => Effect.delay(backend.get(key), 45),
        swap: (key, version, next) =>
          Effect.delay(
            turn++ % 2 === 0
              ? Effect.map(backend.get(key), (seen) => ({ ...seen, swapped: false }))
              : backend.swap(key, version, next),
            45
          )
      }
      const one = yield* process({ backend: slow })
      yield* exchange(one, told(50, 49, 1))
      for (let nth = 0; nth < 40; nth++) {
        yield* Effect.sleep(nth * 7)
        assert.isAtMost(yield* millis(exchange(one, told(50, 49, 1))), 200 + 5)
      }
    })))

  it.effect("a store that cannot be interrupted, fails at once, or knows no time delays a call no longer", () =>
    virtually(Effect.gen(function*() {
      const stuck = Effect.uninterruptible(Effect.delay(Effect.fail("late"), "5 seconds"))
      const thrown = (): never => {
        throw new Error("not an effect")
      }
      const timeless = Effect.succeed({ entry: undefined, now: NaN, swapped: true })
      for (const request of [() => stuck, thrown, () => Effect.die("defect"), () => timeless]) {
        const backend = { get: request, swap: request }
        assert.isTrue(Exit.isFailure(yield* Effect.exit((yield* SharedStore.make(backend)).get("key"))))
        const one = yield* process({ backend })
        const { ask } = bucket(50, 16)
        assert.isAtMost(yield* millis(exchange(one, ask)), 210)
      }
    })))

  it.effect("one warning tells of it", () =>
    VirtualTime.run(
      Effect.scoped(Effect.gen(function*() {
        const lines: Array<string> = []
        const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
        const store = yield* flakyStore
        yield* Effect.gen(function*() {
          const one = yield* process(store)
          const { ask } = bucket(50, 16)
          for (const state of ["up", "down", "up"] as const) {
            store.state = state
            for (let nth = 0; nth < 30; nth++) yield* Effect.zipRight(exchange(one, ask), Effect.sleep(100))
          }
        }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
        assert.deepStrictEqual(lines.map((line) => line.includes("is unavailable")), [true, false])
      })),
      { most: "1 hour" }
    ))

  it.effect("whatever lies in the store, calls go on", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(
          FastCheck.oneof(
            FastCheck.string(),
            FastCheck.json(),
            FastCheck.jsonValue().map((learned) =>
              JSON.stringify({
                at: 1,
                members: { a: learned },
                learned: {
                  buckets: [learned, { id: "1", limit: 5, supply: learned }],
                  lanes: { listActionVersions: learned }
                }
              })
            )
          ),
          (value) =>
            Effect.runPromise(virtually(Effect.gen(function*() {
              const store = yield* flakyStore
              yield* Effect.orDie(
                store.backend.swap(`limit:1:${tenant}`, undefined, { value, timeToLive: Duration.hours(1) })
              )
              const one = yield* process(store)
              const { ask, refused } = bucket(50, 16)
              for (let nth = 0; nth < 5; nth++) yield* exchange(one, ask)
              assert.strictEqual(refused(), 0)
            })))
        ),
        { numRuns: 60 }
      )
    ))
})
