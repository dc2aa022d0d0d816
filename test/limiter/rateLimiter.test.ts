import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import {
  Chunk,
  Clock,
  Context,
  DateTime,
  Duration,
  Effect,
  Exit,
  FastCheck,
  Fiber,
  FiberId,
  Layer,
  Option,
  Random,
  Runtime,
  Scope,
  Stream,
  TestClock
} from "effect"
import { InvalidInput } from "../../src/Errors.js"
import { listActionVersions } from "../../src/operations/index.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import { forAll } from "../support/arbitraries.js"
import * as Permits from "../support/permits.js"
import { makeYielding } from "../support/schedulers.js"

const tenant = "https://t.example.com/api/v2"
const call: RateLimiter.Call = { tenant, operation: listActionVersions.endpoint.name }
const other: RateLimiter.Call = { tenant, operation: "deleteEventStream" }
const abroad: RateLimiter.Call = { tenant: "https://u.example.com/api/v2", operation: call.operation }

/** The server's clock, in seconds: years away from the test's. */
const server = 1_900_000_000

const plainResponse = (
  status: number,
  headers: Record<string, string | number | undefined> = {}
): RateLimiter.LimitedResponse => ({
  status,
  headers: Headers.fromInput(
    Object.entries(headers).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)] as const])
  )
})

/** Response with the three rate-limit headers; `reset` in seconds from the time of the server. */
const withHeaders = (
  limit: number | string,
  remaining: number | string,
  reset: number,
  more: { readonly status?: number; readonly headers?: Record<string, string | number> } = {}
) =>
  plainResponse(more.status ?? 200, {
    "X-RateLimit-Limit": limit,
    "X-RateLimit-Remaining": remaining,
    "X-RateLimit-Reset": server + reset,
    Date: new Date(server * 1000).toUTCString(),
    ...more.headers
  })

const breathe = Effect.repeatN(Effect.yieldNow(), 100)
const acquire = (which = call) => Effect.flatMap(RateLimiter.RateLimiter, (limiter) => Permits.acquire(limiter, which))
const settle = (response: RateLimiter.LimitedResponse | undefined, which = call) =>
  Effect.flatMap(RateLimiter.RateLimiter, (limiter) => Permits.settleOldest(limiter, which, response))
const { status } = RateLimiter

/** A limiter that lives as long as the test. */
const limiterOf = <E>(layer: Layer.Layer<RateLimiter.RateLimiter, E>) =>
  Effect.map(Layer.build(layer), Context.get(RateLimiter.RateLimiter))

/** Makes a call with an immediate response. */
const exchange = (response: RateLimiter.LimitedResponse | undefined, which = call) =>
  Effect.zipRight(acquire(which), settle(response, which))

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

/** Runs an effect that is interrupted while it yields at one of its steps. */
const interruptedAt = <A, E, R>(step: number, effect: Effect.Effect<A, E, R>, onYield = () => {}) => {
  let seen = 0
  const scheduler = makeYielding((fiber) => {
    if (++seen !== step) return false
    onYield()
    fiber.unsafeInterruptAsFork(FiberId.none)
    return true
  })
  return Effect.withScheduler(effect, scheduler)
}

const fixed = (limit: number, interval: number, reserve?: number) =>
  Effect.provide(RateLimiter.layerFixed({ limit, interval, ...(reserve !== undefined && { reserve }) }))
const adaptive = Effect.provide(RateLimiter.layer)

/** Starts `count` calls one after the other, and records the times of their permits. */
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
  it.effect("lets every call start, and has no state", () =>
    Effect.gen(function*() {
      for (let nth = 0; nth < 100; nth++) yield* exchange(withHeaders(1, 0, 1000, { status: 429 }))
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
      assert.deepStrictEqual(yield* status, [])
      assert.deepStrictEqual(yield* Stream.runCollect(RateLimiter.changes), Chunk.of([]))
    }).pipe(Effect.provide(RateLimiter.layerUnlimited)))
})

