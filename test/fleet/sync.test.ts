/** One process of a fleet and its store: reports, clocks, an unavailable store, and leaving. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Duration, Effect, Exit, Fiber, Scope } from "effect"
import { EstimatorState } from "../../src/internal/limiter/estimator/state.js"
import {
  begin,
  call,
  callOf,
  exchange,
  type Known,
  left,
  limitsOf,
  makeProcess,
  makeStore,
  many,
  member,
  type Members,
  members,
  nobody,
  noResponse,
  operationsInFlight,
  remaining,
  respond,
  startsAfter,
  startsAtOnce,
  type Store,
  tenant,
  virtually
} from "../support/fleetStore.js"
import * as Permits from "../support/permits.js"

describe("the entry of a process", () => {
  it.effect("counts its waiting calls and its calls in flight", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many, (now) => ({ gone: member(now, { seenAt: now - 60_000 }), x: member(now) }))
      const from = yield* Clock.currentTimeMillis
      yield* begin(yield* makeProcess(store), 30)
      yield* Effect.sleep(1)
      const { members: { x, ...own }, writtenAt } = yield* store.snapshot
      assert.strictEqual(writtenAt, from)
      assert.deepStrictEqual(x, member(from))
      const blocked = [{ operation: "a", since: from, isBackground: false }]
      const mine = member(from, { waiting: 10, blocked, operations: { a: 20 }, buckets: { 1: 20 } })
      assert.deepStrictEqual(Object.values(own), [mine])
      yield* Effect.sleep(4000)
      const { members: { x: _, ...later } } = yield* store.snapshot
      const [{ seenAt, ...rest } = mine] = Object.values(later)
      assert.isAbove(seenAt, from)
      assert.isAtMost(rest.waitingSince, from + 300, "the time since its last permit")
      assert.deepStrictEqual([rest.waiting, rest.inFlight], [mine.waiting, mine.inFlight])
    })))

  it.effect("has a unique id", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      for (let nth = 1; nth <= 3; nth++) {
        yield* begin(yield* makeProcess(store), 1)
        yield* Effect.sleep(100)
      }
      const ids = Object.keys((yield* store.snapshot).members)
      assert.strictEqual(ids.length, 3)
      for (const id of ids) assert.match(id, /^\w{12,}$/)
    })))
})

describe("the store's clock", () => {
  for (const ahead of [0, 3_600_000, -3_600_000]) {
    it.effect(`counts in the store, and the local one in the status: ${ahead} ms ahead`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        store.ahead = ahead
        const one = yield* makeProcess(store)
        const { settle } = yield* begin(one, 1)
        yield* Effect.sleep(10)
        yield* settle(yield* respond(10, 4, 6))
        yield* Effect.sleep(100)
        const [status] = yield* one.status
        const now = yield* Clock.currentTimeMillis
        const resetAt = status?.resetAt === undefined ? NaN : DateTime.toEpochMillis(status.resetAt)
        assert.isAbove(resetAt, now + 4000)
        assert.isBelow(resetAt, now + 20_000)
        yield* begin(one, 1)
        yield* Effect.sleep(10)
        assert.strictEqual((yield* store.snapshot).writtenAt, (yield* Clock.currentTimeMillis) - 10 + ahead)
      })))
  }

  for (const [title, by, most] of [["an hour", -3_600_000, 1500], ["half a second", -500, 2000]] as const) {
    it.effect(`may be set back by ${title}: waiting calls go on`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, { limit: 10, left: 2, perSecond: 2 })
        const one = yield* makeProcess(store)
        const { settle } = yield* begin(one, 1)
        yield* Effect.sleep(10)
        store.ahead = by
        const { times } = yield* begin(one, 2)
        yield* Effect.sleep(10)
        yield* settle()
        yield* Effect.sleep(4000)
        assert.strictEqual(times.length, 2)
        assert.isAtMost(times[0] ?? 0, most)
        if (by < -1000) return
        yield* begin(yield* makeProcess(store), 1)
        yield* Effect.sleep(10)
        const written = store.writes.map(({ snapshot: { writtenAt } }) => writtenAt)
        for (const [nth, at] of written.entries()) assert.isAtLeast(at, written[nth - 1] ?? 0, "time does not go back")
      })))
  }

  it.effect("never goes back between two writes, even if the last writer's was ahead", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const ahead = (yield* Clock.currentTimeMillis) + 500
      yield* left(store, many)
      yield* store.put({ ...(yield* store.snapshot), writtenAt: ahead })
      yield* begin(yield* makeProcess(store), 1)
      yield* Effect.sleep(10)
      assert.strictEqual((yield* store.snapshot).writtenAt, ahead)
    })))
})

describe("a process reports", () => {
  /** A process with calls in flight, and its writes from then on: the milliseconds, and its calls in flight. */
  const inFlight = (calls: number, options: Partial<Pick<Store, "before" | "after">> = {}) =>
    Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many)
      const one = yield* makeProcess(store)
      const { settle } = yield* begin(one, calls)
      yield* Effect.sleep(5)
      Object.assign(store, options)
      const from = yield* Clock.currentTimeMillis
      store.writes.length = 0
      const written = () =>
        store.writes.map(({ at, snapshot }) => [at - from, operationsInFlight(snapshot)[0]?.["a"] ?? 0] as const)
      return { store, one, settle, written }
    })

  it.effect("that it is there while it has calls in flight, and nothing else", () =>
    virtually(Effect.gen(function*() {
      const { settle, written } = yield* inFlight(2)
      yield* Effect.sleep(30_000)
      const beats = written()
      assert.deepStrictEqual(new Set(beats.map(([, calls]) => calls)), new Set([2]))
      assert.isAtLeast(beats.length, 6, "often enough not to count as gone")
      assert.isAtMost(beats.length, 15)
      yield* settle()
      yield* settle()
      yield* Effect.sleep(60_000)
      assert.deepStrictEqual(written().slice(beats.length).map(([, calls]) => calls), [0])
    })))

  it.effect("calls that end together with one write", () =>
    virtually(Effect.gen(function*() {
      const { settle, written } = yield* inFlight(10)
      for (let nth = 0; nth < 10; nth++) yield* Effect.zipRight(settle(), Effect.sleep(1))
      yield* Effect.sleep(1000)
      assert.deepStrictEqual(written().map(([, calls]) => calls), [0])
    })))

  it.effect("a refusal at once", () =>
    virtually(Effect.gen(function*() {
      const { settle, store, written } = yield* inFlight(3)
      yield* settle(yield* respond(100, 0, 100, { "retry-after": "7" }))
      yield* Effect.sleep(1)
      assert.deepStrictEqual(written(), [[0, 2]])
      const { times } = yield* begin(yield* makeProcess(store), 1)
      yield* Effect.sleep(6900)
      assert.deepStrictEqual(times, [])
    })))

  it.effect("the first response with a limit at once, and so one without", () =>
    virtually(Effect.gen(function*() {
      for (const response of [respond(100, 60, 40), noResponse]) {
        const store = yield* makeStore
        const { settle } = yield* begin(yield* makeProcess(store), 1)
        yield* Effect.sleep(5)
        store.writes.length = 0
        yield* settle(yield* response)
        yield* Effect.sleep(1)
        assert.strictEqual(store.writes.length, 1)
      }
    })))

  it.effect("calls that end during a visit with the next one, a refusal with one right after", () =>
    virtually(Effect.gen(function*() {
      const { settle, written } = yield* inFlight(4, { before: 20, after: 20 })
      yield* settle()
      yield* Effect.sleep(25) // the visit is under way
      yield* settle()
      yield* Effect.sleep(375)
      assert.deepStrictEqual(written(), [[35, 3], [90, 2]], "15 ms after the end of a call, or of a visit")
      yield* settle()
      yield* Effect.sleep(25)
      yield* settle(yield* respond(100, 0, 100, { "retry-after": "1" }))
      yield* Effect.sleep(375)
      const [[first, one], [second, none]] = written().slice(2) as [
        readonly [number, number],
        readonly [number, number]
      ]
      assert.deepStrictEqual([one, none], [1, 0])
      assert.strictEqual(second - first, 40, "without a pause")
    })))

  for (const [latency, calls, after] of [[0, 5, 10], [20, 5, 10], [20, 5, 25], [20, 5, 100]] as const) {
    it.effect(`that interrupted calls took nothing: requests of ${latency} ms, interrupted after ${after} ms`, () =>
      virtually(Effect.gen(function*() {
        const { one, store } = yield* inFlight(1, { before: latency, after: latency / 2 })
        assert.strictEqual(yield* remaining(one), 49)
        const fibers = yield* Effect.forEach(
          Array.from({ length: calls }),
          () => Effect.forkScoped(Permits.hold(one, call))
        )
        yield* Effect.sleep(after)
        yield* Effect.forEach(fibers, Fiber.interrupt)
        yield* Effect.sleep(3500)
        assert.strictEqual(yield* remaining(one), 49)
        const { members } = yield* store.snapshot
        assert.deepStrictEqual(
          Object.values(members).map(({ inFlight, waiting }) => [inFlight.operations, waiting]),
          [[{ a: 1 }, 0]]
        )
      })))
  }
})

