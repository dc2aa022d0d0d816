import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Exit, FastCheck, Fiber, FiberId, Random, Runtime, Scheduler, TestClock } from "effect"
import { listActionVersions } from "../src/operations/index.js"
import * as RateLimiter from "../src/RateLimiter.js"

const tenant = "https://t.example.com/api/v2"
const call: RateLimiter.Call = { tenant, operation: listActionVersions.endpoint.name }
const other: RateLimiter.Call = { tenant, operation: "deleteEventStream" }
const abroad: RateLimiter.Call = { tenant: "https://u.example.com/api/v2", operation: call.operation }

/** The server's clock, in seconds: years away from the test's. */
const server = 1_900_000_000

const answer = (status: number, headers: Record<string, string | number | undefined> = {}): RateLimiter.Answer => ({
  status,
  headers: Headers.fromInput(
    Object.entries(headers).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)] as const])
  )
})

/** An answer with the three headers; `reset` in seconds from the server's now. */
const told = (
  limit: number | string,
  remaining: number | string,
  reset: number,
  more: { readonly status?: number; readonly headers?: Record<string, string | number> } = {}
) =>
  answer(more.status ?? 200, {
    "X-RateLimit-Limit": limit,
    "X-RateLimit-Remaining": remaining,
    "X-RateLimit-Reset": server + reset,
    Date: new Date(server * 1000).toUTCString(),
    ...more.headers
  })

const breathe = Effect.repeatN(Effect.yieldNow(), 100)
const acquire = (which = call) => Effect.flatMap(RateLimiter.RateLimiter, (limiter) => limiter.acquire(which))
const observe = (answer: RateLimiter.Answer | undefined, which = call) =>
  Effect.flatMap(RateLimiter.RateLimiter, (limiter) => limiter.observe(which, answer))
const status = Effect.flatMap(RateLimiter.RateLimiter, ({ status }) => status)

/** A call that is answered at once. */
const exchange = (answer: RateLimiter.Answer | undefined, which = call) =>
  Effect.zipRight(acquire(which), observe(answer, which))

/** How many milliseconds of virtual time an effect takes, which ends within `most`. */
const duration = <A, E, R>(effect: Effect.Effect<A, E, R>, most = 3_600_000) =>
  Effect.gen(function*() {
    const from = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.fork(Effect.zipRight(effect, Clock.currentTimeMillis))
    yield* TestClock.adjust(most)
    const exit = fiber.unsafePoll()
    assert.isNotNull(exit, `not over after ${most} ms`)
    return (yield* Fiber.join(fiber)) - from
  })

/** Without jitter, and with as much as there can be. */
const exactly = Effect.withRandom(Random.fixed([0]))
const latest = Effect.withRandom(Random.fixed([1]))

/** Runs an effect that is interrupted while it yields at one of its steps. */
const interruptedAt = <A, E, R>(step: number, effect: Effect.Effect<A, E, R>, onYield = () => {}) => {
  let seen = 0
  const scheduler: Scheduler.Scheduler = {
    shouldYield: (fiber) => {
      if (++seen !== step) return false
      onYield()
      fiber.unsafeInterruptAsFork(FiberId.none)
      return 0
    },
    scheduleTask: (task, priority, fiber) => Scheduler.defaultScheduler.scheduleTask(task, priority, fiber)
  }
  return Effect.withScheduler(effect, scheduler)
}

const fixed = (limit: number, interval: number, reserve?: number) =>
  Effect.provide(RateLimiter.layerFixed({ limit, interval, ...(reserve !== undefined && { reserve }) }))
const adaptive = Effect.provide(RateLimiter.layer)

/** Starts so many calls one after the other and writes down when each is let through. */
const race = (count: number) =>
  Effect.gen(function*() {
    const times: Array<number> = []
    const fibers = yield* Effect.forEach(
      Array.from({ length: count }),
      () =>
        acquire().pipe(
          Effect.zipRight(Clock.currentTimeMillis),
          Effect.map((now) => times.push(now)),
          Effect.fork,
          Effect.zipLeft(Effect.yieldNow())
        )
    )
    return { fibers, times }
  })

