/** Permits of one process of a fleet; the other members are made up. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { EstimatorState } from "../../src/internal/limiter/estimator/state.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import {
  acquire,
  begin,
  call,
  callOf,
  exchange,
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
  respond,
  startsAfter,
  startsAtOnce,
  type Store,
  virtually,
  withEstimate
} from "../support/fleetStore.js"

describe("the permits of a process", () => {
  for (
    const [title, others, permits] of [
      ["nobody else", nobody, 20],
      ["four idle members", members("wxyz"), 20],
      ["four members that wait", members("wxyz", (now) => member(now, { waiting: 9 })), 10],
      [
        "a member with calls in flight",
        members("x", (now) => member(now, { buckets: { 1: 15 }, operations: { a: 15 } })),
        11
      ],
      ["two members with calls in flight", (now) => ({
        x: member(now, { buckets: { 1: 10 }, operations: { a: 10 } }),
        y: member(now, { buckets: { 1: 5 }, operations: { a: 5 } })
      }), 11],
      [
        "a member that is gone, with calls in flight",
        members("x", (now) => member(now, { buckets: { 1: 15 }, operations: { a: 15 }, seenAt: now - 60_000 })),
        20
      ],
      ["a member with calls in flight, and one that is gone", (now) => ({
        x: member(now, { buckets: { 1: 15 }, operations: { a: 15 }, seenAt: now - 60_000 }),
        y: member(now, { buckets: { 1: 15 }, operations: { a: 15 } })
      }), 11],
      [
        "a member with calls in flight of another bucket",
        members("x", (now) => member(now, { buckets: { 2: 15 }, operations: { b: 15 } })),
        20
      ]
    ] as ReadonlyArray<readonly [string, Members, number]>
  ) {
    it.effect(`are ${permits} of 50 calls left, with ${title}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, many, others)
        const { times } = yield* begin(yield* makeProcess(store), 30)
        yield* Effect.sleep(1)
        assert.strictEqual(times.length, permits)
      })))
  }

  for (const [reserve, permits] of [[undefined, 0], [0.05, 4], [0, 4]] as const) {
    it.effect(`are ${permits} of 10 calls left for background work with a reserve of ${reserve}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, { ...many, left: 10 })
        const one = yield* makeProcess(store, { reserve })
        const { times } = yield* RateLimiter.withBackground(begin(one, 9))
        yield* Effect.sleep(1)
        assert.strictEqual(times.length, permits)
      })))
  }
})

describe("a process whose calls wait", () => {
  it.effect("does not wait after its permit: the next call gets one at once", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many)
      const one = yield* makeProcess(store)
      yield* begin(one, 1)
      yield* Effect.sleep(5)
      const { times } = yield* begin(one, 1)
      yield* Effect.sleep(1)
      assert.deepStrictEqual(times, [0])
    })))

  it.effect("does not visit the store for each new call", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { limit: 10, left: 0, perSecond: 0.1 })
      const one = yield* makeProcess(store)
      for (let nth = 0; nth < 20; nth++) yield* Effect.zipRight(begin(one, 1), Effect.sleep(300))
      assert.isAtMost(store.writes.length, 10)
    })))

  it.effect("waits two seconds for other operations if nothing is known of its own", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { ...many, left: 0 })
      yield* Effect.sleep(3000)
      const { times } = yield* begin(yield* makeProcess(store), 1, callOf("new"))
      yield* Effect.sleep(3100)
      assert.strictEqual(times.length, 1)
      assert.isAtLeast(times[0] ?? 0, 2000)
    })))

  for (const rest of [1, 2]) {
    it.effect(`counts its wait from its first waiting call, however long it was idle before: ${rest} left`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, { ...many, left: rest })
        const one = yield* makeProcess(store)
        yield* exchange(one, noResponse)
        yield* Effect.sleep(5000)
        const now = yield* Clock.currentTimeMillis
        yield* begin(one, 3)
        yield* Effect.sleep(2000)
        const [own] = Object.values((yield* store.snapshot).members)
        assert.isAbove(own?.waiting ?? 0, 0)
        assert.isAtLeast(own?.waitingSince ?? 0, now)
      })))
  }

  /** The others take all calls. */
  const empty = (store: Store) =>
    Effect.flatMap(
      store.snapshot,
      (snapshot) => store.put({ ...snapshot, limits: withEstimate(snapshot.limits, { level: 0, reported: 0 }) })
    )

  it.effect("concludes that nobody else uses a bucket from throttled calls that found it full, and from no others", () =>
    virtually(Effect.gen(function*() {
      const [alone = 0, shared = 0] = yield* Effect.forEach(
        [[2, true], [50, false]] as const,
        ([perSecond, isAlone]) =>
          Effect.scoped(Effect.gen(function*() {
            const store = yield* makeStore
            yield* left(store, { limit: 100, left: 80, perSecond, isShared: true })
            const one = yield* makeProcess(store)
            for (let nth = 0; nth < 4; nth++) {
              yield* Effect.sleep(isAlone ? 50 : 400)
              if (isAlone) yield* empty(store)
              yield* exchange(one, respond(100, 99, 1))
            }
            yield* Effect.sleep(100)
            return yield* startsAtOnce(store)
          }))
      )
      assert.isAbove(alone, shared)
    })))

  it.effect("concludes nothing if it waits only for others that waited longer", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const known = { limit: 100, left: 99, perSecond: 2, isShared: true }
      const rivals: Members = (now) => members("stuvwxyz", (now) => member(now, { waiting: 9 }))(now + 60_000)
      yield* left(store, known, rivals)
      const one = yield* makeProcess(store)
      for (let nth = 0; nth < 8; nth++) {
        yield* Effect.forEach([1, 2], () => exchange(one, respond(100, 99, 1)), { concurrency: 2 })
        yield* Effect.sleep(1000)
      }
      assert.isBelow(yield* startsAtOnce(store), yield* startsAfter({ ...known, isShared: false }))
    })))

  it.effect("visits the store when a call is expected to come back, and seldom otherwise", () =>
    virtually(Effect.gen(function*() {
      for (const [perSecond, millis, visits] of [[4, 560, 3], [0.1, 20_100, 25]] as const) {
        const store = yield* makeStore
        yield* left(store, { limit: 10, left: 0, perSecond })
        const { times } = yield* begin(yield* makeProcess(store), 1)
        yield* Effect.sleep(millis)
        assert.strictEqual(times.length, 1)
        assert.isAtLeast(times[0] ?? 0, 2000 / perSecond)
        assert.isAtMost(store.writes.length, visits)
      }
    })))

  it.effect("learns within a second what the others have learned", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { ...many, left: 0 })
      const { times } = yield* begin(yield* makeProcess(store), 1)
      yield* Effect.sleep(5500)
      assert.deepStrictEqual(times, [])
      yield* left(store, many)
      yield* Effect.sleep(1100)
      assert.strictEqual(times.length, 1)
    })))

  for (const isGone of [false, true]) {
    it.effect(`waits for the first call of an operation by another member until it ${isGone ? "is gone" : "reports the end"}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, many, members("x", (now) => member(now, { operations: { b: 1 } })))
        const { times } = yield* begin(yield* makeProcess(store), 1, callOf("b"))
        yield* Effect.sleep(5500)
        assert.deepStrictEqual(times, [], "one call shows which bucket it draws on")
        if (!isGone) yield* left(store, { ...many, operations: ["a", "b"] })
        yield* Effect.sleep(isGone ? 6000 : 100)
        assert.strictEqual(times.length, 1)
      })))
  }

  it.effect("forgets a member within seconds whose entry is dated hours ahead", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const hours = 3 * 3_600_000
      yield* left(store, many, members("x", (now) => member(now, { operations: { b: 1 }, seenAt: now + hours })))
      const { times } = yield* begin(yield* makeProcess(store), 1, callOf("b"))
      yield* Effect.sleep(12_000)
      assert.strictEqual(times.length, 1)
    })))

  it.effect("visits the store more often the faster a bucket refills", () =>
    virtually(Effect.gen(function*() {
      const visits = (limit: number, perSecond: number) =>
        Effect.gen(function*() {
          const store = yield* makeStore
          // A slower bucket, a full one and one about which nothing is known make no difference.
          const now = yield* Clock.currentTimeMillis
          const limits = limitsOf(now, { limit, left: 0, perSecond })
          const [slow] = limitsOf(now, { limit: 7, left: 3, perSecond: 0.01 }).buckets
          const [full] = limitsOf(now, { limit: 7, left: 7, perSecond: 1 }).buckets
          const unknown = { id: "3", limit: 5, estimator: new EstimatorState() }
          const operation = limits.operations["a"]!
          yield* store.put({
            writtenAt: now,
            members: {},
            limits: {
              ...limits,
              buckets: [...limits.buckets, { ...slow!, id: "2" }, unknown, { ...full!, id: "4" }],
              operations: {
                ...limits.operations,
                b: { ...operation, bucket: "2" },
                c: { ...operation, bucket: "3" },
                d: { ...operation, bucket: undefined, observations: [] },
                e: { ...operation, bucket: "4" }
              }
            }
          })
          const { times } = yield* begin(yield* makeProcess(store), 400)
          yield* Effect.sleep(2000)
          assert.isAbove(times.length, 5)
          return store.writes.length
        })
      const [slow, fast, faster] = [yield* visits(100, 10), yield* visits(100, 100), yield* visits(10, 500)]
      assert.isAtLeast(slow, 4)
      assert.isAbove(fast, slow)
      assert.isAbove(faster, fast)
      assert.isAtMost(faster, 100)
    })))

  for (const isDown of [false, true]) {
    it.effect(`starts its calls in order: the first of an operation, others, background${isDown ? "; without store" : ""}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, { limit: 10, left: 4, perSecond: 1, operations: ["a", "b"] })
        const one = yield* makeProcess(store)
        for (let nth = 0; nth < 3; nth++) yield* exchange(one, noResponse)
        yield* Effect.sleep(20)
        store.isDown = isDown
        const order: Array<string> = []
        const enter = (name: string, operation: string, isBackground: boolean) => {
          const acquired = acquire(one, callOf(operation))
          return Effect.forkScoped(Effect.flatMap(
            isBackground ? RateLimiter.withBackground(acquired) : acquired,
            ({ settle }) => Effect.zipRight(Effect.sync(() => order.push(name)), Effect.delay(settle(undefined), 5))
          ))
        }
        for (
          const [name, operation, isBackground] of [
            ["background b", "b", true],
            ["background a", "a", true],
            ["b1", "b", false],
            ["a1", "a", false],
            ["a2", "a", false],
            ["b2", "b", false],
            ["new", "c", false]
          ] as const
        ) {
          yield* enter(name, operation, isBackground)
        }
        yield* Effect.sleep(20_000)
        assert.deepStrictEqual(order, ["new", "b1", "a1", "a2", "b2", "background b", "background a"])
      })))
  }

  it.effect("alternates with the others", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { limit: 10, left: 0, perSecond: 4 })
      const fleet = yield* Effect.all(Array.from({ length: 4 }, () => makeProcess(store)))
      const order: Array<number> = []
      for (const [nth, limiter] of fleet.entries()) {
        const one = Effect.flatMap(
          acquire(limiter, call),
          ({ settle }) => Effect.zipRight(Effect.sync(() => order.push(nth)), Effect.delay(settle(undefined), 5))
        )
        yield* Effect.forkScoped(Effect.forEach(Array.from({ length: 20 }), () => Effect.forkScoped(one)))
        yield* Effect.sleep(10)
      }
      yield* Effect.sleep(16_000)
      assert.isAtLeast(order.length, 56)
      const rounds = Array.from({ length: 13 }, (_, nth) => order.slice(4 + 4 * nth, 8 + 4 * nth))
      assert.deepStrictEqual(rounds.map((round) => new Set(round).size), rounds.map(() => 4), JSON.stringify(order))
    })))
})