/** A process that has read the store and had a call, and then loses the store. */
const alone = (known: Known, others: Members) =>
  Effect.gen(function*() {
    const store = yield* makeStore
    yield* left(store, known, others)
    const one = yield* makeProcess(store)
    const { settle } = yield* begin(one, 1)
    yield* Effect.sleep(5)
    yield* settle()
    yield* Effect.sleep(50)
    store.isDown = true
    return { store, one }
  })

describe("without the store, a process", () => {
  for (
    const [title, limit, others, permits, rest, later] of [
      ["if it was alone", 100, nobody, 19, 30, 30],
      ["with four others", 100, members("wxyz"), 4, 29, 7],
      ["with four others that waited", 100, members("wxyz", (now) => member(now, { waiting: 9 })), 4, 29, 7],
      [
        "with four others that are gone by now",
        100,
        members("wxyz", (now) => member(now, { seenAt: now - 8000 })),
        19,
        30,
        30
      ],
      ["with nine others and few calls", 6, members("qrstuvwxy"), 1, 0, 1],
      ["with nine others and two calls", 2, members("qrstuvwxy"), 1, 0, 1]
    ] as const
  ) {
    it.effect(`starts ${permits} calls at once ${title}`, () =>
      virtually(Effect.gen(function*() {
        const { one } = yield* alone({ limit, left: Math.min(50, limit), perSecond: limit === 100 ? 0.01 : 5 }, others)
        yield* Effect.sleep(3000)
        const { settle, times } = yield* begin(one, 30)
        yield* Effect.sleep(20)
        assert.strictEqual(times.length, permits)
        assert.strictEqual(yield* remaining(one), rest)
        // The assumed calls of the others end with its own.
        for (let nth = 0; nth < permits; nth++) yield* settle()
        yield* Effect.sleep(20)
        assert.strictEqual(times.length, later)
      })))
  }

  it.effect("leaves the others nothing of the first call of an operation", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many, members("x"))
      const one = yield* makeProcess(store)
      yield* exchange(one, noResponse)
      yield* Effect.sleep(100)
      store.isDown = true
      const before = yield* remaining(one)
      yield* begin(one, 1, callOf("b"))
      yield* Effect.sleep(20)
      assert.strictEqual(yield* remaining(one), Number(before) - 1)
    })))

  it.effect("leaves the others nothing of a bucket that is unknown", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const now = yield* Clock.currentTimeMillis
      const { buckets: _, operations: __, ...limits } = limitsOf(now, many)
      yield* store.put({
        writtenAt: now,
        members: members("stuvwxyz")(now),
        limits: { ...limits, buckets: [], operations: {} }
      })
      const one = yield* makeProcess(store)
      store.isDown = true
      for (let nth = 0; nth < 5; nth++) yield* exchange(one, Effect.succeed({ status: 200, headers: Headers.empty }))
      const { times } = yield* begin(one, 3)
      yield* Effect.sleep(50)
      assert.strictEqual(times.length, 3)
    })))

  it.effect("waits if the bucket cannot hold a call of each, until the others count as gone", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { limit: 6, left: 5, perSecond: 0.01 }, members("stuvwxyz"))
      const one = yield* makeProcess(store)
      yield* exchange(one, noResponse)
      yield* Effect.sleep(50)
      store.isDown = true
      const { times } = yield* begin(one, 1)
      yield* Effect.sleep(5000)
      assert.strictEqual(times.length, 0)
      yield* Effect.sleep(20_000)
      assert.strictEqual(times.length, 1)
    })))

  it.effect("learns from its own responses, and reports it to the other members later", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many, members("wxyz"))
      const one = yield* makeProcess(store)
      const { settle } = yield* begin(one, 2)
      yield* Effect.sleep(5)
      store.isDown = true
      yield* settle(yield* respond(100, 20, 80))
      yield* Effect.sleep(20)
      assert.strictEqual(yield* remaining(one), 20)
      yield* settle(yield* respond(100, 0, 100, { "retry-after": "30" }))
      yield* Effect.sleep(20)
      store.isDown = false
      yield* Effect.sleep(300)
      const { reads } = store
      assert.deepStrictEqual(operationsInFlight(yield* store.snapshot), Array.from({ length: 5 }, () => ({})))
      const { times } = yield* begin(one, 1)
      yield* Effect.sleep(29_500)
      assert.deepStrictEqual(times, [], "the service asked for a pause")
      assert.strictEqual(store.reads, reads, "swaps suffice again")
    })))
})

