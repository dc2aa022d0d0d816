/** How one process of a fleet deals with what lies in the store, and with the store itself: few calls, and others that are made up. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, DateTime, Duration, Effect, Layer, Logger, type Scope } from "effect"
import * as Fleet from "../src/Fleet.js"
import * as Sharing from "../src/internal/sharing.js"
import * as RateLimiter from "../src/RateLimiter.js"
import * as SharedStore from "../src/SharedStore.js"
import * as VirtualTime from "./support/virtualTime.js"

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
    readonly buckets: ReadonlyArray<{ readonly supply: Readonly<Record<string, unknown>> }>
    readonly lanes: Readonly<Record<string, unknown>>
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
  const asked = <A extends SharedStore.Seen>(request: () => Effect.Effect<A, unknown>): Effect.Effect<A, unknown> =>
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
    writes,
    backend: {
      get: (key: string) => asked(() => memory.get(key)),
      swap: (key: string, version: string | undefined, next: SharedStore.Next | undefined) =>
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
    value: Effect.orDie(Effect.map(memory.get(key), ({ entry }): Value => JSON.parse(entry?.value ?? "{}")))
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
  const learning = Sharing.learning()
  for (const operation of operations) {
    const told = {
      isRefused: false,
      isServed: true,
      limit,
      remaining: limit - 1,
      untilFull: 1,
      date: undefined,
      pause: undefined
    }
    learning.answered(learning.start(learning.laneOf(callOf(operation)), now - 10, false), told, now)
  }
  const saved = JSON.parse(JSON.stringify(learning.save(tenant)))
  Object.assign(saved.buckets[0].supply, {
    level: left,
    stock: left,
    growth: perSecond / 1000,
    rate: perSecond / 1000,
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
  Effect.map(Clock.currentTimeMillis, (now): RateLimiter.Answer => ({
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
      ["a process that does nothing", (now) => ({ x: member(now) }), 20],
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
        const { at } = yield* store.value
        store.ahead = by
        const times = yield* begin(one, 2)
        yield* Effect.sleep(10)
        if (by > -1000) assert.isAtLeast((yield* store.value).at, at, "no time comes again")
        yield* one.observe(call, undefined)
        yield* Effect.sleep(4000)
        assert.strictEqual(times.length, 2)
        assert.isAtMost(times[0] ?? 0, most)
      })))
  }
})