describe("layerFixed", () => {
  for (
    const [setting, options] of [
      ["limit", { limit: 0, interval: "1 second" }],
      ["limit", { limit: 0.5, interval: "1 second" }],
      ["limit", { limit: NaN, interval: "1 second" }],
      ["interval", { limit: 1, interval: 0 }],
      ["interval", { limit: 1, interval: Infinity }],
      ["reserve", { limit: 1, interval: "1 second", reserve: NaN }],
      ["reserve", { limit: 1, interval: "1 second", reserve: -0.1 }],
      ["reserve", { limit: 1, interval: "1 second", reserve: 20 }]
    ] as const
  ) {
    const { interval, limit, reserve } = { reserve: 0.2, ...options }
    it.scoped(`of ${limit} calls in ${interval} with a reserve of ${reserve} is InvalidInput: ${setting}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Layer.build(RateLimiter.layerFixed(options)))
        assert.strictEqual(error.operation, "RateLimiter.layerFixed")
        const expected = {
          limit: "an integer of at least 1",
          interval: "a time above zero",
          reserve: "a number from 0 to 1"
        }[setting]
        assert.deepStrictEqual(error.issues, [{ path: setting, message: `expected ${expected}` }])
      }))
  }

  it.effect("starts a burst at once and the rest evenly", () =>
    Effect.gen(function*() {
      const { times } = yield* race(7)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times, [0, 0, 0, 500, 1000, 1500, 2000])
    }).pipe(fixed(3, 1500)))

  it.effect("waits no longer because fractions are rounded", () =>
    Effect.gen(function*() {
      for (let limit = 1; limit <= 49; limit++) {
        const time = yield* Effect.gen(function*() {
          for (let nth = 0; nth < limit; nth++) yield* acquire()
          return yield* duration(acquire())
        }).pipe(fixed(limit, 1000))
        assert.approximately(time, Math.max(20, 1000 / limit), 0.01)
      }
    }))

  it.effect("does not stall when the local clock is set back", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(3_600_000)
      yield* Effect.zipRight(acquire(), acquire())
      yield* TestClock.setTime(0)
      assert.strictEqual(yield* duration(acquire()), 500)
    }).pipe(fixed(2, 1000)))

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
    }).pipe(fixed(2, 1000)))

  it.effect("never starts more calls in a period than burst and rate allow", () =>
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

  it.effect("refills in a pause, but not above its limit", () =>
    Effect.gen(function*() {
      yield* Fiber.join((yield* race(3)).fibers[2]!)
      yield* TestClock.adjust("1 day")
      const from = yield* Clock.currentTimeMillis
      const { times } = yield* race(4)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times.map((time) => time - from), [0, 0, 0, 500])
    }).pipe(fixed(3, 1500)))

  it.effect("is one limit for all operations and tenants", () =>
    Effect.gen(function*() {
      yield* acquire(call)
      yield* acquire(other)
      assert.strictEqual(yield* duration(acquire(abroad)), 500)
    }).pipe(fixed(2, 1000)))

  it.effect("learns nothing from responses", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(1000, 0, 1000, { status: 429, headers: { "Retry-After": 600 } }))
      assert.strictEqual(yield* duration(acquire(), 0), 0)
      assert.strictEqual(yield* duration(acquire()), 500)
    }).pipe(fixed(2, 1000)))

  it.effect("serves calls in the order of arrival, also those that come when another starts", () =>
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
    }).pipe(fixed(1, 100)))

  it.effect("gives the permit of an interrupted call to the next, at the same time", () =>
    Effect.gen(function*() {
      const { fibers, times } = yield* race(5)
      yield* TestClock.adjust("250 millis")
      yield* Fiber.interrupt(fibers[1]!)
      yield* Fiber.interrupt(fibers[3]!)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times, [0, 1000, 2000])
    }).pipe(fixed(1, 1000)))

  it.effect("starts the next call when a thousand waiting calls were interrupted", () =>
    Effect.gen(function*() {
      const { fibers } = yield* race(1001)
      yield* Fiber.interruptAll(fibers)
      assert.deepInclude((yield* status)[0], { waiting: 0, remaining: 0 })
      assert.strictEqual(yield* duration(acquire()), 1000)
    }).pipe(fixed(1, 1000)))

  it.effect("reports limit, remaining, waiting and the time when it is full", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* status, [
        { tenant: "*", operation: "*", waiting: 0, limit: 3, remaining: 3, resetAt: DateTime.unsafeMake(0) }
      ])
      yield* race(5)
      yield* breathe
      assert.deepStrictEqual(yield* status, [
        {
          tenant: "*",
          operation: "*",
          waiting: 2,
          reason: "limit",
          limit: 3,
          remaining: 0,
          resetAt: DateTime.unsafeMake(1500)
        }
      ])
      yield* TestClock.adjust(2000)
      assert.deepInclude((yield* status)[0], { waiting: 0, remaining: 2, resetAt: DateTime.unsafeMake(2500) })
    }).pipe(fixed(3, 1500)))
})

describe("background", () => {
  it.effect("leaves a fifth of the limit to other calls by default", () =>
    Effect.gen(function*() {
      for (let nth = 0; nth < 8; nth++) assert.strictEqual(yield* duration(RateLimiter.withBackground(acquire()), 0), 0)
      const held = yield* Effect.fork(RateLimiter.withBackground(acquire()))
      yield* breathe
      assert.isNull(held.unsafePoll())
      assert.strictEqual(yield* duration(Effect.zipRight(acquire(), acquire()), 0), 0)
      assert.isNull(held.unsafePoll())
      // Three of them must come back: two for the reserve, and its own.
      yield* TestClock.adjust(299)
      assert.isNull(held.unsafePoll())
      yield* TestClock.adjust(1)
      assert.isNotNull(held.unsafePoll())
    }).pipe(fixed(10, 1000)))

  it.effect("leaves nothing with a reserve of 0", () =>
    Effect.gen(function*() {
      for (let nth = 0; nth < 10; nth++) yield* RateLimiter.withBackground(acquire())
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
    }).pipe(fixed(10, 1000, 0)))

  it.effect("still goes through with a reserve of all: when the bucket is full", () =>
    Effect.gen(function*() {
      yield* acquire()
      assert.strictEqual(yield* duration(RateLimiter.withBackground(acquire())), 100)
    }).pipe(fixed(10, 1000, 1)))

  it.effect("still goes through where the limit is one", () =>
    Effect.gen(function*() {
      yield* acquire()
      assert.strictEqual(yield* duration(RateLimiter.withBackground(acquire())), 1000)
    }).pipe(fixed(1, 1000)))

  it.effect("does not delay other calls", () =>
    Effect.gen(function*() {
      for (let nth = 0; nth < 10; nth++) yield* acquire()
      const held = yield* Effect.fork(RateLimiter.withBackground(acquire()))
      yield* breathe
      for (let nth = 0; nth < 5; nth++) assert.strictEqual(yield* duration(acquire(), 100), 100)
      assert.isNull(held.unsafePoll())
    }).pipe(fixed(10, 1000)))

  it.effect("starts after other calls that came later, and counts as waiting", () =>
    Effect.gen(function*() {
      yield* acquire()
      const order: Array<string> = []
      const one = (name: string, acquire: Effect.Effect<void, unknown, RateLimiter.RateLimiter>) =>
        Effect.fork(Effect.map(acquire, () => order.push(name)))
      yield* one("background", RateLimiter.withBackground(acquire()))
      yield* breathe
      yield* one("other", acquire())
      yield* breathe
      assert.deepInclude((yield* status)[0], { waiting: 2 })
      yield* TestClock.adjust(2000)
      assert.deepStrictEqual(order, ["other", "background"])
    }).pipe(fixed(1, 1000, 0)))

  it.effect("keeps the reserve of the limit in the headers", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(10, 5, 50))
      assert.strictEqual(yield* duration(RateLimiter.withBackground(acquire()), 0), 0)
      yield* settle(withHeaders(10, 4, 60))
      const held = yield* Effect.fork(RateLimiter.withBackground(acquire()))
      yield* TestClock.adjust(100)
      assert.isNull(held.unsafePoll())
      assert.strictEqual(yield* duration(acquire(), 0), 0)
    }).pipe(adaptive))

  it.scoped("is refused with InvalidInput if it is no share, also without known limits", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Layer.build(RateLimiter.layerAdaptive({ reserve: NaN })))
      assert.deepStrictEqual(
        error,
        new InvalidInput({
          operation: "RateLimiter.layerAdaptive",
          issues: [{ path: "reserve", message: "expected a number from 0 to 1" }]
        })
      )
    }))

  it.effect("does not wait while nothing is known", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* duration(RateLimiter.withBackground(acquire()), 0), 0)
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ reserve: 1 }))))
})

/** A bucket that refills, by the test's clock, and tells as the service does. */
const bucket = (limit: number, perSecond: number) => {
  let full = -Infinity
  const counts = { served: 0, refused: 0 }
  const ask = Effect.map(Clock.currentTimeMillis, (now) => {
    const perCall = 1000 / perSecond
    const left = limit - Math.max(0, full - now) / perCall + 1e-9
    const isFree = left >= 1
    if (isFree) full = Math.max(full, now) + perCall
    counts[isFree ? "served" : "refused"]++
    return plainResponse(isFree ? 200 : 429, {
      "x-ratelimit-limit": limit,
      "x-ratelimit-remaining": Math.max(0, Math.floor(isFree ? left - 1 : left)),
      "x-ratelimit-reset": Math.ceil((server * 1000 + Math.max(now, full)) / 1000),
      "date": new Date(Math.floor((server * 1000 + now) / 1000) * 1000).toUTCString()
    })
  })
  return { ask, counts }
}

/** A call of an operation to a bucket, 5 ms each way, again when it is turned away. */
const callOn = (
  { ask }: ReturnType<typeof bucket>,
  operation: string
): Effect.Effect<void, unknown, RateLimiter.RateLimiter> =>
  Effect.gen(function*() {
    const call = { tenant, operation }
    yield* acquire(call)
    yield* Effect.sleep(5)
    const response = yield* ask
    yield* Effect.sleep(5)
    yield* settle(response, call)
    if (response.status === 429) {
      yield* Effect.zipRight(Effect.sleep(100), callOn({ ask, counts: { served: 0, refused: 0 } }, operation))
    }
  })

const all = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.all(effects, { concurrency: "unbounded" })
const times = (count: number) => Array.from({ length: count }, (_, nth) => nth)

/** Counts the permits of `count` calls within a time in milliseconds, without a response to any. */
const letThrough = (count: number, within: number, which = call) =>
  Effect.gen(function*() {
    const fibers = yield* Effect.forEach(times(count), () => Effect.fork(acquire({ ...which })))
    yield* breathe
    yield* TestClock.adjust(within)
    const through = fibers.filter((fiber) => fiber.unsafePoll() !== null).length
    yield* Fiber.interruptAll(fibers.filter((fiber) => fiber.unsafePoll() === null))
    return through
  })

describe("layer", () => {
  it.effect("starts with one call, and waits for its response", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* letThrough(100, 1000), 1)
      assert.deepStrictEqual(yield* status, [{ ...call, waiting: 0 }])
    }).pipe(adaptive))

  it.effect("starts with one call for all operations of a tenant, and with one for each tenant", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* letThrough(10, 1000), 1)
      assert.strictEqual(yield* letThrough(10, 1000, other), 0)
      assert.strictEqual(yield* letThrough(10, 1000, abroad), 1)
    }).pipe(adaptive))

  it.effect("starts a call of another operation after 2 s without a response to the first", () =>
    Effect.gen(function*() {
      yield* acquire({ ...call })
      assert.strictEqual(yield* duration(acquire({ ...other })), 2000)
    }).pipe(adaptive))

  it.effect("goes on with one call when the first ends without a response", () =>
    Effect.gen(function*() {
      const first = { ...call }
      yield* acquire(first)
      const second = yield* Effect.fork(acquire({ ...call }))
      yield* breathe
      assert.isNull(second.unsafePoll())
      yield* settle(undefined, first)
      yield* Fiber.join(second)
    }).pipe(adaptive))

  it.effect("doubles the calls in flight to a service without rate-limit headers", () =>
    Effect.gen(function*() {
      let most = 0
      let inFlight = 0
      const one = Effect.gen(function*() {
        const mine = { ...call }
        yield* acquire(mine)
        most = Math.max(most, ++inFlight)
        yield* Effect.sleep(100)
        inFlight--
        yield* settle(plainResponse(200), mine)
      })
      const time = yield* duration(all(times(255).map(() => one)))
      assert.isAtMost(time, 1000)
      assert.isAtLeast(most, 64)
    }).pipe(adaptive))

  it.effect("takes a place back from a call that was not sent, unless it has ended otherwise", () =>
    Effect.gen(function*() {
      for (let nth = 0; nth < 3; nth++) yield* exchange(plainResponse(200))
      const permits: Array<Permits.Permit> = []
      const callers = yield* Effect.forEach(
        times(4),
        () => Effect.fork(Effect.zipRight(Effect.map(acquire(), (permit) => permits.push(permit)), Effect.never))
      )
      yield* breathe
      assert.strictEqual(yield* letThrough(10, 0), 0)
      yield* permits[2]!.giveBack ?? Effect.void
      for (const nth of [0, 1, 3]) yield* permits[nth]!.settle(undefined)
      assert.strictEqual(yield* letThrough(10, 0), 4)
      for (const permit of permits) yield* permit.settle(undefined) // the second settlement of each
      yield* Fiber.interruptAll(callers)
      assert.strictEqual(yield* letThrough(10, 0), 0)
    }).pipe(adaptive))

  for (const [name, more] of [["", []], [", also after a response without headers", [plainResponse(200)]]] as const) {
    it.effect(`never has more calls in flight than the service has left${name}`, () =>
      Effect.gen(function*() {
        yield* exchange(withHeaders(10, 4, 6))
        for (const response of more) yield* exchange(response)
        assert.isAtMost(yield* letThrough(20, 0), 4 - more.length)
        assert.isAtMost(yield* letThrough(20, 100), 4 - more.length)
      }).pipe(adaptive))
  }

  for (const local of [server * 1000 - 60_000, server * 1000 + 60_000, server * 3000]) {
    it.effect(`counts from the response's Date, not from the local clock at ${new Date(local).toISOString()}`, () =>
      Effect.gen(function*() {
        const waited = Effect.zipRight(exchange(withHeaders(10, 0, 30)), duration(acquire()))
        const usual = yield* Effect.provide(waited, RateLimiter.layer)
        yield* TestClock.setTime(local)
        assert.closeTo(yield* Effect.provide(waited, RateLimiter.layer), usual, 0.001)
        assert.isAbove(usual, 1000)
        assert.isBelow(usual, 30_000)
      }))
  }

  it.effect("counts from the local clock where the response has no Date", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime((server - 20) * 1000)
      const bare = plainResponse(200, {
        "x-ratelimit-limit": 10,
        "x-ratelimit-remaining": 0,
        "x-ratelimit-reset": server
      })
      yield* exchange(bare)
      const time = yield* duration(acquire())
      assert.isAbove(time, 1000)
      assert.isBelow(time, 20_000)
    }).pipe(adaptive))

  for (const reset of [-server, -86_400, -1, 0, 1]) {
    it.effect(`neither spins nor waits long where the reset is ${reset} s from now and every call is refused`, () =>
      Effect.gen(function*() {
        const time = yield* duration(
          Effect.forEach(times(10), () => exchange(withHeaders(10, 0, reset, { status: 429 }))),
          600_000
        )
        assert.isAbove(time, 500)
      }).pipe(adaptive))
  }

  it.effect("waits for a millisecond at least, so that a tiny estimate does not spin", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(1_000_000, 0, 1))
      const time = yield* duration(acquire())
      assert.isAtLeast(time, 1)
      assert.isAtMost(time, 50)
    }).pipe(adaptive))

  it.effect("takes a 429 to mean that nothing remains, whatever its header says", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(10, 10, 10, { status: 429 }))
      assert.isAbove(yield* duration(acquire()), 200)
    }).pipe(adaptive))

  it.effect("sends the next call when Retry-After has passed, not sooner and not later", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(10, 5, 1, { status: 429, headers: { "Retry-After": 30 } }))
      assert.strictEqual(yield* duration(acquire()), 30_000)
    }).pipe(adaptive))

  it.effect("reads a Retry-After date relative to the response's own Date", () =>
    Effect.gen(function*() {
      const date = new Date((server + 30) * 1000).toUTCString()
      yield* exchange(withHeaders(10, 5, 1, { status: 429, headers: { "Retry-After": date } }))
      assert.strictEqual(yield* duration(acquire()), 30_000)
    }).pipe(adaptive))

  for (const headers of [{}, { "x-ratelimit-limit": 0, "x-ratelimit-remaining": 0, "x-ratelimit-reset": server }]) {
    it.effect(`waits for Retry-After where nothing else is known: ${JSON.stringify(headers)}`, () =>
      Effect.gen(function*() {
        yield* exchange(plainResponse(429, { ...headers, "Retry-After": 30 }))
        assert.strictEqual(yield* duration(acquire()), 30_000)
        assert.deepStrictEqual(yield* status, [{ ...call, waiting: 0 }])
      }).pipe(adaptive))
  }

  it.effect("applies Retry-After only to operations with the same limit", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(5, 4, 1), other)
      yield* exchange(withHeaders(10, 5, 1))
      yield* exchange(withHeaders(10, 5, 1, { status: 429, headers: { "Retry-After": 30 } }))
      assert.strictEqual(yield* duration(acquire(other), 0), 0)
    }).pipe(adaptive))

  it.effect("keeps to Retry-After when a call in flight succeeds", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(10, 9, 1))
      const [early, late] = [{ ...call }, { ...call }]
      yield* Effect.zipRight(acquire(early), acquire(late))
      yield* settle(withHeaders(10, 0, 1, { status: 429, headers: { "Retry-After": 30 } }), late)
      yield* settle(withHeaders(10, 9, 1), early)
      assert.strictEqual(yield* duration(acquire()), 30_000)
    }).pipe(adaptive))

  const pause = (seconds: number) => withHeaders(10, 0, 1, { status: 429, headers: { "Retry-After": seconds } })

  it.effect("starts one call after 15 min if Retry-After is longer, and the others when that one is served", () =>
    Effect.gen(function*() {
      yield* exchange(pause(99_999_999_999))
      const { fibers, times } = yield* race(3)
      yield* TestClock.adjust("899999 millis")
      assert.deepStrictEqual(times, [])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times, [900_000])
      yield* settle(withHeaders(10, 9, 1))
      yield* TestClock.adjust("1 minute")
      yield* Effect.forEach(fibers, Fiber.join)
      assert.lengthOf(times, 3)
    }).pipe(adaptive))

  it.effect("tries one call after another while none gets a response, and pauses again when one is refused", () =>
    Effect.gen(function*() {
      yield* exchange(pause(7200))
      const { fibers, times } = yield* race(4)
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(times, [60_000])
      yield* TestClock.adjust("5 seconds")
      yield* settle(undefined)
      yield* breathe
      assert.deepStrictEqual(times, [60_000, 65_000])
      yield* settle(pause(7200))
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(times, [60_000, 65_000, 125_000])
      yield* settle(pause(10))
      yield* TestClock.adjust("20 seconds")
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(times, [60_000, 65_000, 125_000, 135_000])
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ maxPause: "1 minute" }))))

  it.effect("still tries one call at a time if calls from before the pause are served", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(10, 9, 1))
      const [early, late] = [{ ...call }, { ...call }]
      yield* Effect.zipRight(acquire(early), acquire(late))
      yield* settle(pause(7200), late)
      yield* settle(withHeaders(10, 9, 1), early)
      const { fibers, times } = yield* race(2)
      yield* TestClock.adjust("20 minutes")
      assert.deepStrictEqual(times, [900_000])
      yield* Effect.forEach(fibers, Fiber.interrupt)
    }).pipe(adaptive))

  it.effect("forgets tenants without calls for an hour, except with calls in flight or in a pause", () =>
    Effect.gen(function*() {
      const of = (name: string): RateLimiter.Call => ({ tenant: name, operation: "a" })
      const tenants = Effect.map(status, (all) => all.map(({ tenant }) => tenant))
      yield* exchange(withHeaders(10, 9, 1), of("idle"))
      yield* exchange(pause(7200), of("paused"))
      const [inFlight, first, second] = [of("in flight"), of("two calls"), of("two calls")]
      yield* acquire(inFlight)
      yield* acquire(first)
      const waiting = yield* Effect.fork(acquire(second))
      yield* breathe
      yield* TestClock.adjust("59 minutes")
      yield* exchange(withHeaders(10, 9, 1), of("recent"))
      assert.sameMembers(yield* tenants, ["idle", "paused", "in flight", "two calls", "recent"])
      yield* TestClock.adjust("1 minute")
      yield* exchange(withHeaders(10, 9, 1), of("now"))
      assert.sameMembers(yield* tenants, ["paused", "in flight", "two calls", "recent", "now"])

      // Permits from before and waits go on as if nothing had happened.
      yield* settle(withHeaders(10, 9, 1), first)
      yield* Fiber.join(waiting)
      yield* settle(withHeaders(10, 9, 1), second)
      yield* settle(withHeaders(10, 9, 1), inFlight)
      yield* exchange(withHeaders(10, 9, 1), of("idle"))
      yield* TestClock.adjust("2 hours")
      yield* exchange(withHeaders(10, 9, 1), of("now"))
      assert.deepStrictEqual(yield* tenants, ["now"])
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ maxPause: "2 hours" }))))

  it.effect("reports why calls wait", () =>
    Effect.gen(function*() {
      const reason = Effect.map(status, ([{ reason } = {}]) => reason)
      assert.isUndefined(yield* reason)
      yield* acquire()
      const { fibers } = yield* race(1)
      assert.strictEqual(yield* reason, "inFlight")
      yield* settle(pause(60))
      assert.strictEqual(yield* reason, "pause")
      yield* Effect.forEach(fibers, Fiber.interrupt)
      assert.isUndefined(yield* reason)
      yield* TestClock.adjust("1 minute")
      yield* exchange(withHeaders(10, 0, 100))
      const { fibers: others } = yield* race(1)
      assert.strictEqual(yield* reason, "limit")
      yield* Effect.forEach(others, Fiber.interrupt)
    }).pipe(adaptive))

  it.effect("ignores Retry-After of a response that is not a 429", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(10, 5, 1, { status: 503, headers: { "Retry-After": 30 } }))
      assert.strictEqual(yield* duration(acquire()), 0)
    }).pipe(adaptive))

  it.effect("gives the permit of an interrupted call to the next", () =>
    Effect.gen(function*() {
      const throughLast = (others: number) =>
        Effect.gen(function*() {
          const slow = bucket(2, 0.1)
          yield* duration(all(times(4).map(() => callOn(slow, "a"))), 600_000)
          const waiting = yield* Effect.forEach(times(others), () => Effect.fork(callOn(slow, "a")))
          yield* breathe
          const from = yield* Clock.currentTimeMillis
          const last = yield* Effect.fork(Effect.zipRight(callOn(slow, "a"), Clock.currentTimeMillis))
          yield* breathe
          yield* Fiber.interruptAll(waiting.slice(1))
          yield* TestClock.adjust(600_000)
          return (yield* Fiber.join(last)) - from
        }).pipe(Effect.provide(RateLimiter.layer))
      assert.isBelow(yield* throughLast(5), 2 * 20_000)
    }))

  it.effect("serves calls in the order of arrival across operations", () =>
    Effect.gen(function*() {
      const shared = bucket(3, 2)
      yield* duration(Effect.forEach(["a", "b", "c"], (operation) => callOn(shared, operation)))
      const order: Array<number> = []
      yield* duration(
        all(
          times(30).map((nth) => Effect.zipRight(callOn(shared, "abc"[nth % 3]!), Effect.sync(() => order.push(nth))))
        )
      )
      assert.deepStrictEqual(order, times(30))
    }).pipe(adaptive))

  it.effect("starts a call that waits for the end of another at once when that ends", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(10, 4, 6))
      const mine = { ...call }
      yield* acquire(mine)
      const waiting = yield* Effect.fork(acquire({ ...call }))
      yield* breathe
      assert.isNull(waiting.unsafePoll())
      yield* settle(withHeaders(10, 3, 7), mine)
      yield* breathe
      assert.isNotNull(waiting.unsafePoll())
    }).pipe(adaptive))

  it.effect("reports an entry for each operation that was called", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(10, 3, 7))
      yield* exchange(undefined, other)
      yield* race(4)
      yield* breathe
      const [known, unknown] = yield* status
      assert.deepInclude(known, { ...call, limit: 10 })
      assert.isAtMost(known!.remaining!, 3)
      assert.isAbove(known!.waiting, 0)
      assert.isAbove(DateTime.toEpochMillis(known!.resetAt!), 0)
      assert.deepStrictEqual(unknown, { ...other, waiting: 0 })
    }).pipe(adaptive))

  it.effect("reports each change, and the latest state to a slow reader", () =>
    Effect.gen(function*() {
      const seen: Array<ReadonlyArray<RateLimiter.Status>> = []
      yield* Effect.fork(Stream.runForEach(RateLimiter.changes, (known) => Effect.sync(() => seen.push(known))))
      yield* breathe
      assert.deepStrictEqual(seen, [[]])
      yield* exchange(withHeaders(10, 2, 8))
      yield* breathe
      assert.deepStrictEqual(seen.at(-1), yield* status)
      const before = seen.length
      const held = yield* Effect.fork(all(times(5).map(() => acquire({ ...call }))))
      yield* breathe
      assert.isAbove(seen.length, before)
      assert.isAbove(seen.at(-1)![0]!.waiting, 0)
      yield* Fiber.interrupt(held)
      yield* breathe
      assert.strictEqual(seen.at(-1)![0]!.waiting, 0)
      assert.lengthOf(yield* Stream.runCollect(Stream.take(RateLimiter.changes, 1)), 1)
    }).pipe(adaptive))

  const unchanged = (name: string, response: RateLimiter.LimitedResponse | undefined) =>
    it.effect(`keeps its estimate when a response has ${name}`, () =>
      Effect.gen(function*() {
        yield* exchange(withHeaders(10, 5, 5))
        yield* exchange(response)
        const [after] = yield* status
        assert.deepInclude(after, { limit: 10, remaining: 4, waiting: 0 })
      }).pipe(adaptive))

  unchanged("none of the headers", plainResponse(200))
  unchanged("a 5xx without them", plainResponse(503))
  unchanged("nothing, for none came", undefined)
  unchanged("a limit of 0", withHeaders(0, 0, 0))
  unchanged("garbage for a limit", withHeaders("lots", 3, 60))
  unchanged("a negative limit", withHeaders("-5", 3, 60))
  unchanged("a fraction for a limit", withHeaders("1.5", 0, 60))
  unchanged("an infinite limit", withHeaders("Infinity", 0, 60))
  unchanged("an empty limit", withHeaders("", 0, 60))
  unchanged("a limit beyond all numbers", withHeaders("9".repeat(400), 0, 60))
  unchanged("a limit alone", plainResponse(200, { "x-ratelimit-limit": 10 }))
  unchanged("garbage for what remains", withHeaders(10, "some", 60))

  it.effect("waits half a second after a 429 without headers, and twice as long after each further one", () =>
    Effect.gen(function*() {
      const refused = Effect.zipRight(settle(plainResponse(429)), duration(acquire()))
      yield* acquire()
      const waits = yield* Effect.replicateEffect(refused, 9)
      assert.deepStrictEqual(waits.map((millis) => millis / 1000), [0.5, 1, 2, 4, 8, 16, 32, 64, 64])
      yield* Effect.zipRight(settle(plainResponse(200)), duration(acquire()))
      assert.strictEqual(yield* refused, 32_000)
    }).pipe(adaptive))

  it.effect("halves the calls in flight after a 429 without headers, once for all calls that were", () =>
    Effect.gen(function*() {
      for (let nth = 0; nth < 3; nth++) yield* exchange(plainResponse(200))
      yield* Effect.replicateEffect(acquire(), 4)
      yield* settle(plainResponse(429))
      yield* settle(plainResponse(429))
      yield* Effect.replicateEffect(settle(undefined), 2)
      assert.deepStrictEqual([yield* letThrough(10, 400), yield* letThrough(10, 100)], [0, 1])
      assert.deepStrictEqual([yield* letThrough(10, 500), yield* letThrough(10, 10_000)], [1, 0])
    }).pipe(adaptive))

  it.effect("adds no calls in flight for 5xx responses", () =>
    Effect.gen(function*() {
      for (let nth = 0; nth < 5; nth++) yield* exchange(plainResponse(503))
      assert.strictEqual(yield* letThrough(10, 1000), 1)
    }).pipe(adaptive))

  it.effect("does not wait long for a bucket without a reset", () =>
    Effect.gen(function*() {
      yield* exchange(plainResponse(200, { "x-ratelimit-limit": 10, "x-ratelimit-remaining": 0 }))
      assert.isAtMost(yield* duration(acquire()), 1000)
    }).pipe(adaptive))
})