describe("a store that is back", () => {
  for (
    const [title, change, calls] of [
      ["as it was", () => Effect.void, 39],
      ["empty", (store: Store) => store.lose, 39],
      ["with less", (store: Store) => left(store, { ...many, left: 30 }), 30],
      ["with more", (store: Store) => left(store, { ...many, left: 90 }), 39],
      ["with a damaged value", (store: Store) => store.put("damaged"), 39]
    ] as ReadonlyArray<readonly [string, (store: Store) => Effect.Effect<unknown>, number]>
  ) {
    it.effect(`${title} is used with the lower estimate`, () =>
      virtually(Effect.gen(function*() {
        const { one, store } = yield* alone(many, nobody)
        const { settle } = yield* begin(one, 10)
        yield* Effect.sleep(100)
        assert.strictEqual(yield* remaining(one), 39)
        yield* change(store)
        store.isDown = false
        yield* Effect.sleep(300)
        assert.strictEqual(yield* remaining(one), calls)
        assert.deepStrictEqual(operationsInFlight(yield* store.snapshot), [{ a: 10 }])
        const two = yield* makeProcess(store)
        yield* begin(two, 1)
        yield* Effect.sleep(5)
        assert.strictEqual(yield* remaining(two), calls - 1, "a new process knows as much")
        // The responses of calls from before say nothing about the new counts.
        for (let nth = 0; nth < 10; nth++) yield* settle(yield* respond(100, 95, 1))
        yield* Effect.sleep(100)
        assert.strictEqual(yield* remaining(one), calls - 1)
        assert.deepStrictEqual(operationsInFlight(yield* store.snapshot).map(({ a = 0 }) => a).sort(), [0, 1])
      })))
  }

  it.effect("learns of the operations that began without it", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many)
      const one = yield* makeProcess(store)
      yield* exchange(one, noResponse)
      yield* Effect.sleep(100)
      store.isDown = true
      yield* exchange(one, respond(7, 3, 100), callOf("b"))
      yield* Effect.sleep(1000)
      store.isDown = false
      yield* Effect.sleep(1000)
      assert.hasAllKeys((yield* store.snapshot).limits.operations, ["a", "b"])
    })))

  it.effect("learns that nobody else uses a bucket only from a process that was alone", () =>
    virtually(Effect.gen(function*() {
      const [alone = 0, together = 0] = yield* Effect.forEach(
        ["", "x"],
        (others) =>
          Effect.scoped(Effect.gen(function*() {
            const store = yield* makeStore
            yield* left(store, { limit: 100, left: 80, perSecond: 2, isShared: true }, members(others))
            const one = yield* makeProcess(store)
            yield* exchange(one, noResponse)
            yield* Effect.sleep(100)
            store.isDown = true
            for (let nth = 0; nth < 3; nth++) {
              yield* exchange(one, respond(100, 0, 50))
              yield* exchange(one, respond(100, 99, 1))
            }
            store.isDown = false
            yield* Effect.sleep(1000)
            return yield* startsAtOnce(store)
          }))
      )
      assert.isAbove(alone, together)
    })))

  it.effect("learns nothing of the calls that others were assumed to make", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many, members("wxyz"))
      const one = yield* makeProcess(store)
      yield* exchange(one, noResponse)
      yield* Effect.sleep(50)
      store.isDown = true
      const { settle, times } = yield* begin(one, 4)
      yield* Effect.sleep(100)
      assert.strictEqual(times.length, 4)
      store.isDown = false
      yield* Effect.sleep(300)
      for (let nth = 0; nth < 4; nth++) yield* settle()
      yield* Effect.sleep(100)
      // Each of the four others was assumed to make four calls, too: they are gone, but not in flight.
      assert.strictEqual(yield* startsAtOnce(store), yield* startsAfter({ ...many, left: many.left - 1 - 4 - 16 }))
    })))
})

