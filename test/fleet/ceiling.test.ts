/** A fleet's ceiling: all processes together never exceed it. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, FastCheck, Layer, Logger, Random, Scope } from "effect"
import { InvalidInput } from "../../src/Errors.js"
import * as Fleet from "../../src/Fleet.js"
import { disconnect } from "../../src/internal/runtime/runner.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import { assertKept } from "../support/ceilings.js"
import { type FlakyStore, flakyStore } from "../support/fleet.js"
import { callOf, exchange, type Limiter, makeProcess, makeStore, respond, virtually } from "../support/fleetStore.js"
import * as Permits from "../support/permits.js"
import * as VirtualTime from "../support/virtualTime.js"

const large = respond(100_000, 99_999, 1)

const ceiling = { limit: 4, interval: "30 minutes" } as const

const silently = Effect.provide(Logger.remove(Logger.defaultLogger))

/** Makes one call, and records the time at which it got its permit. */
const send = (limiter: Limiter, times: Array<number>, operation = "a") =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const { settle } = yield* restore(Permits.start(limiter, callOf(operation)))
      times.push(yield* Clock.currentTimeMillis)
      yield* Effect.flatMap(Effect.delay(large, 5), settle)
    })
  )

/** Makes a process that ends when another takes its place. */
const replaceable = (store: FlakyStore, options: RateLimiter.KnownLimits) => {
  const begin = Effect.gen(function*() {
    const scope = yield* Scope.make()
    return { limiter: yield* Scope.extend(makeProcess(store, options), scope), scope }
  })
  return Effect.map(begin, (first) => {
    let current = first
    return {
      limiter: () => current.limiter,
      replace: Effect.gen(function*() {
        const before = current
        current = yield* begin
        yield* Scope.close(before.scope, Exit.void)
      })
    }
  })
}

const plan = FastCheck.record({
  seed: FastCheck.integer(),
  processes: FastCheck.integer({ min: 2, max: 4 }),
  limit: FastCheck.integer({ min: 1, max: 12 }),
  interval: FastCheck.constantFrom(1000, 5000, 60_000),
  fails: FastCheck.boolean()
})

