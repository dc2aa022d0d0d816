/** Several processes of a fleet in virtual time, with a store that can fail. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, FastCheck, Fiber, Layer, Logger, Option, type Scope } from "effect"
import * as Fleet from "../../src/Fleet.js"
import { type FleetSnapshot, makeFormat } from "../../src/internal/fleet/snapshotFormat.js"
import type * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import { type FlakyStore, flakyStore, layerOf, lineTo } from "../support/fleet.js"
import {
  acquire,
  bucket,
  call,
  exchange,
  format,
  ignoredWarning,
  key,
  type Limiter,
  limitsOf,
  makeProcess,
  many,
  respond,
  tenant,
  warnings
} from "../support/fleetStore.js"
import { measure, scenarios } from "../support/goodput.js"
import * as Permits from "../support/permits.js"
import * as VirtualTime from "../support/virtualTime.js"

const quiet = Logger.remove(Logger.defaultLogger)

const virtually = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>, most: Duration.DurationInput = "1 hour") =>
  VirtualTime.run(Effect.scoped(Effect.provide(effect, quiet)), { most })

const other: RateLimiter.Call = { tenant, operation: "b" }
const abroad: RateLimiter.Call = { tenant: "https://u.example.com/api/v2", operation: call.operation }

/** The stored value of the first tenant. */
const snapshotOf = (store: FlakyStore): FleetSnapshot => Option.getOrThrow(format.decode(store.values()[0] ?? ""))

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
            const limiter = Fleet.layerRateLimiter.pipe(
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
          }))
      }
    }
  }

  it.effect("shares the rate-limit headers of each response", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const [one, two] = [yield* makeProcess(store), yield* makeProcess(store)]
      yield* exchange(one, respond(50, 49, 1))
      yield* Effect.sleep(50)
      yield* exchange(two, respond(50, 48, 1), other)
      const status = (yield* two.status).find(({ operation }) => operation === call.operation)
      assert.strictEqual(status?.limit, 50)
      const now = yield* Clock.currentTimeMillis
      yield* exchange(one, respond(50, 0, 9, { "retry-after": "30" }))
      yield* Effect.sleep(100)
      assert.isAtLeast(yield* millis(acquire(two, other)), 29_000, "the service asked for a pause")
      assert.isAtLeast(yield* Clock.currentTimeMillis, now + 30_000)
    })))

  it.effect("forgets tenants without calls for an hour, also while the store is down", () =>
    virtually(
      Effect.gen(function*() {
        const store = yield* flakyStore
        const limiter = yield* makeProcess(store)
        const tenants = Effect.map(limiter.status, (all) => all.map(({ tenant }) => tenant))
        const ofTenant = (name: string): RateLimiter.Call => ({ tenant: name, operation: "a" })
        yield* exchange(limiter, respond(50, 49, 1), ofTenant("one"))
        store.state = "down"
        yield* exchange(limiter, respond(50, 49, 1), ofTenant("two"))
        store.state = "up"
        yield* acquire(limiter, ofTenant("in flight"))
        yield* Effect.sleep("60 minutes")
        store.state = "down"
        yield* Effect.sleep("10 seconds")
        yield* exchange(limiter, respond(50, 49, 1), ofTenant("three"))
        assert.sameMembers(yield* tenants, ["in flight", "three"])
        store.state = "up"
        yield* Effect.sleep("5 seconds")
        yield* exchange(limiter, respond(50, 49, 1), ofTenant("one"))
        assert.sameMembers(yield* tenants, ["in flight", "three", "one"])
      }),
      "3 hours"
    ))

  it.effect("keeps tenants that had a call within the last hour", () =>
    virtually(
      Effect.gen(function*() {
        const limiter = yield* makeProcess(yield* flakyStore)
        yield* exchange(limiter, respond(50, 49, 1))
        yield* Effect.sleep("59 minutes")
        yield* exchange(limiter, respond(50, 49, 1), abroad)
        yield* Effect.sleep("1 minute")
        yield* exchange(limiter, respond(50, 49, 1), { ...call, tenant: "third" })
        assert.deepStrictEqual((yield* limiter.status).map(({ tenant }) => tenant), [abroad.tenant, "third"])
      }),
      "2 hours"
    ))

  it.effect("forgets a tenant although another process had a call in flight when this one last read the store", () =>
    virtually(
      Effect.gen(function*() {
        const store = yield* flakyStore
        const [one, two] = [yield* makeProcess(store), yield* makeProcess(store)]
        yield* exchange(one, respond(50, 49, 1))
        yield* Effect.sleep(100)
        const held = yield* Permits.start(two, call)
        yield* Effect.sleep(100)
        yield* exchange(one, respond(50, 48, 1))
        yield* Effect.sleep(1000)
        yield* held.settle(yield* respond(50, 47, 1))
        yield* Effect.sleep("61 minutes")
        yield* exchange(one, respond(50, 49, 1), abroad)
        assert.deepStrictEqual((yield* one.status).map(({ tenant }) => tenant), [abroad.tenant])
      }),
      "3 hours"
    ))

  it.effect("counts by the store's clock, whatever the local clocks show", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const one = yield* makeProcess(store)
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
      const two = yield* Effect.withClock(makeProcess(store), ahead)
      const { ask, refused, served } = bucket(10, 10)
      const from = yield* Clock.currentTimeMillis
      const many = (limiter: Limiter) =>
        Effect.forEach(Array.from({ length: 50 }), () => exchange(limiter, ask), { concurrency: 10, discard: true })
      // The service lives by the true clock.
      yield* Effect.all([many(one), Effect.withClock(many(two), clock)], { concurrency: "unbounded" })
      assert.deepStrictEqual([served(), refused()], [100, 0])
      assert.isAtMost((yield* Clock.currentTimeMillis) - from, 90 / 10 * 1000 / 0.9)
    })))

  it.effect("keeps tenants apart in a process and in the store", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const one = yield* makeProcess(store)
      yield* exchange(one, respond(5, 4, 1))
      yield* exchange(one, respond(5, 0, 60, { "retry-after": "60" }))
      assert.isBelow(yield* millis(exchange(one, respond(50, 49, 1), abroad)), 100)
      assert.isAtLeast(yield* millis(acquire(one, call)), 58_000)
      const limits = store.values().map((value) => Option.getOrThrow(format.decode(value)).limits)
      assert.strictEqual(limits.length, 2)
      assert.notDeepEqual(limits[0], limits[1])
      assert.deepStrictEqual((yield* one.status).map(({ limit, tenant }) => [tenant, limit]), [[tenant, 5], [
        abroad.tenant,
        50
      ]])
    })))

  it.effect("refuses at once a call that would wait longer than maxWait", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const one = yield* makeProcess(store, { maxWait: "1 second" })
      yield* exchange(one, respond(10, 9, 60))
      yield* exchange(one, respond(10, 0, 600, { "retry-after": "600" }))
      yield* Effect.sleep(50)
      const [waited, exit] = yield* Effect.timed(Effect.exit(Permits.start(one, call)))
      assert.isTrue(Exit.isFailure(exit))
      assert.isBelow(Duration.toMillis(waited), 50)
    })))

  it.effect("starts a call that need not wait, even with a maxWait of 0", () =>
    virtually(Effect.gen(function*() {
      const one = yield* makeProcess(yield* flakyStore, { maxWait: 0 })
      assert.strictEqual(yield* millis(exchange(one, respond(10, 9, 60))), 5)
      assert.strictEqual(yield* millis(exchange(one, respond(10, 8, 60))), 5)
    })))

  it.effect("loses a process that is interrupted, and is not visited by it afterwards", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const near: SharedStore.Backend = {
        get: (key) => Effect.delay(store.backend.get(key), 2),
        swap: (...change) => Effect.delay(store.backend.swap(...change), 2)
      }
      const worker = Effect.flatMap(
        makeProcess({ backend: near }),
        (one) => Permits.hold(one, call)
      )
      const fiber = yield* Effect.fork(Effect.scoped(worker))
      yield* Effect.sleep(500)
      yield* Fiber.interrupt(fiber)
      store.state = "down"
      const trips = store.trips()
      yield* Effect.sleep("1 minute")
      assert.strictEqual(store.trips(), trips)
      assert.deepStrictEqual(snapshotOf(store).members, {})
    })))

  it.effect("gets back the permits of interrupted calls and of processes that left", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const one = yield* makeProcess(store)
      yield* exchange(one, respond(50, 49, 1))
      for (let nth = 0; nth < 40; nth++) {
        const fiber = yield* Effect.fork(Permits.hold(one, call))
        yield* Effect.sleep(nth % 3)
        yield* Fiber.interrupt(fiber)
      }
      yield* Effect.scoped(
        Effect.flatMap(makeProcess(store), (two) => Effect.flatMap(acquire(two), ({ settle }) => settle(undefined)))
      )
      yield* Effect.sleep("1 second")
      yield* exchange(one, respond(50, 48, 1))
      yield* Effect.sleep("1 second")
      const { limits, members } = snapshotOf(store)
      assert.deepStrictEqual(
        Object.values(members).map(({ inFlight, waiting }) => [inFlight.operations, waiting]),
        [[{}, 0]]
      )
      for (const { estimator } of limits.buckets) assert.strictEqual(estimator.started, estimator.ended)
    })))

  it.effect("forgets the calls of a process that is gone", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const line = lineTo(store)
      const [one, dead] = [yield* makeProcess(store), yield* makeProcess(line)]
      yield* exchange(one, respond(20, 19, 1))
      yield* Effect.sleep(50)
      for (let nth = 0; nth < 5; nth++) yield* acquire(dead)
      line.cut()
      yield* Effect.sleep("11 seconds")
      yield* exchange(one, respond(20, 19, 1))
      yield* Effect.sleep("1 second")
      const { limits, members } = snapshotOf(store)
      assert.strictEqual(Object.keys(members).length, 1)
      for (const { estimator } of limits.buckets) assert.strictEqual(estimator.started, estimator.ended)
    })))
})

