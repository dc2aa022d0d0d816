/** Limits of which only 429s without headers tell, such as a proxy's in front of the tenant, and the pace of calls below them. */
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Fiber, Layer, Random } from "effect"
import * as Fleet from "../../src/Fleet.js"
import { deleteEventStream, IdentityClient, listActionVersions, RateLimiter } from "../../src/index.js"
import * as Adaptive from "../../src/internal/limiter/adaptive.js"
import * as SharedStore from "../../src/SharedStore.js"
import { waiterOf } from "../support/adaptive.js"
import { baseUrl, bearer } from "../support/client.js"
import * as LeanNetwork from "../support/leanNetwork.js"
import * as Permits from "../support/permits.js"
import { reading } from "../support/readings.js"
import * as VirtualTime from "../support/virtualTime.js"

/** Decides whether a call at this time is served. */
type Limit = (now: number) => boolean

/** As `limit_req` of nginx without a burst: a call is served if the last one that was served is `interval` ms ago. */
const leaky = (interval: number): Limit => {
  let last = -Infinity
  return (now) => {
    if (now - last < interval) return false
    last = now
    return true
  }
}

/** At most so many calls in a minute, which begins with the first. */
const window = (limit: number): Limit => {
  let [end, left] = [-Infinity, 0]
  return (now) => {
    if (now >= end) [end, left] = [now + 60_000, limit]
    return left-- > 0
  }
}

/** What the tenant says of its own limit when it serves a call: two large buckets, or nothing. */
const tenants = {
  "with headers": (method: string) => ({
    "x-ratelimit-limit": method === "GET" ? "50" : "40",
    "x-ratelimit-remaining": "39",
    "x-ratelimit-reset": "1"
  }),
  "without headers": () => ({})
}

const calls = {
  one: [Effect.asVoid(listActionVersions({ actionId: "910b1053-577f-4d81-a8c8-020e7319a38a" }))],
  two: [
    Effect.asVoid(listActionVersions({ actionId: "910b1053-577f-4d81-a8c8-020e7319a38a" })),
    deleteEventStream({ id: "est_1234567890123456789012" })
  ]
}

interface Work {
  readonly tenant: keyof typeof tenants
  readonly calls: number
  readonly callers?: number
  readonly operations?: keyof typeof calls
  readonly limiter?: Layer.Layer<RateLimiter.RateLimiter>
  /** The headers of a refusal; default: none. */
  readonly refusal?: Readonly<Record<string, string>>
}

/** Makes calls by a client with its defaults. The times are milliseconds from the first request on. */
const run = (limit: Limit, work: Work) => {
  const { callers = work.calls, limiter = RateLimiter.layer, refusal = {}, tenant } = work
  const operations = calls[work.operations ?? "one"]
  const arrivals: Array<{ readonly at: number; readonly isServed: boolean }> = []
  let first: number | undefined
  const network = LeanNetwork.layer(({ method }) =>
    Effect.gen(function*() {
      yield* Effect.sleep(2)
      const now = yield* Clock.currentTimeMillis
      first ??= now
      const isServed = limit(now - first)
      arrivals.push({ at: now - first, isServed })
      yield* Effect.sleep(2)
      return isServed
        ? {
          status: method === "GET" ? 200 : 204,
          headers: tenants[tenant](method),
          body: method === "GET" ? "{\"versions\":[],\"total\":0,\"per_page\":20}" : null
        }
        : { status: 429, headers: refusal, body: "<html>429 Too Many Requests</html>" }
    })
  )
  const client = IdentityClient.layer({ baseUrl }).pipe(
    Layer.provide([Layer.fresh(limiter), bearer, network])
  )
  const all = Effect.forEach(
    Array.from({ length: work.calls }),
    (_, nth) => Effect.exit(operations[nth % operations.length]!),
    { concurrency: callers }
  ).pipe(Effect.provide(client), Effect.withRandom(Random.make(1)))
  return Effect.map(VirtualTime.run(all, { most: "1 hour" }), (exits) => ({
    failed: exits.filter(Exit.isFailure).length,
    refused: arrivals.filter(({ isServed }) => !isServed).length,
    elapsed: arrivals.at(-1)?.at ?? 0,
    /** The share of requests that were refused. */
    share: arrivals.filter(({ isServed }) => !isServed).length / arrivals.length
  }))
}