describe("operations", () => {
  it.effect("that share a bucket wait together", () =>
    Effect.gen(function*() {
      const shared = bucket(10, 5)
      const time = yield* duration(all(times(60).map((nth) => callOn(shared, "abcd"[nth % 4]!))))
      assert.isAtMost(shared.counts.refused, 1)
      assert.isAtMost(time, 1.06 * (60 - 10) / 5 * 1000)
    }).pipe(adaptive))

  for (const [name, second] of [["different limits", bucket(20, 5)], ["the same limit", bucket(10, 5)]] as const) {
    it.effect(`with separate buckets, of ${name}, do not delay each other`, () =>
      Effect.gen(function*() {
        const first = bucket(10, 5)
        const time = yield* duration(all(
          times(120).map((nth) =>
            nth % 2 === 0 ? callOn(first, "ab"[nth % 4 / 2]!) : callOn(second, "cd"[(nth % 4 - 1) / 2]!)
          )
        ))
        // Until they are withHeaders apart, the calls of the one look like those of somebody else to the other.
        assert.isAtMost(first.counts.refused + second.counts.refused, 5)
        // Were it one bucket for both, it would take twice as long.
        assert.isAtMost(time, 1.1 * (60 - 10) / 5 * 1000)
      }).pipe(adaptive))
  }

  it.effect("share a bucket again when the responses of each show the calls of the other", () =>
    Effect.gen(function*() {
      const [first, second] = [bucket(10, 5), bucket(10, 5)]
      yield* duration(all(times(30).map((nth) => nth % 2 === 0 ? callOn(first, "a") : callOn(second, "b"))))
      yield* duration(all(times(60).map((nth) => callOn(first, "ab"[nth % 2]!))))
      const refused = first.counts.refused
      yield* duration(all(times(60).map((nth) => callOn(first, "ab"[nth % 2]!))))
      assert.isAtMost(first.counts.refused - refused, 2)
      const left = Effect.map(status, (known) => known.map(({ remaining }) => remaining))
      const [before] = yield* left
      yield* acquire({ tenant, operation: "a" })
      assert.deepStrictEqual(yield* left, [before! - 1, before! - 1])
    }).pipe(adaptive))

  it.effect("that are new start before known ones, once", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const slow = bucket(2, 1)
      yield* duration(all(times(4).map(() => callOn(slow, "known"))))
      const one = (operation: string) =>
        Effect.zipRight(callOn(slow, operation), Effect.sync(() => order.push(operation)))
      const calls = ["known", "known", "known", "known", "known", "known", "new", "new"].map(one)
      yield* duration(all(calls))
      assert.isBelow(order.indexOf("new"), 4)
      assert.isAtLeast(order.lastIndexOf("new"), 5)
    }).pipe(adaptive))

  it.effect("of one tenant do not affect another", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(10, 0, 10))
      assert.strictEqual(yield* duration(acquire(abroad), 0), 0)
    }).pipe(adaptive))
})

