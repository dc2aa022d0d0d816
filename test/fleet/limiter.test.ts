/** How one process of a fleet deals with what lies in the store, and with the store itself: few calls, and others that are made up. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, DateTime, Duration, Effect, Exit, Fiber, Layer, Logger, Scope } from "effect"
import * as Fleet from "../../src/Fleet.js"
import * as Learned from "../../src/internal/fleet/snapshot.js"
import * as Adaptive from "../../src/internal/limiter/adaptive.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import * as VirtualTime from "../support/virtualTime.js"

const virtually = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  VirtualTime.run(Effect.scoped(Effect.provide(effect, Logger.remove(Logger.defaultLogger))), { most: "1 hour" })

const tenant = "https://t.example.com/api/v2"
const key = `limit:1:${tenant}`
const callOf = (operation: string): RateLimiter.Call => ({ tenant, operation })
const call = callOf("a")

/** What a process tells of itself. */
interface Member {
  readonly seen: number
  readonly waiting: number
  readonly since: number
  readonly lanes: Readonly<Record<string, unknown>>
  readonly supplies: Readonly<Record<string, unknown>>
}

/** What lies in the store. */
interface Value {
  readonly at: number
  readonly members: Readonly<Record<string, Member>>
  readonly learned: {
    readonly buckets: ReadonlyArray<{ readonly estimator: Readonly<Record<string, unknown>> }>
    readonly operations: Readonly<Record<string, unknown>>
  }
}

interface Store {
  readonly backend: SharedStore.Backend
  /** How long it takes before it does what it is asked, and after. */
  before: number
  after: number
  /** By so much its clock is ahead. */
  ahead: number
  isDown: boolean
  /** Somebody else is always faster. */
  isCrowded: boolean
  /** How often it was asked what there is. */
  reads: number
  /** What was written, and when. */
  readonly writes: Array<{ readonly at: number; readonly value: Value }>
  /** Somebody else writes. */
  readonly put: (value: unknown) => Effect.Effect<unknown>
  readonly lose: Effect.Effect<void>
  /** What lies there now. */
  readonly value: Effect.Effect<Value>
}

/** A store that can be slow, fail, refuse each change and show another time, and that remembers what was written when. */
const makeStore = Effect.gen(function*() {
  const clock = yield* Effect.clock
  let memory = yield* SharedStore.memory
  const writes: Array<{ readonly at: number; readonly value: Value }> = []
  const asked = <A extends SharedStore.Snapshot>(request: () => Effect.Effect<A, unknown>): Effect.Effect<A, unknown> =>
    Effect.suspend(() => store.isDown ? Effect.fail("down") : Effect.suspend(request)).pipe(
      Effect.delay(store.before),
      Effect.map((seen) => ({ ...seen, now: seen.now + store.ahead })),
      (answer) => Effect.zipLeft(answer, Effect.sleep(store.after))
    )
  const store: Store = {
    before: 0,
    after: 0,
    ahead: 0,
    isDown: false,
    isCrowded: false,
    reads: 0,
    writes,
    backend: {
      get: (key: string) => {
        store.reads++
        return asked(() => memory.get(key))
      },
      swap: (key: string, version: string | undefined, next: SharedStore.Write | undefined) =>
        asked(() =>
          store.isCrowded
            ? Effect.map(memory.get(key), (seen) => ({ ...seen, swapped: false }))
            : Effect.tap(memory.swap(key, version, next), ({ swapped }) => {
              if (!swapped || next === undefined) return
              writes.push({ at: clock.unsafeCurrentTimeMillis(), value: JSON.parse(next.value) })
            })
        )
    },
    put: (value: unknown) =>
      Effect.orDie(Effect.flatMap(memory.get(key), ({ entry }) =>
        memory.swap(key, entry?.version, {
          value: typeof value === "string" ? value : JSON.stringify(value),
          timeToLive: Duration.hours(1)
        }))),
    lose: Effect.map(SharedStore.memory, (empty) => void (memory = empty)),
    value: Effect.orDie(
      Effect.suspend(() => Effect.map(memory.get(key), ({ entry }): Value => JSON.parse(entry?.value ?? "{}")))
    )
  }
  return store
})

/** A process of a fleet: it lives as long as the scope. */
const process = ({ backend }: Store, options: RateLimiter.Options = {}) =>
  Effect.map(
    Layer.build(Layer.fresh(
      Fleet.layerRateLimiter(options).pipe(Layer.provide(Layer.fresh(SharedStore.layer(Effect.succeed(backend)))))
    )),
    Context.get(RateLimiter.RateLimiter)
  )

type Limiter = Effect.Effect.Success<ReturnType<typeof process>>

/** How many calls are left of how many, and how many come back in a second. */
interface Known {
  readonly limit: number
  readonly left: number
  readonly perSecond: number
  /** The operations that draw on it. */
  readonly operations?: ReadonlyArray<string>
}