for (const tenant of ["with headers", "without headers"] as const) {
  describe(`below a limit that only 429s without headers show, in front of a tenant ${tenant},`, () => {
    it.effect("twelve calls at once all succeed", () =>
      Effect.gen(function*() {
        const { elapsed, failed } = yield* run(leaky(200), { tenant, calls: 12 })
        assert.strictEqual(failed, 0)
        assert.isAtMost(elapsed, 4000)
      }))

    it.effect("so do those of two operations, which it counts together", () =>
      Effect.gen(function*() {
        const { failed } = yield* run(leaky(200), { tenant, calls: 60, callers: 20, operations: "two" })
        assert.strictEqual(failed, 0)
      }))

    for (const operations of ["one", "two"] as const) {
      it.effect(`most of it is used, and few calls of ${operations} are refused`, () =>
        Effect.gen(function*() {
          const { elapsed, failed, share } = yield* run(leaky(200), { tenant, calls: 400, callers: 50, operations })
          assert.strictEqual(failed, 0)
          assert.isAtMost(share, 0.1)
          assert.isAtLeast(399 * 200 / elapsed, 0.95)
        }))
    }

    for (const interval of [2000, 1000, 100, 50, 20]) {
      it.effect(`no call fails where it is one in ${interval} ms`, () =>
        Effect.gen(function*() {
          const { elapsed, failed, share } = yield* run(leaky(interval), { tenant, calls: 200, callers: 20 })
          assert.strictEqual(failed, 0)
          assert.isAtMost(share, 0.2)
          assert.isAtLeast(199 * interval / elapsed, 0.7)
        }))
    }

    it.effect("no call fails at the end of a window, and the next is used up again", () =>
      Effect.gen(function*() {
        const { elapsed, failed } = yield* run(window(60), { tenant, calls: 150 })
        assert.strictEqual(failed, 0)
        assert.isAtMost(elapsed, 180_000)
      }))

    it.effect("a single 429 costs about a second", () =>
      Effect.gen(function*() {
        let nth = 0
        const { elapsed, failed, refused } = yield* run(() => ++nth !== 20, { tenant, calls: 100, callers: 10 })
        assert.deepStrictEqual([failed, refused], [0, 1])
        assert.isAtMost(elapsed, 1200)
      }))

    it.effect("one that is lifted is forgotten within a minute", () =>
      Effect.gen(function*() {
        const limit = leaky(200)
        const lifted = (now: number) => now > 30_000 || limit(now)
        const { elapsed, failed } = yield* run(lifted, { tenant, calls: 3000, callers: 50 })
        assert.strictEqual(failed, 0)
        assert.isAtMost(elapsed, 90_000)
      }))
  })
}

describe("below a limit that only 429s show", () => {
  it.effect("a process of a fleet uses most of it, as one that is alone does", () =>
    Effect.gen(function*() {
      const limiter = Layer.provide(Fleet.layerRateLimiter, SharedStore.layerMemory)
      for (const [interval, callers] of [[200, 1], [200, 12], [100, 12]] as const) {
        const work = { tenant: "without headers", calls: 400, callers, limiter } as const
        const { elapsed, failed, share } = yield* run(leaky(interval), work)
        assert.strictEqual(failed, 0)
        assert.isAtMost(share, 0.1)
        assert.isAtLeast(399 * interval / elapsed, 0.9)
      }
    }))

  it.effect("which say that calls are left, because a proxy copies the headers of the tenant, most of it is used", () =>
    Effect.gen(function*() {
      const refusal = tenants["with headers"]("GET")
      const { elapsed, failed, share } = yield* run(leaky(200), {
        tenant: "with headers",
        calls: 400,
        callers: 50,
        refusal
      })
      assert.strictEqual(failed, 0)
      assert.isAtMost(share, 0.1)
      assert.isAtLeast(399 * 200 / elapsed, 0.95)
    }))
})