describe("a call that hangs", () => {
  it.effect("does not keep other calls from what is refilled", () =>
    Effect.gen(function*() {
      const busy = bucket(50, 16)
      yield* duration(all(times(100).map(() => callOn(busy, "a"))))
      yield* Effect.fork(acquire({ tenant, operation: "a" }))
      const time = yield* duration(all(times(210).map(() => callOn(busy, "a"))))
      assert.isAtMost(time, 1.1 * (210 - 50) / 16 * 1000)
      assert.isAtMost(busy.counts.refused, 3)
    }).pipe(adaptive))
})

it.effect("a response to an older call shortens no pause", () =>
  Effect.gen(function*() {
    yield* exchange(withHeaders(10, 9, 1))
    yield* acquire()
    yield* TestClock.adjust("100 seconds")
    yield* exchange(withHeaders(10, 0, 900, { status: 429, headers: { "Retry-After": 900 } }), other)
    yield* settle(withHeaders(10, 5, 1))
    assert.isAtLeast(yield* duration(acquire()), 899_000)
  }).pipe(Effect.provide(RateLimiter.layerAdaptive({ maxPause: "15 minutes" }))))

it.effect("a pause without rate-limit headers holds for operations that were not called before, too", () =>
  Effect.gen(function*() {
    yield* exchange(plainResponse(429, { "Retry-After": 60 }))
    assert.isAtLeast(yield* duration(acquire(other)), 59_000)
  }).pipe(Effect.provide(RateLimiter.layer)))