describe("a store that is hard to use", () => {
  it.effect("delays a call no longer than its timeout, even if others win each swap", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      Object.assign(store, { isContended: true, before: 5 })
      const { times } = yield* begin(yield* makeProcess(store), 1)
      yield* Effect.sleep(200)
      assert.strictEqual(times.length, 1)
    })))

  it.effect("may know nothing of a bucket but its limit: calls go on, with and without the store", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const now = yield* Clock.currentTimeMillis
      const limits = limitsOf(now, many)
      const [bucket] = limits.buckets
      yield* store.put({
        writtenAt: now,
        members: {},
        limits: { ...limits, buckets: [{ ...bucket!, estimator: new EstimatorState() }] }
      })
      const one = yield* makeProcess(store)
      yield* exchange(one, noResponse)
      assert.deepStrictEqual(yield* one.status, [{ ...call, waiting: 0 }])
      yield* Effect.sleep(100)
      store.isDown = true
      const { settle, times } = yield* begin(one, 1)
      yield* Effect.sleep(300)
      assert.strictEqual(times.length, 1)
      yield* settle()
      yield* exchange(one, noResponse)
      store.isDown = false
      store.writes.length = 0
      yield* Effect.sleep(300)
      assert.isAbove(store.writes.length, 0, "it rejoins the others")
    })))
})