describe("layerUnlimited", () => {
  it.effect("holds nothing back, whatever it is told, and knows nothing", () =>
    Effect.gen(function*() {
      for (let nth = 0; nth < 100; nth++) yield* exchange(told(1, 0, 1000, { status: 429 }))
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
      assert.deepStrictEqual(yield* status, [])
    }).pipe(Effect.provide(RateLimiter.layerUnlimited)))
})

describe("layerFixed", () => {
  it.effect("lets a burst through at once and the rest evenly", () =>
    Effect.gen(function*() {
      const { times } = yield* race(7)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times, [0, 0, 0, 500, 1000, 1500, 2000])
    }).pipe(fixed(3, 1500), exactly))

  it.effect("waits no longer because fractions are rounded", () =>
    Effect.gen(function*() {
      for (let limit = 1; limit <= 49; limit++) {
        const time = yield* Effect.gen(function*() {
          for (let nth = 0; nth < limit; nth++) yield* acquire()
          return yield* duration(acquire())
        }).pipe(fixed(limit, 1000))
        assert.approximately(time, Math.max(20, 1000 / limit), 0.01)
      }
    }).pipe(exactly))

  it.effect("does not stall when the local clock is set back", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(3_600_000)
      yield* Effect.zipRight(acquire(), acquire())
      yield* TestClock.setTime(0)
      assert.strictEqual(yield* duration(acquire()), 500)
    }).pipe(fixed(2, 1000), exactly))

  it.effect("keeps its pace on the whole, however much a single wait is stretched", () =>
    Effect.gen(function*() {
      const { times } = yield* race(202)
      yield* TestClock.adjust("5 minutes")
      assert.lengthOf(times, 202)
      for (const [nth, time] of times.entries()) {
        const due = Math.max(0, nth - 1) * 500
        assert.isAtLeast(time, due)
        assert.isAtMost(time, due + 20)
      }
    }).pipe(fixed(2, 1000), latest))

  it.effect("never lets more through in a stretch of time than burst and pace allow", () =>
    Effect.gen(function*() {
      const { times } = yield* race(60)
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(times, 60)
      for (const [nth, from] of times.entries()) {
        for (const [mth, to] of times.entries()) {
          if (mth >= nth) assert.isAtMost(mth - nth + 1, 5 + (to - from) * 5 / 1000 + 1e-6)
        }
      }
    }).pipe(fixed(5, 1000), Effect.withRandom(Random.make("seed"))))

  it.effect("fills up again in a pause, but not above its limit", () =>
    Effect.gen(function*() {
      yield* (yield* race(3)).fibers[2]!
      yield* TestClock.adjust("1 day")
      const from = yield* Clock.currentTimeMillis
      const { times } = yield* race(4)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times.map((time) => time - from), [0, 0, 0, 500])
    }).pipe(fixed(3, 1500), exactly))

  it.effect("is one limit for all operations and tenants", () =>
    Effect.gen(function*() {
      yield* acquire(call)
      yield* acquire(other)
      assert.strictEqual(yield* duration(acquire(abroad)), 500)
    }).pipe(fixed(2, 1000), exactly))

  it.effect("learns nothing from answers", () =>
    Effect.gen(function*() {
      yield* exchange(told(1000, 0, 1000, { status: 429, headers: { "Retry-After": 600 } }))
      assert.strictEqual(yield* duration(acquire(), 0), 0)
      assert.strictEqual(yield* duration(acquire()), 500)
    }).pipe(fixed(2, 1000), exactly))

  it.effect("serves who comes first, also those who come when one is let through", () =>
    Effect.gen(function*() {
      const order: Array<number> = []
      for (let nth = 0; nth < 40; nth++) {
        yield* Effect.fork(Effect.map(acquire(), () => order.push(nth)))
        yield* breathe
        // One comes every 50 ms, one goes every 100 ms: each departure meets an arrival.
        yield* TestClock.adjust("50 millis")
      }
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(order, Array.from({ length: 40 }, (_, nth) => nth))
    }).pipe(fixed(1, 100), exactly))

  it.effect("gives the place of a waiting call that is interrupted to the next, at the same time", () =>
    Effect.gen(function*() {
      const { fibers, times } = yield* race(5)
      yield* TestClock.adjust("250 millis")
      yield* Fiber.interrupt(fibers[1]!)
      yield* Fiber.interrupt(fibers[3]!)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times, [0, 1000, 2000])
    }).pipe(fixed(1, 1000), exactly))

  it.effect("lets the next one through although a thousand that wait are interrupted", () =>
    Effect.gen(function*() {
      const { fibers } = yield* race(1001)
      yield* Fiber.interruptAll(fibers)
      assert.deepInclude((yield* status)[0], { waiting: 0, remaining: 0 })
      assert.strictEqual(yield* duration(acquire()), 1000)
    }).pipe(fixed(1, 1000), exactly))

  it.effect("tells limit, remaining, waiting and when it is full", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* status, [
        { tenant: "*", operation: "*", waiting: 0, limit: 3, remaining: 3, resetAt: DateTime.unsafeMake(0) }
      ])
      yield* race(5)
      yield* breathe
      assert.deepStrictEqual(yield* status, [
        { tenant: "*", operation: "*", waiting: 2, limit: 3, remaining: 0, resetAt: DateTime.unsafeMake(1500) }
      ])
      yield* TestClock.adjust(2000)
      assert.deepInclude((yield* status)[0], { waiting: 0, remaining: 2, resetAt: DateTime.unsafeMake(2500) })
    }).pipe(fixed(3, 1500), exactly))
})