describe("while the store is unavailable", () => {
  for (const lost of [true, false]) {
    it.effect(`the fleet goes on, and shares again when the store is back${lost ? ", empty" : ""}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* flakyStore
        const fleet = yield* Effect.all(Array.from({ length: 8 }, () => makeProcess(store)))
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

  it.effect("a store that hangs delays a call by its timeout at most", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      store.state = "hung"
      const one = yield* makeProcess(store)
      const { ask, refused } = bucket(50, 16)
      assert.isAtMost(yield* millis(exchange(one, ask)), 110)
      assert.isAtMost(yield* millis(exchange(one, ask)), 110)
      assert.strictEqual(refused(), 0)
    })))

  it.effect("a store that is slow and refuses every other swap delays a call by its timeout at most", () =>
    virtually(Effect.gen(function*() {
      const { backend } = yield* flakyStore
      let swaps = 0
      const slow: SharedStore.Backend = {
        get: (key) => Effect.delay(backend.get(key), 45),
        swap: (key, version, next) =>
          Effect.delay(
            swaps++ % 2 === 0
              ? Effect.map(backend.get(key), (seen) => ({ ...seen, swapped: false }))
              : backend.swap(key, version, next),
            45
          )
      }
      const one = yield* makeProcess({ backend: slow })
      yield* exchange(one, respond(50, 49, 1))
      for (let nth = 0; nth < 40; nth++) {
        yield* Effect.sleep(nth * 7)
        assert.isAtMost(yield* millis(exchange(one, respond(50, 49, 1))), 200 + 5)
      }
    })))

  it.effect("a store that cannot be interrupted, fails or knows no time delays a call no longer", () =>
    virtually(Effect.gen(function*() {
      const stuck = Effect.uninterruptible(Effect.delay(Effect.fail("late"), "5 seconds"))
      const thrown = (): never => {
        throw new Error("not an effect")
      }
      const timeless = Effect.succeed({ entry: undefined, now: NaN, swapped: true })
      for (const request of [() => stuck, thrown, () => Effect.die("defect"), () => timeless]) {
        const backend = { get: request, swap: request }
        assert.isTrue(Exit.isFailure(yield* Effect.exit((yield* SharedStore.make(backend)).get("key"))))
        const one = yield* makeProcess({ backend })
        const { ask } = bucket(50, 16)
        assert.isAtMost(yield* millis(exchange(one, ask)), 210)
      }
    })))

  it.effect("one warning is logged", () =>
    VirtualTime.run(
      Effect.scoped(Effect.gen(function*() {
        const lines: Array<string> = []
        const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
        const store = yield* flakyStore
        yield* Effect.gen(function*() {
          const one = yield* makeProcess(store)
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
})

describe("a stored value of another version or shape", () => {
  const stored: FleetSnapshot = { writtenAt: 1, members: {}, limits: limitsOf(0, many) }
  const damage = FastCheck.oneof(
    FastCheck.string(),
    FastCheck.json(),
    FastCheck.jsonValue().map((unknown) => JSON.stringify({ ...JSON.parse(format.encode(stored)), unknown })),
    FastCheck.jsonValue().map((a) => JSON.stringify({ ...JSON.parse(format.encode(stored)), members: { a } })),
    FastCheck.constant(makeFormat(5).encode(stored))
  )

  const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
    VirtualTime.run(Effect.scoped(effect), { most: "2 hours" })

  it.effect("is ignored with one warning, and calls go on", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(damage, (value) =>
          Effect.runPromise(run(Effect.gen(function*() {
            const store = yield* flakyStore
            yield* Effect.orDie(store.backend.swap(key, undefined, { value, timeToLive: Duration.hours(1) }))
            const { lines, logger } = warnings()
            const { ask, refused } = bucket(50, 16)
            yield* Effect.flatMap(
              makeProcess(store),
              (one) => Effect.forEach(Array.from({ length: 5 }), () => exchange(one, ask))
            ).pipe(Effect.provide(logger))
            assert.strictEqual(refused(), 0)
            assert.deepStrictEqual(lines, [ignoredWarning])
          })))),
        { numRuns: 60 }
      )
    ))
})