describe("a 429 without headers", () => {
  const refusal = reading(undefined, { isRateLimited: true })

  /** A tenant's limits, as calls of one operation find them. */
  const make = () => {
    const strategy = Adaptive.make()
    const stateOf = (operation: string) => strategy.stateOf({ tenant: "t", operation })
    const state = stateOf("a")
    return {
      state,
      stateOf,
      strategy,
      start: (now: number, of = state) => strategy.start(of, now, false),
      wait: (now: number, ahead = 0, of = state) => strategy.wait(waiterOf(of, now), now, () => ahead).millis,
      isPaced: (now: number) => (state.tenant.pace?.wait(now, 0, 0) ?? 0) > 0,
      /** Ends a call that began now. */
      call: (now: number, response = reading(undefined)) =>
        strategy.settle(strategy.start(state, now, false), response, now)
    }
  }

  const refused = (now: number) => {
    const limits = make()
    limits.call(now, refusal)
    return limits
  }

  it("paces calls, and those that come after others", () => {
    const { isPaced, wait } = refused(1000)
    assert.deepStrictEqual([0, 1, 2].map((ahead) => wait(1100, ahead)), [400, 900, 1400])
    assert.isTrue(isPaced(1499))
    assert.isFalse(isPaced(1500))
  })

  it("paces the calls of all operations together", () => {
    const { isPaced, start, stateOf, strategy, wait } = refused(0)
    const other = stateOf("b")
    assert.strictEqual(wait(0, 0, other), 500)
    start(500, other)
    assert.isTrue(isPaced(999))
    assert.strictEqual(strategy.stateOf({ tenant: "another", operation: "a" }).tenant.pace, undefined)
  })

  it("takes nothing from a bucket that had calls left", () => {
    const { call, state, strategy, wait } = make()
    call(0, reading(5))
    const before = strategy.statusOf(state, 0)
    call(0, refusal)
    assert.deepStrictEqual(strategy.statusOf(state, 0), before)
    assert.strictEqual(wait(0), 500)
  })

  for (
    const [title, left, response] of [
      ["from a bucket that had none left", 1, refusal],
      ["with a limit", 5, reading(0, { isRateLimited: true })],
      ["with a Retry-After", 5, reading(undefined, { isRateLimited: true, pause: 100 })]
    ] as const
  ) {
    it(`sets no pace if it came ${title}`, () => {
      const { call, isPaced, state, strategy } = make()
      call(0, reading(left))
      call(0, response)
      assert.isFalse(isPaced(0))
      assert.strictEqual(strategy.statusOf(state, 0)?.remaining, 0)
    })
  }

  it("sets a pace that counts from the arrival of a call, which a late response may show to be late", () => {
    const { start, strategy, wait } = refused(0)
    strategy.settle(start(500), reading(undefined), 550)
    assert.strictEqual(wait(550), 250)
  })

  it("sets a pace that a clock which is set back does not stretch", () => {
    assert.strictEqual(refused(1_000_000).wait(0), 500)
  })

  it("sets a pace in which a call that was not sent does not count", () => {
    const { isPaced, start, strategy, wait } = refused(0)
    const call = start(500)
    assert.isTrue(isPaced(500))
    strategy.giveBack(call, 500)
    assert.strictEqual(wait(500), 0)
  })

  it("counts once for all calls that were in flight, and one that is served by then brings no growth", () => {
    const { call, start, strategy, wait } = make()
    for (let nth = 0; nth < 3; nth++) call(0)
    const flight = [1, 2, 3].map(() => start(0))
    for (const one of flight.slice(0, 2)) strategy.settle(one, refusal, 100)
    strategy.settle(flight[2]!, reading(undefined), 100)
    assert.strictEqual(wait(100), 500)
  })

  it("grows once by a response that a process of a fleet settles again", () => {
    const { start, strategy, wait } = refused(0)
    const response = reading(undefined)
    for (let nth = 0; nth < 3; nth++) strategy.settle(start(500), response, 500)
    assert.strictEqual(wait(500), 250)
  })

  it("never sets a pace below one call in 64 s, however long some calls are refused", () => {
    const { call, wait } = refused(0)
    let now = 0
    for (let nth = 0; nth < 3000; nth++) {
      now += wait(now)
      call(now, reading(undefined, { isRateLimited: nth % 3 === 0 }))
      assert.isAtMost(Math.floor(wait(now)), 64_000)
    }
  })

  it("is the reason of the waits that it causes", () =>
    Effect.gen(function*() {
      const limiter = Context.get(yield* Layer.build(RateLimiter.layer), RateLimiter.RateLimiter)
      const permit = yield* Permits.start(limiter, { tenant: baseUrl, operation: "a" })
      yield* permit.settle({ status: 429, headers: Headers.empty })
      const waiting = yield* Effect.fork(Permits.start(limiter, { tenant: baseUrl, operation: "a" }))
      yield* Effect.repeatN(Effect.yieldNow(), 5)
      const [status] = yield* limiter.status
      assert.deepInclude(status, { waiting: 1, reason: "pace" })
      yield* Fiber.interrupt(waiting)
    }).pipe(Effect.scoped, Effect.runPromise))
})