describe("background", () => {
  it.effect("leaves a fifth of the limit to the others unless told otherwise", () =>
    Effect.gen(function*() {
      for (let nth = 0; nth < 8; nth++) assert.strictEqual(yield* duration(RateLimiter.background(acquire()), 0), 0)
      const held = yield* Effect.fork(RateLimiter.background(acquire()))
      yield* breathe
      assert.isNull(held.unsafePoll())
      assert.strictEqual(yield* duration(Effect.zipRight(acquire(), acquire()), 0), 0)
      assert.isNull(held.unsafePoll())
      // Three of them must come back: two for the reserve, and its own.
      yield* TestClock.adjust(299)
      assert.isNull(held.unsafePoll())
      yield* TestClock.adjust(1)
      assert.isNotNull(held.unsafePoll())
    }).pipe(fixed(10, 1000), exactly))

  it.effect("leaves nothing with a reserve of 0", () =>
    Effect.gen(function*() {
      for (let nth = 0; nth < 10; nth++) yield* RateLimiter.background(acquire())
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
    }).pipe(fixed(10, 1000, 0), exactly))

  it.effect("still goes through with a reserve of all: when the bucket is full", () =>
    Effect.gen(function*() {
      yield* acquire()
      assert.strictEqual(yield* duration(RateLimiter.background(acquire())), 100)
    }).pipe(fixed(10, 1000, 1), exactly))

  it.effect("still goes through where the limit is one", () =>
    Effect.gen(function*() {
      yield* acquire()
      assert.strictEqual(yield* duration(RateLimiter.background(acquire())), 1000)
    }).pipe(fixed(1, 1000), exactly))

  it.effect("does not stand in the way of the others", () =>
    Effect.gen(function*() {
      for (let nth = 0; nth < 10; nth++) yield* acquire()
      const held = yield* Effect.fork(RateLimiter.background(acquire()))
      yield* breathe
      for (let nth = 0; nth < 5; nth++) assert.strictEqual(yield* duration(acquire(), 100), 100)
      assert.isNull(held.unsafePoll())
    }).pipe(fixed(10, 1000), exactly))

  it.effect("keeps the reserve of what the service tells", () =>
    Effect.gen(function*() {
      yield* exchange(told(10, 3, 70))
      assert.strictEqual(yield* duration(RateLimiter.background(acquire()), 0), 0)
      assert.strictEqual(yield* duration(acquire(), 0), 0)
      assert.strictEqual(yield* duration(RateLimiter.background(acquire())), 20_000)
    }).pipe(adaptive, exactly))

  it.effect("holds nothing back while nothing is known", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* duration(RateLimiter.background(acquire()), 0), 0)
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ reserve: 1 })), exactly))
})