describe("maxWait", () => {
  it.scoped("fails a call that others keep from starting when it is over, however short each of its waits seems", () =>
    Effect.gen(function*() {
      const limiter = yield* limiterOf(
        RateLimiter.layerFixed({ limit: 1, interval: "10 millis", maxWait: "100 millis" })
      )
      const send = limiter.limit(call)(Effect.succeed(plainResponse(200)))
      for (let nth = 0; nth < 3; nth++) yield* Effect.forkScoped(Effect.forever(Effect.ignore(send)))
      yield* breathe
      const late = yield* Effect.fork(Effect.flip(RateLimiter.withBackground(send)))
      yield* TestClock.adjust("300 millis")
      assert.isNotNull(late.unsafePoll())
      assert.deepInclude(yield* Fiber.join(late), { _tag: "RateLimited", source: "limiter" })
    }))

  it.effect("fails no first call of an operation because calls that wait for a response are before it", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(100, 99, 1))
      for (let nth = 0; nth < 55; nth++) yield* Effect.fork(acquire(other))
      yield* breathe
      assert.isAtMost(yield* duration(acquire({ tenant, operation: "fresh" }), 5000), 2000)
    }).pipe(
      Effect.provide(
        RateLimiter.layerAdaptive({ ceiling: { limit: 5, interval: "1 second" }, maxWait: "10 seconds" })
      )
    ))

  it.effect("fails calls at once that would wait too long", () =>
    Effect.gen(function*() {
      yield* exchange(withHeaders(10, 0, 10))
      const results = yield* Effect.forEach(times(30), () => Effect.fork(Effect.either(acquire({ ...call }))))
      yield* breathe
      const failed = results.filter((fiber) => fiber.unsafePoll() !== null)
      assert.isAbove(failed.length, 10)
      assert.isBelow(failed.length, 30)
      assert.deepStrictEqual(failed, results.slice(-failed.length))
      yield* Fiber.interruptAll(results)
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ maxWait: "10 seconds" }))))

  it.effect("fails a call that waits for the end of another when maxWait has passed, and not before", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(server * 1000)
      yield* acquire({ ...call })
      const waiting = Effect.flip(acquire({ ...call }))
      assert.strictEqual(yield* duration(waiting), 5000)
      const [error] = yield* Effect.all([waiting, TestClock.adjust(5000)], { concurrency: "unbounded" })
      assert.deepInclude(error, { _tag: "RateLimited", source: "limiter", retryAfter: Duration.seconds(1) })
    }).pipe(Effect.provide(RateLimiter.layerAdaptive({ maxWait: "5 seconds" }))))

  const brief = RateLimiter.layerFixed({ limit: 1, interval: "1 second", maxWait: "2 seconds" })

  it.effect("fails no call that would start at the end of maxWait", () =>
    Effect.gen(function*() {
      const { times } = yield* race(3)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times, [0, 1000, 2000])
    }).pipe(Effect.provide(brief)))

  it.scoped("starts a call that may start, although the process slept past its time", () =>
    Effect.gen(function*() {
      const clock = yield* Clock.clockWith(Effect.succeed)
      const sleepy: Clock.Clock = Object.assign(Object.create(clock), {
        sleep: (time: Duration.Duration) => clock.sleep(Duration.sum(time, Duration.minutes(1)))
      })
      const limiter = yield* Effect.withClock(limiterOf(brief), sleepy)
      assert.strictEqual(
        yield* duration(Effect.zipRight(Permits.start(limiter, call), Permits.start(limiter, call))),
        61_000
      )
    }))
})