describe("a ceiling of a fleet", () => {
  it("is never exceeded while processes come and go, and at most doubled while the store fails and hangs", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(plan, async ({ fails, interval, limit, processes, seed }) => {
        const [all, exports]: [Array<number>, Array<number>] = [[], []]
        const ceiling = [{ limit, interval }, { limit: 2, interval: 2 * interval, operations: ["export"] }]
        const run = Effect.gen(function*() {
          const store = yield* flakyStore
          const members = yield* Effect.replicateEffect(replaceable(store, { ceiling }), processes)
          const worker = (nth: number) =>
            Effect.gen(function*() {
              for (let time = 0; time < 8; time++) {
                yield* Effect.sleep((yield* Random.nextIntBetween(0, 2)) * (yield* Random.nextIntBetween(0, interval)))
                const times: Array<number> = []
                const limiter = members[nth % processes]!.limiter()
                const call = Effect.ignore(send(limiter, times, nth % 4 === 0 ? "export" : "a"))
                yield* (yield* Random.next) < 0.2 ? Effect.timeoutOption(disconnect(call), interval / 3) : call
                yield* Effect.sync(() => {
                  all.push(...times)
                  if (nth % 4 === 0) exports.push(...times)
                })
              }
            })
          // Shorter than the interval: nobody makes a call alone. What a longer one means is tested below.
          const faults = Effect.gen(function*() {
            for (;;) {
              yield* Effect.sleep(yield* Random.nextIntBetween(1000, 1000 + 2 * interval)) // all are back by then
              const event = fails ? yield* Random.nextIntBetween(0, 3) : 0
              if (event === 0) yield* members[yield* Random.nextIntBetween(0, processes)]!.replace
              else store.state = event === 1 ? "down" : "hung"
              yield* Effect.sleep(yield* Random.nextIntBetween(0, interval - 600))
              store.state = "up"
            }
          })
          yield* Effect.forkScoped(faults)
          yield* Effect.forEach(Array.from({ length: 4 * processes }), (_, nth) => worker(nth), {
            concurrency: "unbounded"
          })
        })
        const silent = Effect.provide(Effect.scoped(run), Logger.remove(Logger.defaultLogger))
        await Effect.runPromise(VirtualTime.run(Effect.withRandom(silent, Random.make(seed)), { most: "10 hours" }))
        const most = fails ? 2 : 1
        assertKept(all.sort((one, other) => one - other), most * limit, interval - 1)
        assertKept(exports.sort((one, other) => one - other), most * 2, 2 * interval - 1)
      }),
      { numRuns: 10 }
    )
  }, 240_000)

  it("is at most doubled around outages longer than its interval, one soon after the other", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.integer(), FastCheck.integer({ min: 2, max: 4 }), async (seed, processes) => {
        const times: Array<number> = []
        const run = Effect.gen(function*() {
          const store = yield* flakyStore
          const fleet = yield* Effect.replicateEffect(
            makeProcess(store, { ceiling: { limit: 8, interval: 5000 } }),
            processes
          )
          const callers = fleet.flatMap((one) => Array.from({ length: 4 }, () => Effect.forever(send(one, times))))
          yield* Effect.forEach(callers, Effect.forkScoped)
          yield* Effect.sleep(5000)
          for (let nth = 0; nth < 6; nth++) {
            yield* Effect.sleep(yield* Random.nextIntBetween(300, 6000))
            store.state = (yield* Random.next) < 0.5 ? "down" : "hung"
            yield* Effect.sleep(yield* Random.nextIntBetween(0, 15_000))
            store.state = "up"
          }
        })
        await Effect.runPromise(
          VirtualTime.run(Effect.withRandom(silently(Effect.scoped(run)), Random.make(seed)), { most: "1 hour" })
        )
        assertKept(times, 16, 4999)
      }),
      { numRuns: 8 }
    )
  }, 60_000)

  it.effect("is used by all but a twentieth", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const fleet = yield* Effect.replicateEffect(makeProcess(store, { ceiling: { limit: 10, interval: 1000 } }), 3)
      const times: Array<number> = []
      const from = yield* Clock.currentTimeMillis
      yield* Effect.forEach(
        fleet,
        (one) => Effect.forEach(Array.from({ length: 100 }), () => send(one, times), { concurrency: 10 }),
        { concurrency: "unbounded" }
      )
      assertKept(times, 10, 999)
      assert.isAtMost(times.at(-1)! - from, 29_000 / 0.95)
    })))

  it.effect("is kept by a process whose clock is behind by an hour", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      store.ahead = 3_600_000
      const one = yield* makeProcess(store, { ceiling: { limit: 2, interval: "1 minute" } })
      const times: Array<number> = []
      for (let nth = 0; nth < 5; nth++) yield* Effect.forkScoped(send(one, times))
      yield* Effect.sleep("3 minutes")
      assertKept(times, 2, 59_999)
      assert.lengthOf(times, 5)
    })))

  it.effect("is divided during an outage, after one interval", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const fleet = yield* Effect.replicateEffect(makeProcess(store, { ceiling: { limit: 8, interval: 1000 } }), 4)
      const times: Array<number> = []
      for (const one of fleet) yield* Effect.forkScoped(Effect.forever(send(one, times)))
      for (const one of fleet) yield* Effect.forkScoped(Effect.forever(send(one, times)))
      yield* Effect.sleep(3000)
      store.state = "down"
      const before = times.length
      yield* Effect.sleep(900)
      assert.isAtMost(times.length - before, 8)
      yield* Effect.sleep(20_000)
      assert.isAbove(times.length - before, 100)
      store.state = "up"
      yield* Effect.sleep(5000)
      assertKept(times, 8, 999)
    })))

  it.effect("is divided among as many during an outage soon after another, before all have been seen again", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const fleet = yield* Effect.replicateEffect(makeProcess(store, { ceiling: { limit: 8, interval: 5000 } }), 4)
      const times: Array<number> = []
      const callers = fleet.flatMap((one) => Array.from({ length: 8 }, () => Effect.forever(send(one, times))))
      yield* Effect.forEach(callers, Effect.forkScoped)
      yield* Effect.sleep(6000)
      store.state = "down"
      yield* Effect.sleep(20_000)
      store.state = "up"
      yield* Effect.sleep(400)
      store.state = "down"
      const before = times.length
      yield* Effect.sleep(20_000)
      assert.isAbove(times.length - before, 16)
      assertKept(times.slice(before), 8, 4999)
    })))

  it.effect("allows background calls during an outage, however small the share of a process", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const fleet = yield* Effect.replicateEffect(makeProcess(store, { ceiling: { limit: 4, interval: 1000 } }), 4)
      const times: Array<number> = []
      for (const one of [...fleet, ...fleet]) yield* send(one, []) // each knows the others
      yield* Effect.sleep(2000)
      store.state = "down"
      yield* Effect.forkScoped(Effect.forever(RateLimiter.withBackground(send(fleet[0]!, times))))
      yield* Effect.sleep(10_000)
      assert.isAtLeast(times.length, 8)
      assertKept(times, 1, 999)
    })))

  it.effect("is kept while the store responds now slowly, now quickly", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const one = yield* makeProcess(store, { ceiling: { limit: 20, interval: "20 seconds" } })
      const times: Array<number> = []
      const alternate = Effect.sync(() => void (store.after = 40 - store.after))
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(alternate, Effect.sleep(70))))
      // Calls come all the time, and stop waiting soon.
      const calls = Effect.timeoutOption(send(one, times), 25)
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(calls, Effect.sleep(4))))
      yield* Effect.forkScoped(Effect.forever(send(one, times)))
      yield* Effect.sleep("2 minutes")
      assert.isAtLeast(times.length, 100)
      // A permit counts from its request by a clock that is a response late, and its call starts with the next response.
      assertKept(times, 20, 20_000 - 2 * 40)
    })))

  it.effect("costs one interval when the store has lost its values, and nothing when it was unavailable for a moment", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      const one = yield* makeProcess(store, { ceiling: { limit: 4, interval: "1 minute" } })
      const times: Array<number> = []
      const begun = yield* Clock.currentTimeMillis
      const sent = Effect.map(Clock.currentTimeMillis, (now) => times.filter((at) => at >= now - 1000).length)
      yield* send(one, times)
      yield* Effect.sleep(1000)
      store.state = "down"
      yield* Effect.forkScoped(send(one, times))
      yield* Effect.sleep(1000)
      assert.strictEqual(times.length, 1, "the others may have used it up")
      store.state = "up"
      yield* Effect.sleep(900)
      assert.strictEqual(yield* sent, 1, "the store knows better")
      yield* store.lose
      yield* Effect.forkScoped(send(one, times))
      yield* Effect.sleep("50 seconds")
      assert.strictEqual(times.length, 2)
      yield* Effect.sleep("15 seconds")
      assert.strictEqual(times.length, 3)
      assert.isAbove(times[2]! - begun, 60_000)
    })))

  for (
    const [title, minutes, isChanged] of [
      ["unchanged", 45, false],
      ["changed by another process", 45, true],
      ["removed in time", 120, false]
    ] as const
  ) {
    it.effect(`costs nothing when a process was idle and then loses the store for a moment: ${title}`, () =>
      Effect.gen(function*() {
        const store = yield* flakyStore
        const [one, other] = yield* Effect.all([makeProcess(store, { ceiling }), makeProcess(store, { ceiling })])
        yield* send(one, [])
        if (isChanged) yield* send(other, [])
        yield* Effect.sleep(Duration.minutes(minutes))
        store.state = "down"
        const times: Array<number> = []
        yield* Effect.forkScoped(send(one, times))
        yield* Effect.sleep(100)
        store.state = "up"
        yield* Effect.sleep(900)
        assert.strictEqual(times.length, 1)
        yield* Effect.forEach([one, other, one, other], (limiter) => Effect.forkScoped(send(limiter, times)))
        yield* Effect.sleep("31 minutes")
        assert.strictEqual(times.length, 5)
        assertKept(times, 4, 30 * 60_000 - 1)
      }).pipe(Effect.scoped, silently, (test) => VirtualTime.run(test, { most: "10 hours" })))
  }

  it.effect("costs nothing when the first request to an empty store fails", () =>
    virtually(Effect.gen(function*() {
      const store = yield* flakyStore
      store.state = "down"
      const times: Array<number> = []
      yield* Effect.forkScoped(send(yield* makeProcess(store, { ceiling }), times))
      yield* Effect.sleep(100)
      store.state = "up"
      yield* Effect.sleep(900)
      assert.strictEqual(times.length, 1)
    })))

  it.effect("costs nothing when the store has removed its value in time", () =>
    Effect.gen(function*() {
      const store = yield* flakyStore
      const one = yield* makeProcess(store, { ceiling: { limit: 4, interval: "1 minute" } })
      // Idle tenants are forgotten once an hour: this one is not yet idle for an hour then.
      const elsewhere = exchange(one, large, { tenant: "https://u.example.com/api/v2", operation: "a" })
      const times: Array<number> = []
      yield* elsewhere
      yield* Effect.sleep("1 minute")
      yield* send(one, times)
      yield* Effect.sleep("59 minutes")
      yield* elsewhere
      yield* Effect.sleep("2 minutes")
      const from = yield* Clock.currentTimeMillis
      yield* send(one, times)
      assert.isBelow(times[1]! - from, 100)
    }).pipe(Effect.scoped, (test) => VirtualTime.run(test, { most: "2 hours" })))

  it.effect("outlives an hour in the store", () =>
    virtually(Effect.gen(function*() {
      const ceiling = { limit: 1, interval: "3 hours" } as const
      const memory = yield* SharedStore.memory
      const lifetimes: Array<unknown> = []
      const backend: SharedStore.Backend = {
        ...memory,
        swap: (key, version, next) => {
          lifetimes.push(next?.timeToLive)
          return memory.swap(key, version, next)
        }
      }
      yield* send(yield* makeProcess({ backend }, { ceiling }), [])
      assert.include(JSON.stringify(lifetimes), "10800000")
    })))

  it.effect("names each field that is no limit", () =>
    Effect.gen(function*() {
      const layer = Fleet.layerRateLimiterWith({ ceiling: { limit: 0, interval: 1 } })
      const error = yield* Effect.flip(Layer.build(Layer.provide(layer, SharedStore.layerMemory)))
      assert.instanceOf(error, InvalidInput)
      assert.deepInclude(error, { operation: "Fleet.layerRateLimiterWith" })
      assert.deepStrictEqual(error.issues.map(({ path }) => path), ["ceiling.limit"])
    }).pipe(Effect.scoped))
})