describe("layer", () => {
  it.effect("holds nothing back before the first answer", () =>
    Effect.gen(function*() {
      yield* Effect.all(Array.from({ length: 100 }, () => acquire()), { concurrency: "unbounded" })
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
      assert.deepStrictEqual(yield* status, [{ ...call, waiting: 0 }])
    }).pipe(adaptive, exactly))

  it.effect("lets through what remains and not one more until one is back", () =>
    Effect.gen(function*() {
      yield* exchange(told(10, 4, 6))
      const { times } = yield* race(7)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times, [0, 0, 0, 0, 1000, 2000, 3000])
    }).pipe(adaptive, exactly))

  for (const local of [0, server * 1000 - 60_000, server * 1000 + 60_000, server * 3000]) {
    it.effect(`waits by the answer's Date, not by its own clock, which says ${new Date(local).toISOString()}`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(local)
        yield* exchange(told(10, 0, 30))
        assert.strictEqual(yield* duration(acquire()), 3000)
      }).pipe(adaptive, exactly))
  }

  it.effect("goes by its own clock where the answer has no Date", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime((server - 20) * 1000)
      yield* exchange(answer(200, {
        "x-ratelimit-limit": 10,
        "x-ratelimit-remaining": 0,
        "x-ratelimit-reset": server
      }))
      assert.strictEqual(yield* duration(acquire()), 2000)
    }).pipe(adaptive, exactly))

  for (const reset of [-server, -86_400, -1, 0, 1]) {
    it.effect(`takes a reset ${reset} s from now to be a second off: it neither spins nor waits longer`, () =>
      Effect.gen(function*() {
        let sleeps = 0
        const counting: Random.Random = Object.create(Random.fixed([0]), {
          next: { get: () => Effect.sync(() => void sleeps++).pipe(Effect.as(0)) }
        })
        yield* Effect.gen(function*() {
          // A server that turns everything away. Each call is one wait; a second holds no more of them than the limit.
          for (let nth = 0; nth < 20; nth++) yield* exchange(told(10, 0, reset, { status: 429 }))
        }).pipe(
          Effect.withRandom(counting),
          duration,
          Effect.tap((time) => Effect.sync(() => assert.strictEqual(time, 1900)))
        )
        assert.strictEqual(sleeps, 19)
      }).pipe(adaptive))
  }

  it.effect("never waits less than 20 ms, so that a tiny estimate does not spin", () =>
    Effect.gen(function*() {
      yield* exchange(told(1_000_000, 0, 1))
      assert.strictEqual(yield* duration(acquire()), 20)
    }).pipe(adaptive, exactly))

  it.effect("spreads waits by at most 20 ms", () =>
    Effect.gen(function*() {
      yield* exchange(told(10, 0, 10))
      assert.strictEqual(yield* duration(acquire()), 1020)
    }).pipe(adaptive, latest))

  it.effect("takes a 429 to mean that nothing remains, whatever its header says", () =>
    Effect.gen(function*() {
      yield* exchange(told(10, 10, 10, { status: 429 }))
      assert.strictEqual(yield* duration(acquire()), 1000)
    }).pipe(adaptive, exactly))

  it.effect("sends nothing before Retry-After is over, and not later", () =>
    Effect.gen(function*() {
      yield* exchange(told(10, 5, 1, { status: 429, headers: { "Retry-After": 30 } }))
      assert.strictEqual(yield* duration(acquire()), 30_000)
    }).pipe(adaptive, exactly))

  it.effect("reads a Retry-After that is a date by the answer's own Date", () =>
    Effect.gen(function*() {
      const date = new Date((server + 30) * 1000).toUTCString()
      yield* exchange(told(10, 5, 1, { status: 429, headers: { "Retry-After": date } }))
      assert.strictEqual(yield* duration(acquire()), 30_000)
    }).pipe(adaptive, exactly))

  it.effect("waits for Retry-After also where nothing else is known", () =>
    Effect.gen(function*() {
      yield* exchange(answer(429, { "Retry-After": 30 }))
      assert.strictEqual(yield* duration(acquire()), 30_000)
      assert.deepStrictEqual(yield* status, [{ ...call, waiting: 0 }])
    }).pipe(adaptive, exactly))

  it.effect("waits for Retry-After also where the limit is told to be 0", () =>
    Effect.gen(function*() {
      yield* exchange(told(0, 0, 0, { status: 429, headers: { "Retry-After": 30 } }))
      assert.strictEqual(yield* duration(acquire()), 30_000)
    }).pipe(adaptive, exactly))

  it.effect("keeps to a Retry-After although a call that was under way succeeds", () =>
    Effect.gen(function*() {
      yield* acquire()
      yield* exchange(told(10, 0, 1, { status: 429, headers: { "Retry-After": 30 } }))
      yield* observe(told(10, 9, 1))
      assert.strictEqual(yield* duration(acquire()), 30_000)
    }).pipe(adaptive, exactly))

  it.effect("takes Retry-After of an answer that is no 429 for something else", () =>
    Effect.gen(function*() {
      yield* exchange(told(10, 5, 1, { status: 503, headers: { "Retry-After": 30 } }))
      assert.strictEqual(yield* duration(acquire()), 0)
    }).pipe(adaptive, exactly))

  it.effect("takes calls under way off what remains", () =>
    Effect.gen(function*() {
      yield* Effect.all([acquire(), acquire(), acquire()])
      yield* observe(told(10, 4, 6))
      const { times } = yield* race(3)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times, [0, 0, 1000])
    }).pipe(adaptive, exactly))

  it.effect("takes a call off no more when it is over, answered or not", () =>
    Effect.gen(function*() {
      yield* Effect.all([acquire(), acquire(), acquire()])
      yield* observe(undefined)
      yield* observe(undefined)
      yield* observe(told(10, 2, 8))
      assert.strictEqual(yield* duration(Effect.zipRight(acquire(), acquire()), 0), 0)
      assert.strictEqual(yield* duration(acquire()), 1000)
    }).pipe(adaptive, exactly))

  it.effect("takes what a waiting call would take off no more when it is interrupted", () =>
    Effect.gen(function*() {
      yield* exchange(told(10, 1, 9))
      const { fibers, times } = yield* race(3)
      yield* Fiber.interrupt(fibers[1]!)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times, [0, 1000])
    }).pipe(adaptive, exactly))

  it.effect("lets those who wait go as soon as an answer says that they may", () =>
    Effect.gen(function*() {
      yield* acquire()
      yield* exchange(told(10, 0, 20))
      const { times } = yield* race(2)
      yield* TestClock.adjust(500)
      yield* observe(told(10, 9, 1))
      yield* TestClock.adjust("10 minutes")
      // The head of the queue sleeps its two seconds out; the next one does not wait any more.
      assert.deepStrictEqual(times.map((time) => time <= 4000), [true, true])
      assert.strictEqual(times[0], times[1])
    }).pipe(adaptive, exactly))

  it.effect("knows each operation and each tenant for itself", () =>
    Effect.gen(function*() {
      yield* exchange(told(10, 0, 10))
      assert.strictEqual(yield* duration(acquire(other), 0), 0)
      assert.strictEqual(yield* duration(acquire(abroad), 0), 0)
      assert.strictEqual(yield* duration(acquire()), 1000)
    }).pipe(adaptive, exactly))

  it.effect("learns the pace from what is missing and the time until it is full", () =>
    Effect.gen(function*() {
      yield* exchange(told(100, 40, 6))
      assert.deepStrictEqual(yield* status, [
        { ...call, waiting: 0, limit: 100, remaining: 40, resetAt: DateTime.unsafeMake(6000) }
      ])
      yield* exchange(told(100, 100, 0))
      for (let nth = 0; nth < 100; nth++) yield* acquire()
      // A full bucket tells nothing of the pace: what was known before stands, 10 a second.
      assert.strictEqual(yield* duration(acquire()), 100)
    }).pipe(adaptive, exactly))

  it.effect("assumes that a bucket it has only seen full comes back in the time it is told", () =>
    Effect.gen(function*() {
      yield* exchange(told(2, 2, 4))
      yield* Effect.zipRight(acquire(), acquire())
      assert.strictEqual(yield* duration(acquire()), 2000)
    }).pipe(adaptive, exactly))

  it.effect("tells what it knows, an entry for each operation that was called", () =>
    Effect.gen(function*() {
      yield* exchange(told(10, 2, 8))
      yield* exchange(undefined, other)
      yield* race(4)
      yield* breathe
      assert.deepStrictEqual(yield* status, [
        { ...call, waiting: 2, limit: 10, remaining: 0, resetAt: DateTime.unsafeMake(10_000) },
        { ...other, waiting: 0 }
      ])
    }).pipe(adaptive, exactly))

  const unchanged = (name: string, answer: RateLimiter.Answer | undefined) =>
    it.effect(`keeps what it knows when an answer has ${name}`, () =>
      Effect.gen(function*() {
        yield* exchange(told(10, 5, 5))
        const before = yield* status
        yield* acquire()
        yield* observe(answer)
        const [after] = yield* status
        assert.deepStrictEqual(after, { ...before[0]!, remaining: 4, resetAt: DateTime.unsafeMake(6000) })
        for (let nth = 0; nth < 4; nth++) yield* acquire()
        assert.strictEqual(yield* duration(acquire()), 1000)
      }).pipe(adaptive, exactly))

  unchanged("none of the headers", answer(200))
  unchanged("a 5xx without them", answer(503))
  unchanged("nothing, for none came", undefined)
  unchanged("a limit of 0", told(0, 0, 0))
  unchanged("garbage for a limit", told("lots", 3, 60))
  unchanged("a negative limit", told("-5", 3, 60))
  unchanged("a fraction for a limit", told("1.5", 0, 60))
  unchanged("an infinite limit", told("Infinity", 0, 60))
  unchanged("an empty limit", told("", 0, 60))
  unchanged("a limit beyond all numbers", told("9".repeat(400), 0, 60))
  unchanged("a limit alone", answer(200, { "x-ratelimit-limit": 10 }))
  unchanged("garbage for what remains", told(10, "some", 60))

  it.effect("takes a 429 without any header for no news of the bucket", () =>
    Effect.gen(function*() {
      yield* exchange(answer(429))
      assert.strictEqual(yield* duration(acquire()), 0)
    }).pipe(adaptive, exactly))

  it.effect("takes calls under way off the limit where more remains than there can be", () =>
    Effect.gen(function*() {
      yield* Effect.all([acquire(), acquire(), acquire()])
      yield* observe(told(3, 1000, 3))
      assert.strictEqual(yield* duration(acquire(), 0), 0)
      assert.strictEqual(yield* duration(acquire()), 1000)
    }).pipe(adaptive, exactly))

  it.effect("takes a bucket whose reset is not told to be full in a second", () =>
    Effect.gen(function*() {
      yield* exchange(answer(200, { "x-ratelimit-limit": 10, "x-ratelimit-remaining": 0 }))
      assert.strictEqual(yield* duration(acquire()), 100)
    }).pipe(adaptive, exactly))

  it.effect("takes more remaining than there can be for a full bucket", () =>
    Effect.gen(function*() {
      yield* exchange(told(3, 1000, 3))
      const { times } = yield* race(4)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times, [0, 0, 0, 1000])
    }).pipe(adaptive, exactly))
})