describe("many callers", () => {
  for (
    // Both have the same queue; the first also shows that it has no smaller limit.
    const [name, layer, callers, text] of [
      ["layer", RateLimiter.layer, 100_000, "100,000"],
      ["layerFixed", RateLimiter.layerFixed({ limit: 1, interval: "1 hour" }), 10_000, "10,000"]
    ] as const
  ) {
    it.scoped(
      `${name} lets ${text} wait, in order, and be interrupted from the front, the back and the middle`,
      () =>
        Effect.gen(function*() {
          const limiter = yield* limiterOf(layer)
          const first = yield* Permits.start(limiter, { ...call })
          const order: Array<number> = []
          const fibers = yield* Effect.forEach(
            times(callers),
            (nth) =>
              Effect.forkDaemon(
                limiter.limit({ ...call })(Effect.suspend(() => {
                  order.push(nth)
                  return Effect.fail("no response")
                }))
              )
          )
          yield* breathe
          assert.strictEqual((yield* limiter.status)[0]!.waiting, callers)
          const [front, back] = [fibers.slice(0, 1000), fibers.slice(-1000).toReversed()]
          const middle = fibers.slice(1000, -1000).filter((_, nth) => nth % 2 === 0)
          for (const group of [front, back, middle]) yield* Fiber.interruptAll(group)
          assert.strictEqual((yield* limiter.status)[0]!.waiting, (callers - 2000) / 2)
          assert.isEmpty(order)
          yield* first.settle(undefined)
          yield* TestClock.adjust("3 hours")
          assert.isAtLeast(order.length, 3)
          assert.deepStrictEqual(order, order.map((_, nth) => 1001 + 2 * nth))
          yield* Fiber.interruptAll(fibers)
          assert.isEmpty((yield* limiter.status).filter(({ waiting }) => waiting > 0))
        }),
      60_000
    )
  }
})

