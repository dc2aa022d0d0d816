import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Logger } from "effect"
import { InvalidInput } from "../../src/Errors.js"
import * as SharedStore from "../../src/SharedStore.js"
import { skewed } from "../support/fleet.js"
import * as VirtualTime from "../support/virtualTime.js"

describe("a store", () => {
  const virtually = <A, E>(effect: Effect.Effect<A, E>) => VirtualTime.run(effect, { most: "1 hour" })

  const silently = <A, E>(effect: Effect.Effect<A, E>) =>
    virtually(Effect.provide(effect, Logger.remove(Logger.defaultLogger)))

  /** A backend that fails, hangs or responds, with the times of its requests. */
  const backendOf = (state: { is: "up" | "down" | "hung" }) => {
    const requests: Array<number> = []
    const request = () =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        requests.push(now)
        if (state.is === "hung") return Effect.never
        return state.is === "down" ? Effect.fail("down") : Effect.succeed({ entry: undefined, now, swapped: false })
      })
    return { requests, backend: { get: request, swap: request } }
  }

  it.effect("that fails gets no request for a pause, longer each time up to a second, until it responds again", () =>
    silently(Effect.gen(function*() {
      const state = { is: "down" as "up" | "down" }
      const { requests, backend } = backendOf(state)
      const store = yield* SharedStore.make(backend)
      const from = yield* Clock.currentTimeMillis
      const during = (millis: number) =>
        Effect.repeatN(Effect.zipRight(Effect.ignore(store.get("key")), Effect.sleep(50)), millis / 50 - 1)
      yield* during(3700)
      state.is = "up"
      yield* during(1000)
      assert.deepStrictEqual(requests.splice(0, 8).map((at) => at - from), [0, 100, 300, 700, 1500, 2500, 3500, 4500])
      assert.strictEqual(requests.splice(0).length, 3, "each request reaches it again")
      state.is = "down"
      const later = yield* Clock.currentTimeMillis
      yield* during(400)
      assert.deepStrictEqual(requests.map((at) => at - later), [0, 100, 300])
    })))

  it.effect("fails by name if one request takes longer than a quarter of its timeout", () =>
    silently(Effect.gen(function*() {
      for (const [options, millis] of [[undefined, 50], [{ timeout: "1 second" }, 250]] as const) {
        const store = yield* SharedStore.make(backendOf({ is: "hung" }).backend, options)
        const [waited, error] = yield* Effect.timed(Effect.flip(store.get("key")))
        assert.strictEqual(Duration.toMillis(waited), millis)
        assert.strictEqual(error._tag, "StoreUnavailable")
        assert.strictEqual(Duration.toMillis(store.timeout), 4 * millis)
      }
    })))

  it.effect("is refused by name with a timeout of zero or without end", () =>
    Effect.gen(function*() {
      for (const timeout of [0, -5, Number.NaN, Infinity, "0 seconds"] as const) {
        const error = yield* Effect.flip(Layer.build(SharedStore.layer(SharedStore.memory, { timeout })))
        assert.instanceOf(error, InvalidInput)
        assert.deepInclude(error, {
          operation: "SharedStore.make",
          issues: [{ path: "timeout", message: "expected a finite time above zero" }]
        })
      }
    }).pipe(Effect.scoped))

  it.effect("is logged once when it fails and once when it is back", () =>
    virtually(Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ logLevel, message }) =>
        void lines.push(`${logLevel.label} ${message}`)
      )
      const state: { is: "up" | "down" | "hung" } = { is: "up" }
      yield* Effect.gen(function*() {
        const store = yield* SharedStore.make(backendOf(state).backend)
        for (const is of ["up", "down", "hung", "up", "up", "down"] as const) {
          state.is = is
          for (let nth = 0; nth < 3; nth++) yield* Effect.delay(Effect.ignore(store.get("key")), "1 second")
        }
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      const unavailable =
        "WARN the shared store is unavailable: until it is back, this process keeps rate limits and tokens of its own"
      assert.deepStrictEqual(lines, [unavailable, "INFO the shared store is available again", unavailable])
    })))

  it.effect("is unavailable for a key that fails, not for others", () =>
    virtually(Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
      const { backend } = backendOf({ is: "up" })
      const broken = new Set(["a", "b"])
      yield* Effect.gen(function*() {
        const store = yield* SharedStore.make({
          ...backend,
          get: (key) => broken.has(key) ? Effect.fail("WRONGTYPE") : backend.get()
        })
        const visit = Effect.forEach(["a", "b", "c"], (key) => Effect.isSuccess(store.get(key)))
        const visits = (count: number) => Effect.replicateEffect(Effect.delay(visit, "1 second"), count)
        for (const result of yield* visits(3)) assert.deepStrictEqual(result, [false, false, true])
        broken.delete("a")
        assert.deepStrictEqual(yield* visits(1), [[true, false, true]])
        assert.lengthOf(lines, 1, "it is not back yet")
        broken.delete("b")
        assert.deepStrictEqual(yield* visits(1), [[true, true, true]])
        assert.lengthOf(lines, 2)
        // A key that nobody reads any more does not keep the store unavailable for ever.
        broken.add("a")
        yield* visits(1)
        yield* Effect.sleep("2 minutes")
        yield* store.get("c")
        assert.lengthOf(lines, 4)
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
    })))

  it.effect("that is unavailable is logged although a key has failed all the time", () =>
    virtually(Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
      const { backend } = backendOf({ is: "up" })
      let isDown = false
      yield* Effect.gen(function*() {
        const store = yield* SharedStore.make({
          ...backend,
          get: (key) => key === "broken" || isDown ? Effect.fail("WRONGTYPE") : backend.get()
        })
        const visit = Effect.forEach(["broken", "a", "b"], (key) => Effect.ignore(store.get(key)))
        const visits = Effect.repeatN(Effect.delay(visit, "1 second"), 2)
        yield* visits
        assert.lengthOf(lines, 1)
        isDown = true
        yield* visits
        assert.lengthOf(lines, 2)
        isDown = false
        yield* visits
        assert.lengthOf(lines, 2)
        isDown = true
        yield* visits
        assert.lengthOf(lines, 3)
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
    })))

  it.effect("remembers the failures of the last 1,000 keys", () =>
    silently(Effect.gen(function*() {
      const { backend, requests } = backendOf({ is: "down" })
      const store = yield* SharedStore.make(backend)
      const get = (nth: number) => Effect.ignore(store.get(`key ${nth}`))
      for (let nth = 0; nth <= 1000; nth++) yield* get(nth)
      assert.lengthOf(requests, 1001)
      for (const nth of [1, 500, 1000]) yield* get(nth)
      assert.lengthOf(requests, 1001, "their pause is not over")
      yield* get(0)
      assert.lengthOf(requests, 1002)
    })))

  it.effect("is not unavailable because the caller of a request was interrupted", () =>
    virtually(Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
      const state: { is: "up" | "hung" } = { is: "hung" }
      const { requests, backend } = backendOf(state)
      yield* Effect.gen(function*() {
        const store = yield* SharedStore.make(backend)
        const fiber = yield* Effect.fork(Effect.uninterruptible(store.get("key")))
        yield* Effect.sleep(10)
        yield* Fiber.interrupt(fiber)
        state.is = "up"
        assert.isUndefined((yield* store.get("key")).entry)
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      assert.lengthOf(requests, 2)
      assert.deepStrictEqual(lines, [])
    })))

  it.effect("is unavailable if it interrupts a request itself", () =>
    silently(Effect.gen(function*() {
      let requests = 0
      const request = () => Effect.suspend(() => (requests++, Effect.interrupt))
      const store = yield* SharedStore.make({ get: request, swap: request })
      for (let nth = 0; nth < 3; nth++) {
        assert.strictEqual((yield* Effect.flip(store.get("key")))._tag, "StoreUnavailable")
      }
      assert.strictEqual(requests, 1)
    })))

  it.effect("in memory removes a value after its time to live, and not before", () =>
    virtually(Effect.gen(function*() {
      const { get, swap } = yield* SharedStore.memory
      const { entry } = yield* swap("key", undefined, { value: "value", timeToLive: Duration.millis(30) })
      yield* Effect.sleep(29)
      assert.deepStrictEqual((yield* get("key")).entry?.value, "value")
      yield* Effect.sleep(1)
      assert.isUndefined((yield* get("key")).entry)
      assert.isFalse((yield* swap("key", entry?.version, undefined)).swapped)
    })))

  it.effect("in memory removes an expired value that nobody reads, when another is written", () =>
    virtually(Effect.gen(function*() {
      const { clock, skew } = skewed(yield* Effect.clock)
      const { get, swap } = yield* Effect.withClock(SharedStore.memory, clock)
      const write = (key: string, timeToLive: Duration.DurationInput) =>
        swap(key, undefined, { value: key, timeToLive: Duration.decode(timeToLive) })
      yield* write("expired", "59 seconds")
      yield* write("valid", "61 seconds")
      skew.millis = 60_000
      yield* write("another", "1 second")
      // Time that goes back shows what is still there.
      skew.millis = 0
      assert.isUndefined((yield* get("expired")).entry)
      assert.strictEqual((yield* get("valid")).entry?.value, "valid")
      // A clock that was set back does not put off the next time.
      skew.millis = -60_000
      yield* write("early", "1 second")
      skew.millis = 0
      yield* write("late", "1 second")
      skew.millis = -60_000
      assert.isUndefined((yield* get("early")).entry)
    })))
})

describe("SharedStore.layerMemory", () => {
  it.effect("provides its store to all that share it", () =>
    Effect.gen(function*() {
      const store = yield* SharedStore.SharedStore
      const { entry, swapped } = yield* store.swap("k", undefined, { value: "v", timeToLive: Duration.seconds(1) })
      assert.isTrue(swapped)
      assert.deepStrictEqual((yield* store.get("k")).entry, entry)
    }).pipe(Effect.provide(SharedStore.layerMemory)))
})