it.effect("a call that is interrupted between taking its place and going gives it back", () =>
  Effect.gen(function*() {
    const runtime = yield* Effect.runtime()
    let givenBack = 0
    for (let step = 1; step <= 80; step++) {
      const limiter = yield* Effect.provide(
        RateLimiter.RateLimiter,
        RateLimiter.layerFixed({ limit: 5, interval: "1 day" })
      )
      const remaining = Effect.map(limiter.status, ([known]) => known?.remaining)
      let meanwhile: number | undefined
      const attempt = interruptedAt(step, limiter.acquire(call), () => {
        meanwhile = Runtime.runSync(runtime)(remaining)
      })
      yield* Fiber.await(yield* Effect.fork(attempt))
      if (meanwhile === 4 && (yield* remaining) === 5) givenBack++
    }
    assert.isAbove(givenBack, 0)
  }).pipe(exactly))

for (
  const [name, layer] of [
    ["layerFixed", RateLimiter.layerFixed({ limit: 5, interval: "1 day" })],
    ["layer", RateLimiter.layer]
  ] as const
) {
  it.effect(`${name} is not stuck, whichever step of a call is interrupted`, () =>
    Effect.gen(function*() {
      const outcomes: Array<boolean> = []
      for (let step = 1; step <= 80; step++) {
        const limiter = yield* Effect.provide(RateLimiter.RateLimiter, layer)
        const fiber = yield* Effect.fork(interruptedAt(step, limiter.acquire(call)))
        const exit = yield* Fiber.await(fiber)
        outcomes.push(Exit.isSuccess(exit))
        yield* limiter.acquire(call)
        const known = (yield* limiter.status)[0]!
        assert.strictEqual(known.waiting, 0)
        if (known.limit !== undefined) assert.include(Exit.isSuccess(exit) ? [3] : [3, 4], known.remaining)
      }
      assert.isFalse(outcomes[0])
      assert.isTrue(outcomes.at(-1))
    }).pipe(exactly))
}