describe("a process that leaves", () => {
  for (
    const [before, after, millis] of [[20, 0, 5], [0, 20, 5], [10, 10, 5], [10, 10, 15], [10, 10, 25]] as const
  ) {
    it.effect(`during a visit ends it and does not come back: ${before} + ${after} ms, after ${millis}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, many)
        Object.assign(store, { before, after })
        const scope = yield* Scope.make()
        const one = yield* Scope.extend(makeProcess(store), scope)
        yield* Effect.forkIn(Effect.exit(Permits.start(one, call)), scope)
        yield* Effect.sleep(millis)
        yield* Scope.close(scope, Exit.void)
        const { length } = store.writes
        yield* Effect.sleep(20_000)
        assert.strictEqual(store.writes.length, length)
        assert.deepStrictEqual((yield* store.snapshot).members, {})
      })))
  }

  it.effect("grants nothing to its waiting calls", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { ...many, left: 0 })
      const scope = yield* Scope.make()
      const one = yield* Scope.extend(makeProcess(store), scope)
      yield* Effect.forkScoped(Effect.exit(Permits.start(one, call)))
      yield* Effect.sleep(5)
      yield* left(store, many)
      yield* Scope.close(scope, Exit.void)
      const other = yield* makeProcess(store)
      yield* exchange(other, noResponse)
      assert.isAtLeast((yield* remaining(other)) ?? 0, many.left - 1)
    })))

  it.effect("does not wait for a store that it found unavailable", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many)
      const scope = yield* Scope.make()
      const one = yield* Scope.extend(makeProcess(store), scope)
      store.isDown = true
      yield* exchange(one, noResponse)
      yield* Effect.sleep(150) // it may be asked again, but is not yet
      Object.assign(store, { isDown: false, before: 10_000 })
      const [waited] = yield* Effect.timed(Scope.close(scope, Exit.void))
      assert.strictEqual(Duration.toMillis(waited), 0)
    })))

  it.effect("leaves all tenants at the same time", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const scope = yield* Scope.make()
      const one = yield* Scope.extend(makeProcess(store), scope)
      for (let nth = 0; nth < 10; nth++) yield* exchange(one, noResponse, { ...call, tenant: `${tenant}${nth}` })
      store.before = 30
      const [waited] = yield* Effect.timed(Scope.close(scope, Exit.void))
      assert.strictEqual(Duration.toMillis(waited), 30)
    })))
})