/** What a process writes that knows this at this time, and that nobody else uses the bucket. */
const learned = (now: number, { left, limit, operations = ["a"], perSecond }: Known) => {
  const learning = Adaptive.make()
  for (const operation of operations) {
    const told = {
      isRateLimited: false,
      isServed: true,
      limit,
      remaining: limit - 1,
      untilFull: 1,
      date: undefined,
      pause: undefined
    }
    learning.settle(learning.start(learning.stateOf(callOf(operation)), now - 10, false), told, now)
  }
  const saved = JSON.parse(JSON.stringify(Learned.save(learning, tenant)))
  Object.assign(saved.buckets[0].estimator, {
    level: left,
    reported: left,
    netRate: perSecond / 1000,
    provenRate: perSecond / 1000,
    isShared: false
  })
  return saved
}

/** Another process, which does nothing. */
const member = (now: number, more: Partial<Member> = {}): Member => ({
  seen: now,
  waiting: 0,
  since: now,
  lanes: {},
  supplies: {},
  ...more
})

/** What another process has left in the store, by what it knows now. */
const left = (store: Store, known: Known, members: (now: number) => Readonly<Record<string, unknown>> = () => ({})) =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (now) => store.put({ at: now, members: members(now), learned: learned(now, known) })
  )

/** An answer that tells this of a bucket. */
const told = (limit: number, remaining: number, untilFull: number, more: Record<string, string> = {}) =>
  Effect.map(Clock.currentTimeMillis, (now): RateLimiter.LimitedResponse => ({
    status: more["retry-after"] === undefined ? 200 : 429,
    headers: Headers.fromInput({
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(remaining),
      "x-ratelimit-reset": String(Math.floor(now / 1000) + untilFull),
      "date": new Date(now).toUTCString(),
      ...more
    })
  }))

/** Begins so many calls, none of which ends; tells when each was let go, in milliseconds from now on. */
const begin = (limiter: Limiter, count: number, which = call) =>
  Effect.gen(function*() {
    const from = yield* Clock.currentTimeMillis
    const times: Array<number> = []
    yield* Effect.forEach(Array.from({ length: count }), () =>
      Effect.forkScoped(
        Effect.zipRight(limiter.acquire(which), Effect.map(Clock.currentTimeMillis, (now) => times.push(now - from)))
      ), { discard: true })
    return times
  })

const many: Known = { limit: 100, left: 50, perSecond: 0.01 }