/** What a header may hold: mostly numbers that make sense, else all that a server may think of. */
const number = (max: number) =>
  FastCheck.oneof(
    { weight: 6, arbitrary: FastCheck.integer({ min: 0, max }) },
    {
      weight: 1,
      arbitrary: FastCheck.constantFrom(
        undefined,
        "",
        "-1",
        "1.5",
        "NaN",
        "Infinity",
        "1e9",
        "0x10",
        "9".repeat(20),
        "x"
      )
    }
  )

const step = FastCheck.record({
  status: FastCheck.constantFrom(200, 204, 401, 429, 503),
  limit: number(60),
  remaining: number(80),
  reset: FastCheck.integer({ min: -120, max: 120 }),
  retryAfter: FastCheck.oneof(FastCheck.constant(undefined), number(60)),
  silent: FastCheck.boolean(),
  interrupt: FastCheck.boolean(),
  background: FastCheck.boolean(),
  pause: FastCheck.integer({ min: 0, max: 5000 })
})

it.effect.prop(
  "whatever the headers say, every call is let through in bounded time, and nothing is left over",
  [FastCheck.array(step, { minLength: 1, maxLength: 20 }), FastCheck.integer({ min: 0, max: 4_000_000_000_000 })],
  ([steps, local]) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(local)
      const lingering = yield* Effect.fork(Effect.forEach([1, 2, 3], () => acquire()))
      yield* breathe
      for (const { background, interrupt, limit, pause, remaining, reset, retryAfter, silent, status: code } of steps) {
        const headers = {
          date: new Date(server * 1000).toUTCString(),
          "x-ratelimit-limit": limit,
          "x-ratelimit-remaining": remaining,
          "x-ratelimit-reset": server + reset,
          "retry-after": retryAfter
        }
        const waiting = background ? RateLimiter.background(acquire()) : acquire()
        if (interrupt) {
          const fiber = yield* Effect.fork(waiting)
          yield* TestClock.adjust(pause)
          // Let through before it was interrupted, it is a call under way like any other.
          if (fiber.unsafePoll() !== null) yield* observe(undefined)
          else yield* Fiber.interrupt(fiber)
        }
        // At worst: all of a reserve of 12, three lingering and its own, at one in two minutes, and jitter.
        yield* duration(waiting, (12 + 3 + 1) * 120_000 + 60_000 + 100)
        yield* observe(silent ? undefined : answer(code, headers))
        for (const known of yield* status) {
          assert.strictEqual(known.waiting, 0)
          if (known.limit === undefined) continue
          assert.isTrue(Number.isInteger(known.remaining) && known.remaining! >= 0 && known.remaining! <= known.limit)
          assert.isTrue(Number.isFinite(known.resetAt!.epochMillis))
        }
      }
      yield* Fiber.join(lingering)
      yield* Effect.forEach([1, 2, 3], () => observe(undefined))
      // When nothing is under way, what the service says is exactly what is believed.
      yield* duration(acquire())
      yield* observe(told(7, 3, 60))
      assert.deepInclude((yield* status)[0], { limit: 7, remaining: 3, waiting: 0 })
    }).pipe(adaptive),
  { fastCheck: { numRuns: 40 } }
)