it.effect("closing the limiter fails the calls that wait and those that come later", () =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const limiter = Context.get(yield* Layer.buildWithScope(RateLimiter.layer, scope), RateLimiter.RateLimiter)
    yield* Permits.start(limiter, { ...call })
    const waiting = yield* Effect.fork(Effect.flip(Permits.start(limiter, { ...call })))
    yield* breathe
    yield* Scope.close(scope, Exit.void)
    for (const error of [yield* Fiber.join(waiting), yield* Effect.flip(Permits.start(limiter, { ...call }))]) {
      assert.deepInclude(error, {
        _tag: "RateLimited",
        source: "limiter",
        message: `${call.operation}: the rate limiter was closed`
      })
      assert.isUndefined(error.retryAfter)
    }
  }))

it.scoped("a call that is interrupted between the grant of its place and its begin gives it back", () =>
  Effect.gen(function*() {
    const runtime = yield* Effect.runtime()
    let givenBack = 0
    for (let step = 1; step <= 80; step++) {
      const limiter = yield* limiterOf(RateLimiter.layerFixed({ limit: 5, interval: "1 day" }))
      const remaining = Effect.map(limiter.status, ([known]) => known?.remaining)
      let meanwhile: number | undefined
      const attempt = interruptedAt(step, Effect.ignore(limiter.limit(call)(Effect.fail("no response"))), () => {
        meanwhile = Runtime.runSync(runtime)(remaining)
      })
      yield* Fiber.await(yield* Effect.fork(attempt))
      yield* Effect.yieldNow() // others observe the fiber, too
      if (meanwhile === 4 && (yield* remaining) === 5) givenBack++
    }
    assert.isAbove(givenBack, 0)
  }))

