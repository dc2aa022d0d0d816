/** Tests of a process's visits to its store: when they happen, and how they end. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Logger } from "effect"
import * as RateLimiter from "../../src/RateLimiter.js"
import { assertKept } from "../support/ceilings.js"
import {
  acquire,
  begin,
  exchange,
  left,
  type Limiter,
  limitsOf,
  makeProcess,
  makeStore,
  many,
  respond,
  type Store,
  virtually
} from "../support/fleetStore.js"
import * as VirtualTime from "../support/virtualTime.js"

const large = respond(100_000, 99_999, 1)

/** The milliseconds between a time and each write. */
const writesSince = ({ writes }: Store, from: number) => writes.map(({ at }) => at - from)

describe("a process whose calls wait", () => {
  it.effect("starts no call between two visits, not even at the end of the pause", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { limit: 100, left: 1.5, perSecond: 5 })
      Object.assign(store, { before: 10, after: 10 })
      const one = yield* makeProcess(store)
      const { times } = yield* begin(one, 1)
      yield* Effect.sleep(40 + 250) // two requests and the pause
      yield* begin(one, 1)
      yield* Effect.sleep(50)
      assert.deepStrictEqual(times, [40 + 250 + 20])
    })))

  it.effect("visits the store after an eighth of the time in which a bucket fills, whatever other buckets hold", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const now = yield* Clock.currentTimeMillis
      const limits = limitsOf(now, { limit: 100, left: 50, perSecond: 100 })
      const [full] = limitsOf(now, { limit: 7, left: 7, perSecond: 1 }).buckets
      yield* store.put({
        writtenAt: now,
        members: {},
        limits: {
          ...limits,
          buckets: [...limits.buckets, { ...full!, id: "full" }],
          operations: { ...limits.operations, b: { ...limits.operations["a"]!, bucket: "full" } }
        }
      })
      yield* RateLimiter.withBackground(begin(yield* makeProcess(store, { reserve: 0.5 }), 60))
      yield* Effect.sleep(490)
      const [first, ...more] = writesSince(store, now)
      assert.strictEqual(first, 0)
      assert.lengthOf(more, 3)
      for (const [nth, at] of more.entries()) assert.closeTo(at, (nth + 1) * (125 + 10), 12 * (nth + 1))
    })))

  it.effect("visits the store after an eighth of a ceiling's interval", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const one = yield* makeProcess(store, {
        ceiling: [{ limit: 4, interval: 1000 }, { limit: 50, interval: 60_000 }]
      })
      for (let nth = 0; nth < 4; nth++) yield* Effect.zipLeft(exchange(one, large), Effect.sleep(45))
      const { times } = yield* begin(one, 4)
      yield* Effect.sleep(1200)
      const [first = NaN, second = NaN] = times
      assert.closeTo(first, 800 + 10, 12)
      assert.closeTo(second - first, 125 + 10, 12, "one of the calls could have started after 50 ms")
    })))
})

describe("the permit of an interrupted call", () => {
  /** Begins a call, and interrupts it during the last request of the first visit. */
  const interrupted = (limiter: Limiter, after: number) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(acquire(limiter))
      yield* Effect.sleep(after)
      yield* Fiber.interrupt(fiber)
      yield* Effect.sleep(50 - after)
    })

  it.effect("goes to the next call, which need not ask the store", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many)
      Object.assign(store, { before: 10, after: 10 })
      const one = yield* makeProcess(store)
      yield* interrupted(one, 25)
      const { times } = yield* begin(one, 1)
      yield* Effect.sleep(1)
      assert.deepStrictEqual(times, [0])
    })))

  it.effect("is returned below a ceiling, which counts a call from its start", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      Object.assign(store, { before: 10, after: 10 })
      const one = yield* makeProcess(store, { ceiling: { limit: 1, interval: 1000 } })
      yield* interrupted(one, 5)
      yield* Effect.sleep(800)
      const { settle, times } = yield* begin(one, 2)
      yield* Effect.sleep(500)
      yield* settle(yield* large)
      yield* Effect.sleep(2000)
      assert.lengthOf(times, 2)
      assertKept(times, 1, 1000 - 20)
    })))
})