describe("what lies in the store", () => {
  for (
    const [what, members, letGo] of [
      ["nobody", () => ({}), 20],
      ["four that do nothing", (now) => Object.fromEntries(Array.from("wxyz", (id) => [id, member(now)])), 20],
      [
        "four that wait",
        (now) => Object.fromEntries(Array.from("wxyz", (id) => [id, member(now, { waiting: 9 })])),
        10
      ],
      [
        "four that waited until just now",
        (now) => Object.fromEntries(Array.from("wxyz", (id) => [id, member(now, { waiting: 9, seen: now - 1999 })])),
        10
      ],
      [
        "four that have not been here for two seconds",
        (now) => Object.fromEntries(Array.from("wxyz", (id) => [id, member(now, { waiting: 9, seen: now - 2000 })])),
        20
      ],
      ["one with calls under way", (now) => ({ x: member(now, { supplies: { 1: 15 }, lanes: { a: 15 } }) }), 11],
      ["two with calls under way", (now) => ({
        x: member(now, { supplies: { 1: 10 }, lanes: { a: 10 } }),
        y: member(now, { supplies: { 1: 5 }, lanes: { a: 5 } })
      }), 11],
      ["one with calls under way, which was here ten seconds ago", (now) => ({
        x: member(now, { supplies: { 1: 15 }, lanes: { a: 15 }, seen: now - 9999 })
      }), 11],
      ["one with calls under way, which is gone", (now) => ({
        x: member(now, { supplies: { 1: 15 }, lanes: { a: 15 }, seen: now - 10_000 })
      }), 20],
      ["one with calls under way, and one that is gone", (now) => ({
        x: member(now, { supplies: { 1: 15 }, lanes: { a: 15 }, seen: now - 10_000 }),
        y: member(now, { supplies: { 1: 15 }, lanes: { a: 15 } })
      }), 11],
      [
        "one with calls of another bucket",
        (now) => ({ x: member(now, { supplies: { 2: 15 }, lanes: { b: 15 } }) }),
        20
      ],
      ["nonsense", (now) => ({ x: 3, y: { seen: now, supplies: 3, lanes: "x" } }), 20],
      [
        "nonsense instead of numbers",
        (now) => ({ x: member(now, { supplies: { 1: "15", 2: {} }, lanes: { a: null } }) }),
        20
      ]
    ] as ReadonlyArray<readonly [string, (now: number) => Readonly<Record<string, unknown>>, number]>
  ) {
    it.effect(`of 50 that are left ${letGo} go where there is ${what}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, many, members)
        const times = yield* begin(yield* process(store), 30)
        yield* Effect.sleep(1)
        assert.strictEqual(times.length, letGo)
      })))
  }

  for (const [reserve, letGo] of [[undefined, 0], [0.05, 4], [0, 4]] as const) {
    it.effect(`is left to the others by background work: of 10 that are left ${letGo} go with a reserve of ${reserve}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, { ...many, left: 10 })
        const one = yield* process(store, { reserve })
        const times = yield* RateLimiter.withBackground(begin(one, 9))
        yield* Effect.sleep(1)
        assert.strictEqual(times.length, letGo)
      })))
  }

  it.effect("tells the others of a process: how many calls wait, since when, and what is under way", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many, (now) => ({ gone: member(now, { seen: now - 10_000 }), x: member(now) }))
      const from = yield* Clock.currentTimeMillis
      const one = yield* process(store)
      yield* begin(one, 30)
      yield* Effect.sleep(1)
      const { at, members: { x, ...own } } = yield* store.value
      assert.strictEqual(at, from)
      assert.deepStrictEqual(x, member(from))
      const mine = { seen: from, waiting: 10, since: from, lanes: { a: 20 }, supplies: { 1: 20 } }
      assert.deepStrictEqual(Object.values(own), [mine])
      // It waits, and takes none: its turn comes by the time since when it has.
      yield* Effect.sleep(4000)
      const { members: { x: _, ...later } } = yield* store.value
      const [{ seen, ...rest } = mine] = Object.values(later)
      assert.isAtLeast(seen, from + 2900)
      assert.deepStrictEqual(rest, { waiting: 10, since: rest.since, lanes: { a: 20 }, supplies: { 1: 20 } })
      assert.isAtMost(rest.since, from + 300)
    })))

  it.effect("names each process on its own", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      for (let nth = 1; nth <= 3; nth++) {
        yield* begin(yield* process(store), 1)
        yield* Effect.sleep(100)
      }
      const { members } = yield* store.value
      assert.strictEqual(Object.keys(members).length, 3)
      for (const id of Object.keys(members)) assert.match(id, /^\w{12,}$/)
    })))

  for (const ahead of [0, 3_600_000, -3_600_000]) {
    it.effect(`is written by the store's clock, which is ${ahead} ms ahead; what is left is told by one's own`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        store.ahead = ahead
        const one = yield* process(store)
        yield* begin(one, 1)
        yield* Effect.sleep(10)
        yield* one.observe(call, yield* told(10, 4, 6))
        yield* Effect.sleep(100)
        const [status] = yield* one.status
        const now = yield* Clock.currentTimeMillis
        const resetAt = status?.resetAt === undefined ? NaN : DateTime.toEpochMillis(status.resetAt)
        assert.isAbove(resetAt, now + 4000)
        assert.isBelow(resetAt, now + 20_000)
        yield* begin(one, 1)
        yield* Effect.sleep(10)
        assert.strictEqual((yield* store.value).at, (yield* Clock.currentTimeMillis) - 10 + ahead)
      })))
  }

  for (const [what, by, most] of [["an hour", -3_600_000, 1500], ["half a second", -500, 2000]] as const) {
    it.effect(`goes on when the store's clock is set back by ${what}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, { limit: 10, left: 2, perSecond: 2 })
        const one = yield* process(store)
        yield* begin(one, 1)
        yield* Effect.sleep(10)
        store.ahead = by
        const times = yield* begin(one, 2)
        yield* Effect.sleep(10)
        yield* one.observe(call, undefined)
        yield* Effect.sleep(4000)
        assert.strictEqual(times.length, 2)
        assert.isAtMost(times[0] ?? 0, most)
        if (by < -1000) return
        yield* begin(yield* process(store), 1)
        yield* Effect.sleep(10)
        const written = store.writes.map(({ value: { at } }) => at)
        for (const [nth, at] of written.entries()) assert.isAtLeast(at, written[nth - 1] ?? 0, "no time comes again")
      })))
  }

  it.effect("was written by a clock that is ahead: who comes after that writes no earlier time", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const ahead = (yield* Clock.currentTimeMillis) + 500
      yield* left(store, many)
      yield* store.put({ ...yield* store.value, at: ahead })
      yield* begin(yield* process(store), 1)
      yield* Effect.sleep(10)
      assert.strictEqual((yield* store.value).at, ahead)
    })))
})

const remaining = (limiter: Limiter) => Effect.map(limiter.status, ([status]) => status?.remaining)

const noAnswer = Effect.sync((): RateLimiter.LimitedResponse | undefined => undefined)

/** A call that takes so many milliseconds, and is told this. */
const exchange = (
  limiter: Limiter,
  answer: Effect.Effect<RateLimiter.LimitedResponse | undefined>,
  which = call,
  takes = 5
) =>
  Effect.zipRight(
    limiter.acquire(which),
    Effect.flatMap(Effect.delay(answer, takes), (answer) => limiter.observe(which, answer))
  )

describe("a process tells the others", () => {
  /** A process with so many calls under way, and what it writes from then on: in how many milliseconds, and what is under way. */
  const underWay = (calls: number, options: Partial<Pick<Store, "before" | "after">> = {}) =>
    Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many)
      const one = yield* process(store)
      yield* begin(one, calls)
      yield* Effect.sleep(5)
      Object.assign(store, options)
      const from = yield* Clock.currentTimeMillis
      store.writes.length = 0
      const written = () =>
        store.writes.map(({ at, value: { members } }) => [
          at - from,
          Object.values(members).map(({ lanes }) => lanes["a"] ?? 0)[0]
        ])
      return { store, one, written }
    })

  it.effect("that it is there, as long as it has calls under way, and nothing else", () =>
    virtually(Effect.gen(function*() {
      const { one, written } = yield* underWay(2)
      yield* Effect.sleep(10_000)
      assert.deepStrictEqual(written(), [[2995, 2], [5995, 2], [8995, 2]])
      yield* one.observe(call, undefined)
      yield* one.observe(call, undefined)
      yield* Effect.sleep(60_000)
      assert.deepStrictEqual(written().slice(3), [[10_015, 0]])
    })))

  it.effect("of several calls that are over at once, a little later", () =>
    virtually(Effect.gen(function*() {
      const { one, written } = yield* underWay(10)
      for (let nth = 0; nth < 10; nth++) yield* Effect.zipRight(one.observe(call, undefined), Effect.sleep(1))
      yield* Effect.sleep(1000)
      assert.deepStrictEqual(written(), [[15, 0]])
    })))

  it.effect("of a refusal at once", () =>
    virtually(Effect.gen(function*() {
      const { one, store, written } = yield* underWay(3)
      yield* one.observe(call, yield* told(100, 0, 100, { "retry-after": "7" }))
      yield* Effect.sleep(1)
      assert.deepStrictEqual(written(), [[0, 2]])
      const two = yield* process(store)
      const times = yield* begin(two, 1)
      yield* Effect.sleep(6900)
      assert.deepStrictEqual(times, [])
    })))

  it.effect("of the first answer that tells a limit at once, and of one that tells nothing", () =>
    virtually(Effect.gen(function*() {
      for (const answer of [told(100, 60, 40), noAnswer]) {
        const store = yield* makeStore
        const one = yield* process(store)
        yield* begin(one, 1)
        yield* Effect.sleep(5)
        store.writes.length = 0
        yield* one.observe(call, yield* answer)
        yield* Effect.sleep(1)
        assert.strictEqual(store.writes.length, 1)
      }
    })))

  it.effect("of what happened while it was telling something else", () =>
    virtually(Effect.gen(function*() {
      const { one, written } = yield* underWay(4, { before: 20, after: 20 })
      yield* one.observe(call, undefined)
      yield* Effect.sleep(25)
      yield* one.observe(call, undefined) // the first visit is under way, from 15 to 55
      yield* Effect.sleep(375)
      assert.deepStrictEqual(written(), [[35, 3], [90, 2]])
      yield* one.observe(call, undefined)
      yield* Effect.sleep(25)
      yield* one.observe(call, yield* told(100, 0, 100, { "retry-after": "1" }))
      yield* Effect.sleep(375)
      assert.deepStrictEqual(written().slice(2), [[435, 1], [475, 0]], "news do not wait")
    })))

  it.effect("that callers who were interrupted have taken nothing, whether or not they had been let go", () =>
    virtually(Effect.gen(function*() {
      for (const [latency, calls, after] of [[0, 5, 10], [20, 5, 10], [20, 5, 25], [20, 5, 100]] as const) {
        const { one, store } = yield* underWay(1, { before: latency, after: latency / 2 })
        assert.strictEqual(yield* remaining(one), 49)
        const fibers = yield* Effect.forEach(
          Array.from({ length: calls }),
          () => Effect.forkScoped(Effect.zipRight(one.acquire(call), Effect.never))
        )
        yield* Effect.sleep(after)
        yield* Effect.forEach(fibers, Fiber.interrupt)
        yield* Effect.sleep(3500)
        assert.strictEqual(yield* remaining(one), 49, `${latency} ms, after ${after}`)
        const { members } = yield* store.value
        assert.deepStrictEqual(Object.values(members).map(({ lanes, waiting }) => [lanes, waiting]), [[{ a: 1 }, 0]])
      }
    })))
})

describe("a process that waits", () => {
  it.effect("does so no more when it has been let go: the next call goes at once", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many)
      const one = yield* process(store)
      yield* begin(one, 1)
      yield* Effect.sleep(5)
      assert.deepStrictEqual(yield* Effect.tap(begin(one, 1), Effect.sleep(1)), [0])
    })))

  it.effect("does not come back for each new call", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { limit: 10, left: 0, perSecond: 0.1 })
      const one = yield* process(store)
      for (let nth = 0; nth < 20; nth++) yield* Effect.zipRight(begin(one, 1), Effect.sleep(300))
      assert.isAtMost(store.writes.length, 8)
    })))

  it.effect("for a limit of which it knows nothing waits for those that it knows, for two seconds", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { ...many, left: 0 })
      yield* Effect.sleep(3000)
      const times = yield* begin(yield* process(store), 1, callOf("new"))
      yield* Effect.sleep(3100)
      assert.strictEqual(times.length, 1)
      assert.isAtLeast(times[0] ?? 0, 2000)
    })))

  for (const rest of [1, 2]) {
    it.effect(`has waited since its first call came, however long it was there before: ${rest} are left`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, { ...many, left: rest })
        const one = yield* process(store)
        yield* exchange(one, noAnswer)
        yield* Effect.sleep(5000)
        const now = yield* Clock.currentTimeMillis
        yield* begin(one, 3)
        yield* Effect.sleep(2000)
        const [own] = Object.values((yield* store.value).members)
        assert.isAbove(own?.waiting ?? 0, 0)
        assert.isAtLeast(own?.since ?? 0, now)
      })))
  }

  /** The others have taken all. */
  const empty = (store: Store) =>
    Effect.flatMap(store.value, (value) => {
      Object.assign(value.learned.buckets[0]?.estimator ?? {}, { level: 0, reported: 0 })
      return store.put(value)
    })

  it.effect("learns that nobody else uses a bucket from calls that found it full though they had to wait, and no others", () =>
    virtually(Effect.gen(function*() {
      for (
        const [perSecond, isAlone] of [[2, true], [50, false]] as const
      ) {
        const store = yield* makeStore
        yield* Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const value = learned(now, { limit: 10, left: 8, perSecond })
          Object.assign(value.buckets[0].estimator, { isShared: true })
          return store.put({ at: now, members: {}, learned: value })
        })
        const one = yield* process(store)
        for (let nth = 0; nth < 4; nth++) {
          yield* Effect.sleep(perSecond > 2 ? 400 : 50)
          if (perSecond === 2) yield* empty(store)
          yield* exchange(one, told(10, 9, 1))
        }
        yield* Effect.sleep(100)
        const [bucket] = (yield* store.value).learned.buckets
        assert.strictEqual(bucket?.estimator["isShared"], !isAlone, `${perSecond} in a second`)
      }
    })))

  it.effect("only because others have their turn first learns nothing from that", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const rivals = (now: number) =>
        Object.fromEntries(Array.from("stuvwxyz", (id) => [id, member(now, { waiting: 9 })]))
      yield* Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const value = learned(now, { limit: 10, left: 9, perSecond: 2 })
        Object.assign(value.buckets[0].estimator, { isShared: true })
        return store.put({ at: now, members: rivals(now + 60_000), learned: value })
      })
      const one = yield* process(store)
      for (let nth = 0; nth < 8; nth++) {
        yield* Effect.forEach([1, 2], () => exchange(one, told(10, 9, 1)), { concurrency: 2 })
        yield* Effect.sleep(1000)
      }
      const [bucket] = (yield* store.value).learned.buckets
      assert.strictEqual(bucket?.estimator["isShared"], true)
    })))

  it.effect("looks when a call comes back by what it knows, and now and then besides", () =>
    virtually(Effect.gen(function*() {
      for (
        const [perSecond, most, visits] of [[4, 560, 2], [0.1, 20_100, 22]] as const
      ) {
        const store = yield* makeStore
        yield* left(store, { limit: 10, left: 0, perSecond })
        const one = yield* process(store)
        const times = yield* begin(one, 1)
        yield* Effect.sleep(most)
        assert.strictEqual(times.length, 1)
        assert.isAtLeast(times[0] ?? 0, 2000 / perSecond)
        assert.isAtMost(store.writes.length, visits + 1)
        assert.isAtLeast(store.writes.length, visits - 3)
      }
    })))

  it.effect("hears of what the others have learned within a second", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { ...many, left: 0 })
      const times = yield* begin(yield* process(store), 1)
      yield* Effect.sleep(5500)
      assert.deepStrictEqual(times, [])
      yield* left(store, many)
      yield* Effect.sleep(1100)
      assert.strictEqual(times.length, 1)
    })))

  it.effect("for another's first call hears of its end at once, or that nobody is there any more", () =>
    virtually(Effect.gen(function*() {
      for (const isGone of [false, true]) {
        const store = yield* makeStore
        yield* left(store, many, (now) => ({ x: member(now, { lanes: { b: 1 } }) }))
        const times = yield* begin(yield* process(store), 1, callOf("b"))
        yield* Effect.sleep(5500)
        assert.deepStrictEqual(times, [], "one call shows which bucket it draws on")
        if (!isGone) yield* left(store, { ...many, operations: ["a", "b"] })
        yield* Effect.sleep(isGone ? 4600 : 100)
        assert.strictEqual(times.length, 1)
      }
    })))

  for (
    const [what, known, least, most] of [
      ["many calls come back", { limit: 100, perSecond: 100 }, 125, 170],
      ["few calls come back", { limit: 100, perSecond: 10 }, 250, 295],
      ["very many calls come back", { limit: 10, perSecond: 500 }, 20, 60]
    ] as const
  ) {
    it.effect(`comes back in ${least} ms where ${what}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        // Another bucket, which is slower, and one of which nothing is known, make no difference.
        yield* Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const value = learned(now, { ...known, left: 0 })
          const slow = learned(now, { limit: 7, left: 3, perSecond: 0.01 }).buckets[0]
          const full = learned(now, { limit: 7, left: 7, perSecond: 1 }).buckets[0]
          value.buckets.push({ ...slow, id: "2" }, { id: "3", limit: 5, estimator: {} }, { ...full, id: "4" })
          for (const [name, bucket] of [["b", "2"], ["c", "3"], ["e", "4"]] as const) {
            value.operations[name] = { ...value.operations.a, bucket }
          }
          value.operations.d = {}
          return store.put({ at: now, members: {}, learned: value })
        })
        const one = yield* process(store)
        // Some are always about to go, so that each visit brings back what there is.
        const times = yield* begin(one, 400)
        yield* Effect.sleep(2000)
        // After a second it comes in any case.
        const early = store.writes.filter(({ at }) => at < (store.writes[0]?.at ?? 0) + 950)
        const gaps = early.slice(1).map(({ at }, nth) => at - (early[nth]?.at ?? 0))
        assert.isAbove(times.length, 5)
        assert.isAtLeast(gaps.length, 3)
        for (const gap of gaps.slice(1)) {
          assert.isAtLeast(gap, least - 2)
          assert.isAtMost(gap, most)
        }
      })))
  }

  for (const isDown of [false, true]) {
    it.effect(`lets its calls go in order: the first of an operation, the others, background work${isDown ? "; alone" : ""}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* left(store, { limit: 10, left: 4, perSecond: 1, operations: ["a", "b"] })
        const one = yield* process(store)
        for (let nth = 0; nth < 3; nth++) yield* exchange(one, noAnswer)
        yield* Effect.sleep(20)
        store.isDown = isDown
        const order: Array<string> = []
        const enter = (name: string, operation: string, isBackground: boolean) => {
          const acquired = one.acquire(callOf(operation))
          return Effect.forkScoped(Effect.zipRight(
            isBackground ? RateLimiter.withBackground(acquired) : acquired,
            Effect.zipRight(
              Effect.sync(() => order.push(name)),
              Effect.delay(one.observe(callOf(operation), undefined), 5)
            )
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

  it.effect("goes round with the others", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { limit: 10, left: 0, perSecond: 4 })
      const fleet = yield* Effect.all(Array.from({ length: 4 }, () => process(store)))
      const order: Array<number> = []
      for (const [nth, limiter] of fleet.entries()) {
        yield* Effect.forkScoped(Effect.forEach(Array.from({ length: 20 }), () =>
          Effect.forkScoped(
            Effect.zipRight(
              limiter.acquire(call),
              Effect.zipRight(Effect.sync(() => order.push(nth)), Effect.delay(limiter.observe(call, undefined), 5))
            )
          )))
        yield* Effect.sleep(10)
      }
      yield* Effect.sleep(16_000)
      assert.isAtLeast(order.length, 56)
      const rounds = Array.from({ length: 13 }, (_, nth) => order.slice(4 + 4 * nth, 8 + 4 * nth))
      assert.deepStrictEqual(rounds.map((round) => new Set(round).size), rounds.map(() => 4), JSON.stringify(order))
    })))
})

describe("a process that has lost the store", () => {
  const others = (count: number, more: (now: number) => Partial<Member> = () => ({})) => (now: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, nth) => [`x${nth}`, member(now, more(now))]))

  /** One that knows what lies there, has a call under way, and then loses the store. */
  const apart = (known: Known, members: (now: number) => Readonly<Record<string, unknown>>) =>
    Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, known, members)
      const one = yield* process(store)
      yield* begin(one, 1)
      yield* Effect.sleep(5)
      yield* one.observe(call, undefined)
      yield* Effect.sleep(50)
      store.isDown = true
      return { store, one }
    })

  for (
    const [what, limit, members, letGo, rest, later] of [
      ["was alone", 100, others(0), 19, 30, 30],
      ["was one of five", 100, others(4), 4, 29, 7],
      ["was one of five, who waited", 100, others(4, () => ({ waiting: 9 })), 4, 29, 7],
      ["has not heard of the four others for long", 100, others(4, (now) => ({ seen: now - 6990 })), 19, 30, 30],
      ["was one of many, of a bucket for few", 6, others(9), 1, 0, 1],
      ["was one of many, of a bucket for two", 2, others(9), 1, 0, 1]
    ] as const
  ) {
    it.effect(`takes ${letGo} at once if it ${what}`, () =>
      virtually(Effect.gen(function*() {
        const { one } = yield* apart({ limit, left: Math.min(50, limit), perSecond: limit === 100 ? 0.01 : 5 }, members)
        yield* Effect.sleep(3000)
        const times = yield* begin(one, 30)
        yield* Effect.sleep(20)
        assert.strictEqual(times.length, letGo)
        assert.strictEqual(yield* remaining(one), rest)
        // What the others are taken to have had under way is over, too.
        for (let nth = 0; nth < letGo; nth++) yield* one.observe(call, undefined)
        yield* Effect.sleep(20)
        assert.strictEqual(times.length, later)
      })))
  }

  for (
    const [what, change, least, most] of [
      ["as it was", () => Effect.void, 39, 39],
      ["empty", (store: Store) => store.lose, 39, 39],
      ["with less", (store: Store) => left(store, { ...many, left: 30 }), 30, 30],
      ["with more", (store: Store) => left(store, { ...many, left: 90 }), 39, 39],
      ["with nonsense", (store: Store) => store.put("nonsense"), undefined, undefined]
    ] as ReadonlyArray<
      readonly [string, (store: Store) => Effect.Effect<unknown>, number | undefined, number | undefined]
    >
  ) {
    it.effect(`shares again what is left when it is back ${what}`, () =>
      virtually(Effect.gen(function*() {
        const { one, store } = yield* apart(many, () => ({}))
        yield* begin(one, 10)
        yield* Effect.sleep(100)
        assert.strictEqual(yield* remaining(one), 39)
        yield* change(store)
        store.isDown = false
        yield* Effect.sleep(300)
        assert.strictEqual(yield* remaining(one), least)
        const { members } = yield* store.value
        assert.deepStrictEqual(Object.values(members).map(({ lanes }) => lanes), [{ a: 10 }])
        // Who joins now knows as much.
        const two = yield* process(store)
        yield* begin(two, 1)
        yield* Effect.sleep(5)
        assert.strictEqual(yield* remaining(two), most === undefined ? undefined : most - 1)
        // What those calls are told says nothing: it was counted by another count.
        for (let nth = 0; nth < 10; nth++) yield* one.observe(call, yield* told(100, 95, 1))
        yield* Effect.sleep(100)
        assert.strictEqual(yield* remaining(one), most === undefined ? undefined : most - 1)
        assert.deepStrictEqual(
          Object.values((yield* store.value).members).map(({ lanes }) => lanes["a"] ?? 0).sort(),
          [0, 1]
        )
      })))
  }
})

describe("a process that has lost the store and knows another one", () => {
  it.effect("takes the first call of an operation from what is left, and nothing for the other", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many, (now) => ({ x: member(now) }))
      const one = yield* process(store)
      yield* exchange(one, noAnswer)
      yield* Effect.sleep(100)
      store.isDown = true
      const before = yield* remaining(one)
      yield* begin(one, 1, callOf("b"))
      yield* Effect.sleep(20)
      assert.strictEqual(yield* remaining(one), Number(before) - 1)
    })))
})

describe("a store that was away", () => {
  it.effect("and is as it was is told what a process has learned meanwhile", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many)
      const one = yield* process(store)
      yield* exchange(one, noAnswer)
      yield* Effect.sleep(100)
      store.isDown = true
      yield* exchange(one, told(7, 3, 100), callOf("b"))
      yield* Effect.sleep(1000)
      store.isDown = false
      yield* Effect.sleep(1000)
      assert.hasAllKeys((yield* store.value).learned.operations, ["a", "b"])
    })))

  for (const [what, count, isShared] of [["was alone", 0, false], ["was one of two", 1, true]] as const) {
    it.effect(`finds the bucket full: that tells one that ${what} ${isShared ? "nothing" : "that it has it for itself"}`, () =>
      virtually(Effect.gen(function*() {
        const store = yield* makeStore
        yield* Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const value = learned(now, { limit: 10, left: 8, perSecond: 2 })
          Object.assign(value.buckets[0].estimator, { isShared: true })
          const members = Object.fromEntries(Array.from({ length: count }, () => ["x", member(now + 60_000)]))
          return store.put({ at: now, members, learned: value })
        })
        const one = yield* process(store)
        yield* exchange(one, noAnswer)
        yield* Effect.sleep(100)
        store.isDown = true
        for (let nth = 0; nth < 8; nth++) {
          yield* exchange(one, told(10, 0, 5))
          yield* exchange(one, told(10, 9, 1))
        }
        store.isDown = false
        yield* Effect.sleep(1000)
        const [bucket] = (yield* store.value).learned.buckets
        assert.strictEqual(bucket?.estimator["isShared"], isShared)
      })))
  }
})

describe("a store that is hard to use", () => {
  it.effect("because others are always faster delays a call no longer than one that does not answer", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      Object.assign(store, { isCrowded: true, before: 5 })
      const times = yield* begin(yield* process(store), 1)
      yield* Effect.sleep(100)
      assert.strictEqual(times.length, 1)
    })))

  it.effect("is left by a process that goes in the midst of a visit, and hears no more of it", () =>
    virtually(Effect.gen(function*() {
      for (
        const [before, after, millis] of [[20, 0, 5], [0, 20, 5], [10, 10, 5], [10, 10, 15], [10, 10, 25]] as const
      ) {
        const store = yield* makeStore
        yield* left(store, many)
        Object.assign(store, { before, after })
        const scope = yield* Scope.make()
        const one = yield* Scope.extend(process(store), scope)
        yield* Effect.forkIn(Effect.exit(one.acquire(call)), scope)
        yield* Effect.sleep(millis)
        yield* Scope.close(scope, Exit.void)
        const { length } = store.writes
        yield* Effect.sleep(20_000)
        assert.strictEqual(store.writes.length, length)
        assert.deepStrictEqual((yield* store.value).members, {})
      }
    })))

  it.effect("is left by a process whose calls wait, and which takes none for them any more", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, { ...many, left: 0 })
      const scope = yield* Scope.make()
      const one = yield* Scope.extend(process(store), scope)
      yield* Effect.forkScoped(Effect.exit(one.acquire(call)))
      yield* Effect.sleep(5)
      yield* left(store, many)
      yield* Scope.close(scope, Exit.void)
      const [bucket] = (yield* store.value).learned.buckets
      assert.isAtLeast(Number(bucket?.estimator["level"]), 50)
    })))

  it.effect("that is hung does not keep a process that has given it up", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many)
      const scope = yield* Scope.make()
      const one = yield* Scope.extend(process(store), scope)
      store.isDown = true
      yield* exchange(one, noAnswer)
      Object.assign(store, { isDown: false, before: 10_000 })
      const [waited] = yield* Effect.timed(Scope.close(scope, Exit.void))
      assert.strictEqual(Duration.toMillis(waited), 0)
    })))

  it.effect("is left by a process that goes at once, however many tenants it knows", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      const scope = yield* Scope.make()
      const one = yield* Scope.extend(process(store), scope)
      for (let nth = 0; nth < 10; nth++) {
        yield* exchange(one, noAnswer, { ...call, tenant: `${tenant}${nth}` })
      }
      store.before = 30
      const [waited] = yield* Effect.timed(Scope.close(scope, Exit.void))
      assert.strictEqual(Duration.toMillis(waited), 30)
    })))

  it.effect("holds a bucket of which nothing is told: calls go on, with it and without", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* store.put({
        learned: { buckets: [{ id: "1", limit: 5, estimator: {} }], operations: { a: { bucket: "1" } } }
      })
      const one = yield* process(store)
      yield* exchange(one, noAnswer)
      assert.deepStrictEqual(yield* one.status, [{ ...call, waiting: 0 }])
      yield* Effect.sleep(100)
      store.isDown = true
      const times = yield* begin(one, 1)
      yield* Effect.sleep(300)
      assert.strictEqual(times.length, 1)
      yield* one.observe(call, undefined)
      yield* exchange(one, noAnswer)
    })))

  it.effect("and was lost is done without: what is learned meanwhile counts, there and when it is back", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many, (now) => Object.fromEntries(Array.from("wxyz", (id) => [id, member(now)])))
      const one = yield* process(store)
      yield* begin(one, 2)
      yield* Effect.sleep(5)
      store.isDown = true
      yield* one.observe(call, yield* told(100, 20, 80))
      yield* Effect.sleep(20)
      assert.strictEqual(yield* remaining(one), 20)
      yield* one.observe(call, yield* told(100, 0, 100, { "retry-after": "30" }))
      yield* Effect.sleep(20)
      store.isDown = false
      yield* Effect.sleep(300)
      const { reads } = store
      assert.deepStrictEqual(
        Object.values((yield* store.value).members).map(({ lanes }) => lanes),
        Array.from({ length: 5 }, () => ({}))
      )
      const times = yield* begin(one, 1)
      yield* Effect.sleep(29_500)
      assert.deepStrictEqual(times, [], "it asked all to wait")
      assert.strictEqual(store.reads, reads, "it is used as before")
    })))

  it.effect("and comes back has forgotten what others were taken to do meanwhile", () =>
    virtually(Effect.gen(function*() {
      const store = yield* makeStore
      yield* left(store, many, (now) => Object.fromEntries(Array.from("wxyz", (id) => [id, member(now)])))
      const one = yield* process(store)
      yield* exchange(one, noAnswer)
      yield* Effect.sleep(50)
      store.isDown = true
      const times = yield* begin(one, 4)
      yield* Effect.sleep(100)
      assert.strictEqual(times.length, 4)
      store.isDown = false
      yield* Effect.sleep(300)
      for (let nth = 0; nth < 4; nth++) yield* one.observe(call, undefined)
      yield* Effect.sleep(100)
      const [bucket] = (yield* store.value).learned.buckets
      assert.strictEqual(Number(bucket?.estimator["started"]) - Number(bucket?.estimator["ended"]), 0)
    })))

  it.effect("leaves the others their part of what is known, and of what is not known nothing", () =>
    virtually(Effect.gen(function*() {
      const idle = (now: number) => Object.fromEntries(Array.from("stuvwxyz", (id) => [id, member(now)]))
      const store = yield* makeStore
      yield* Effect.flatMap(Clock.currentTimeMillis, (now) => store.put({ at: now, members: idle(now) }))
      const one = yield* process(store)
      store.isDown = true
      for (let nth = 0; nth < 5; nth++) {
        yield* exchange(one, Effect.succeed({ status: 200, headers: Headers.empty }))
      }
      const times = yield* begin(one, 3)
      yield* Effect.sleep(50)
      assert.strictEqual(times.length, 3)
      const other = yield* makeStore
      yield* left(other, { limit: 6, left: 5, perSecond: 0.01 }, idle)
      const two = yield* process(other)
      yield* exchange(two, noAnswer)
      yield* Effect.sleep(50)
      other.isDown = true
      const waiting = yield* begin(two, 1)
      yield* Effect.sleep(5000)
      assert.strictEqual(waiting.length, 0, "the bucket could not hold what all may take")
      yield* Effect.sleep(6000)
      assert.strictEqual(waiting.length, 1, "they have not been heard of for ten seconds")
    })))
})