for (
  const [name, layer] of [
    ["layerFixed", RateLimiter.layerFixed({ limit: 5, interval: "1 day" })],
    ["layer", RateLimiter.layer]
  ] as const
) {
  it.scoped(`${name} is not stuck, whichever step of a call is interrupted`, () =>
    Effect.gen(function*() {
      const outcomes: Array<boolean> = []
      for (let step = 1; step <= 80; step++) {
        const limiter = yield* limiterOf(layer)
        const limited = Effect.ignore(limiter.limit(call)(Effect.fail("no response")))
        const fiber = yield* Effect.fork(interruptedAt(step, limited))
        const exit = yield* Fiber.await(fiber)
        outcomes.push(Exit.isSuccess(exit))
        yield* Permits.start(limiter, call)
        const known = (yield* limiter.status)[0]!
        assert.strictEqual(known.waiting, 0)
        if (known.limit !== undefined) assert.include(Exit.isSuccess(exit) ? [3] : [3, 4], known.remaining)
        else assert.strictEqual(known.remaining, undefined)
      }
      assert.isFalse(outcomes[0])
      assert.isTrue(outcomes.at(-1))
    }))
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

it.effect("whatever the headers say, every call starts in bounded time, and no permit is lost", () =>
  forAll(
    FastCheck.tuple(
      FastCheck.array(step, { minLength: 1, maxLength: 20 }),
      FastCheck.integer({ min: 0, max: 4_000_000_000_000 })
    ),
    ([steps, local]) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(local)
        for (
          const { background, interrupt, limit, pause, remaining, reset, retryAfter, silent, status: code } of steps
        ) {
          const headers = {
            date: new Date(server * 1000).toUTCString(),
            "x-ratelimit-limit": limit,
            "x-ratelimit-remaining": remaining,
            "x-ratelimit-reset": server + reset,
            "retry-after": retryAfter
          }
          const waiting = background ? RateLimiter.withBackground(acquire()) : acquire()
          if (interrupt) {
            const fiber = yield* Effect.fork(waiting)
            yield* TestClock.adjust(pause)
            // Let through before it was interrupted, it is a call under way like any other.
            if (fiber.unsafePoll() !== null) yield* settle(undefined)
            else yield* Fiber.interrupt(fiber)
          }
          // At worst: a reserve of 12, a margin of one and its own, at one in two minutes, which refusals have slowed down.
          yield* duration(waiting, 24 * 3_600_000)
          yield* settle(silent ? undefined : plainResponse(code, headers))
          for (const known of yield* status) {
            assert.strictEqual(known.waiting, 0)
            if (known.limit === undefined) continue
            assert.isTrue(Number.isInteger(known.remaining) && known.remaining! >= 0 && known.remaining! <= known.limit)
            assert.isTrue(Number.isFinite(DateTime.toEpochMillis(known.resetAt!)))
          }
        }
        // Without calls in flight, the state equals the rate-limit headers.
        const last = yield* Effect.fork(
          acquire().pipe(Effect.zipRight(settle(withHeaders(7, 3, 60))), Effect.zipRight(status))
        )
        yield* TestClock.adjust("1 day")
        assert.deepInclude((yield* Fiber.join(last))[0], { limit: 7, remaining: 3, waiting: 0 })
      }).pipe(adaptive),
    40
  ))

describe("a slow response", () => {
  it.effect("is dated by its end, not by the start of its call: a Retry-After may be a date", () =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      const permit = yield* Permits.start(limiter, call)
      yield* TestClock.adjust("20 seconds")
      const until = new Date((yield* Clock.currentTimeMillis) + 30_000).toUTCString()
      yield* permit.settle(plainResponse(429, { "retry-after": until }))
      const next = yield* Effect.fork(Permits.start(limiter, call))
      yield* TestClock.adjust("29 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(next)))
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(Option.isSome(yield* Fiber.poll(next)))
    }).pipe(Effect.provide(RateLimiter.layer)))
})