describe("a damaged value", () => {
  for (
    const [title, ceiling, permit] of [
      ["goes on alone", undefined, 0],
      ["waits for that, and for no interval of a ceiling", { limit: 4, interval: "30 minutes" }, 250]
    ] as const
  ) {
    it.effect(`is replaced after a pause by a process that ${title}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* store.put("damaged")
        const from = yield* Clock.currentTimeMillis
        const { times } = yield* begin(yield* makeProcess(store, { ceiling }), 1)
        yield* Effect.sleep(300)
        assert.deepStrictEqual([times, writesSince(store, from)], [[permit], [250]])
      })))
  }
})

describe("a process that loses each swap", () => {
  it.effect("tries for a quarter of the store's timeout, and goes on without the store", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      Object.assign(store, { isContended: true, before: 10 })
      const { times } = yield* begin(yield* makeProcess(store), 1)
      yield* Effect.sleep(100)
      assert.lengthOf(times, 1)
      assert.isAtLeast(times[0]!, 50)
      assert.isAtMost(times[0]!, 80, "after a pause of 16 ms and two requests of 10 ms")
    })))

  it.effect("gives up after that time, too, if each swap is lost at once", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      store.isContended = true
      let swaps = 0
      const swap: typeof store.backend.swap = (...change) => {
        if (++swaps > 100) throw new Error("it does not give up")
        return store.backend.swap(...change)
      }
      const { times } = yield* begin(yield* makeProcess({ backend: { ...store.backend, swap } }), 1)
      yield* Effect.sleep(100)
      assert.lengthOf(times, 1)
      assert.isAtMost(swaps, 30)
    })))
})

describe("a ceiling", () => {
  const ceiling = { limit: 4, interval: "1 minute" } as const

  it.effect("counts what others have written when the first visit of a process fails", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const other = yield* makeProcess(store, { ceiling })
      for (let nth = 0; nth < 4; nth++) yield* exchange(other, large)
      yield* Effect.sleep(100)
      store.isDown = true
      const { times } = yield* begin(yield* makeProcess(store, { ceiling }), 1)
      yield* Effect.sleep(100)
      store.isDown = false
      yield* Effect.sleep(50_000)
      assert.deepStrictEqual(times, [])
      yield* Effect.sleep(11_000)
      assert.lengthOf(times, 1)
    })))

  for (const [isDown, permit] of [[false, 0], [true, 250]] as const) {
    it.effect(`costs nothing at the moment in which the store removes its value${isDown ? ", if a visit fails" : ""}`, () =>
      Effect.gen(function*() {
        const store = yield* makeStore
        const one = yield* makeProcess(store, { ceiling })
        // Idle tenants are forgotten once an hour: this one is not yet idle for an hour then.
        const elsewhere = exchange(one, large, { tenant: "https://u.example.com/api/v2", operation: "b" })
        yield* elsewhere
        yield* Effect.sleep("1 minute")
        yield* exchange(one, large)
        yield* Effect.sleep("59 minutes")
        yield* elsewhere
        const written = store.writes.filter(({ snapshot }) => "a" in snapshot.limits.operations).map(({ at }) => at)
        yield* Effect.sleep(Math.max(...written) + 3_600_000 - (yield* Clock.currentTimeMillis))
        store.isDown = isDown
        const { times } = yield* begin(one, 1)
        yield* Effect.sleep(100)
        store.isDown = false
        yield* Effect.sleep(900)
        assert.deepStrictEqual(times, [permit])
      }).pipe(
        Effect.scoped,
        Effect.provide(Logger.remove(Logger.defaultLogger)),
        (test) => VirtualTime.run(test, { most: "3 hours" })
      ))
  }
})
