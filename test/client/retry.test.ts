import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Duration, Effect, Fiber, Layer, Redacted, TestClock } from "effect"
import { RateLimited } from "../../src/Errors.js"
import * as IdentityClient from "../../src/IdentityClient.js"
import { createUsersExport, deleteEventStream, getJob, listActionVersions } from "../../src/operations/index.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as Retry from "../../src/Retry.js"
import * as Testing from "../../src/Testing.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { over, scripted } from "../support/client.js"
import { skewed } from "../support/fleet.js"
import * as Permits from "../support/permits.js"
import { cycle } from "../support/random.js"
import { inProcess, type Reply } from "../support/tokenServer.js"

const id = "est_0123456789012345678901"
const operation = deleteEventStream({ id })
const breathe = Effect.repeatN(Effect.yieldNow(), 100)

const throttled = (retryAfter?: number | string): Reply => ({
  status: 429,
  headers: {
    date: "Thu, 01 Jan 1970 00:00:00 GMT",
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) })
  },
  body: { statusCode: 429, error: "Too Many Requests", message: "Global limit has been reached" }
})
const done: Reply = { status: 200 }

/** Provides a client over a network with these replies, with a fresh token for each attempt and a limiter that only counts. */
const setUp = (
  reply: (nth: number) => Effect.Effect<Reply> | Reply,
  options: Partial<IdentityClient.Defaults> & { readonly acquire?: Effect.Effect<void> } = {}
) => {
  const times: Array<number> = []
  const network = inProcess((nth) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      times.push(now)
      const given = reply(nth)
      return Effect.isEffect(given) ? given : Effect.succeed(given)
    })
  )
  const { acquire = Effect.void, ...more } = options
  const counts = { tokens: 0, acquired: 0, settled: 0 }
  const tokens = Layer.succeed(TokenProvider.TokenProvider, {
    get: Effect.sync(() => Redacted.make(`t${++counts.tokens}`)),
    invalidate: () => Effect.void
  })
  const limiter = Layer.succeed(
    RateLimiter.RateLimiter,
    Permits.limiterOf(() =>
      Effect.map(acquire, () => {
        counts.acquired++
        return { settle: () => Effect.sync(() => void counts.settled++) }
      })
    )
  )
  const layer = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2", ...more }).pipe(
    Layer.provide([network.layer, tokens, limiter])
  )
  return { counts, layer, sent: () => network.arrived.map(({ headers }) => headers["authorization"]), times }
}

/** Makes every random wait as long as possible. */
const longest = Effect.withRandom(cycle(1))

type Call = Effect.Effect<unknown, unknown, IdentityClient.IdentityClient>

/** Runs an effect to its end in virtual time. */
const run = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust("1 day")
    return yield* Fiber.join(fiber)
  })

const job = { id: "job_1", type: "users_export", status: "pending", connection: "c" }

/** Tests the times at which a call is sent, in milliseconds, if each wait is as long as possible. */
const sends = (
  name: string,
  expected: ReadonlyArray<number>,
  reply: Parameters<typeof setUp>[0],
  set: typeof Retry.withoutRetries = (self) => self,
  options: Partial<IdentityClient.Defaults> = {}
) =>
  it.effect(name, () => {
    const { layer, times } = setUp(reply, options)
    return Effect.gen(function*() {
      yield* run(Effect.exit(longest(set(operation))))
      assert.deepStrictEqual(times, expected)
    }).pipe(Effect.provide(layer))
  })

describe("the default policy", () => {
  sends("makes four attempts, after up to 250 ms, 500 ms and 1 s", [0, 250, 750, 1750], () => throttled())
  sends("stops when a call succeeds", [0, 250], (nth) => nth === 1 ? throttled() : done)
  sends("waits for Retry-After", [0, 7000], (nth) => nth === 1 ? throttled(7) : done)
  sends("waits longer than Retry-After if its own wait is longer", [0, 250], (nth) => nth === 1 ? throttled(0) : done)
  sends(
    "waits for the longest Retry-After that is within the time left",
    [0, 119_000],
    (nth) => nth === 1 ? throttled(119) : done
  )
  sends("does not wait for a Retry-After beyond the time left", [0], () => throttled(120))
  sends("does not begin an attempt after two minutes", [0, 60_000], () => throttled(60))
  sends(
    "waits at most ten seconds",
    [0, 250, 750, 1750, 3750, 7750, 15_750, 25_750, 35_750],
    (nth) => nth < 9 ? throttled() : done,
    Retry.withPolicy({ attempts: 20 })
  )

  it.effect("waits for a random time", () => {
    const { layer, times } = setUp(() => throttled())
    return Effect.gen(function*() {
      yield* run(Effect.flip(Effect.withRandom(operation, cycle(0, 0.5, 0.25))))
      assert.deepStrictEqual(times, [0, 0, 250, 500])
    }).pipe(Effect.provide(layer))
  })

  for (const seconds of [120, 3600]) {
    it.effect(`fails with the last response and its retryAfter if that is too long: ${seconds} s`, () => {
      const { layer } = setUp(() => throttled(seconds))
      return Effect.gen(function*() {
        const error = yield* run(Effect.flip(operation))
        assert.instanceOf(error, RateLimited)
        assert.deepStrictEqual((error as RateLimited).retryAfter, Duration.seconds(seconds))
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("does not count waits for the limiter", () => {
    const { layer, times } = setUp((nth) => nth < 4 ? throttled() : done, { acquire: Effect.sleep("5 minutes") })
    return Effect.gen(function*() {
      yield* run(longest(operation))
      assert.lengthOf(times, 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("ends a retry after two minutes in total, but never the first attempt", () => {
    const { layer } = setUp(() => Effect.never)
    return Effect.gen(function*() {
      const ended: Array<number> = []
      const call = (set: typeof Retry.withoutRetries) =>
        Effect.fork(Effect.zipRight(
          Effect.exit(set(operation)),
          Effect.map(Clock.currentTimeMillis, (now) => void ended.push(now))
        ))
      yield* call((self) => Retry.withPolicy(IdentityClient.withTimeout(self, "80 seconds"), { delay: 0 }))
      yield* call((self) => Retry.withPolicy(IdentityClient.withTimeout(self, "3 minutes"), { delay: 0 }))
      yield* TestClock.adjust("119999 millis")
      assert.deepStrictEqual(ended, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(ended, [120_000])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(ended, [120_000, 180_000])
    }).pipe(Effect.provide(layer))
  })
})

describe("a retry", () => {
  const retried = (status: number, idempotent: boolean, other: boolean) =>
    it.effect(`follows ${status}: ${idempotent ? "yes" : "no"} if idempotent, ${other ? "yes" : "no"} if not`, () => {
      const calls: ReadonlyArray<readonly [Call, boolean]> = [
        [operation, idempotent],
        [createUsersExport({}), other]
      ]
      return Effect.forEach(calls, ([call, expected]) => {
        const { layer, times } = setUp((nth) => nth === 1 ? { status } : { body: job })
        return Effect.gen(function*() {
          yield* run(Effect.exit(call))
          assert.lengthOf(times, expected ? 2 : 1)
        }).pipe(Effect.provide(layer))
      })
    })

  retried(429, true, true)
  for (const status of [408, 500, 502, 503, 504]) retried(status, true, false)
  for (const status of [302, 400, 403, 404, 409, 418, 425]) retried(status, false, false)

  /** The failure of a call whose attempts end so, one after the other. */
  const failureAfter = (replies: ReadonlyArray<Testing.Reply>, set: typeof Retry.withoutRetries = (self) => self) =>
    run(Effect.flip(set(Retry.withPolicy(operation, { attempts: replies.length })))).pipe(
      Effect.provide(scripted(...replies))
    )
  const lost = Testing.noReply("ECONNRESET")
  const refused = Testing.reply({ status: 429 })
  const unknown = { _tag: "TransportError", outcome: "unknown", code: "ECONNRESET" } as const

  it.effect("fails like the attempt that may have been carried out, if all later ones were refused", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* failureAfter([lost, refused]), unknown)
      assert.deepInclude(yield* failureAfter([refused, lost, refused, refused]), unknown)
      assert.deepInclude(yield* failureAfter([lost, refused, Testing.noReply("ECONNREFUSED")]), unknown)
      const unavailable = Testing.reply({ status: 503 })
      assert.deepInclude(yield* failureAfter([unavailable, refused]), { _tag: "UnexpectedResponse", status: 503 })
      assert.deepInclude(yield* failureAfter([refused, Testing.noReply("ECONNREFUSED")]), {
        _tag: "TransportError",
        outcome: "not-sent"
      })
      assert.deepInclude(yield* failureAfter([Testing.noReply("ECONNREFUSED"), refused]), { _tag: "RateLimited" })
    }))

  it.effect("of a GET fails as refused all the same: to read twice does no harm", () =>
    Effect.gen(function*() {
      const read = Retry.withPolicy(getJob({ id: "job_1" }), { attempts: 2 })
      const failure = yield* run(Effect.flip(read)).pipe(Effect.provide(scripted(lost, refused)))
      assert.deepInclude(failure, { _tag: "RateLimited", source: "service" })
    }))

  it.effect("fails so, too, if the wait for the next attempt would be too long, or the program wants none", () =>
    Effect.gen(function*() {
      const late = Testing.reply({ status: 429, headers: { "retry-after": "3600" } })
      assert.deepInclude(yield* failureAfter([lost, late, refused]), unknown)
      const never = Retry.withPolicy({ retryRateLimited: () => false })
      assert.deepInclude(yield* failureAfter([lost, refused, refused], never), unknown)
      assert.deepInclude(yield* failureAfter([refused, refused], never), { _tag: "RateLimited" })
    }))

  it.effect("follows a time-out if the call is idempotent", () => {
    const { layer, times } = setUp((nth) => nth === 1 ? Effect.never : done)
    return Effect.gen(function*() {
      yield* run(longest(operation))
      assert.deepStrictEqual(times, [0, 30_250])
    }).pipe(Effect.provide(layer))
  })

  it.effect("does not follow a time-out if the call is not idempotent", () => {
    const { layer, times } = setUp(() => Effect.never)
    return Effect.gen(function*() {
      const error = yield* run(Effect.flip(createUsersExport({})))
      assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown", code: "TIMEOUT" })
      assert.lengthOf(times, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("follows an interrupted response if the call is idempotent and its body is decoded", () => {
    const calls: ReadonlyArray<readonly [Call, number]> = [
      [listActionVersions({ actionId: "a" }), 4],
      [operation, 1],
      [createUsersExport({}), 1]
    ]
    return Effect.forEach(calls, ([call, expected]) => {
      let times = 0
      const network = HttpClient.make((request) =>
        Effect.sync(() => {
          times++
          const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("broken")) })
          return HttpClientResponse.fromWeb(request, new Response(broken))
        })
      )
      return Effect.gen(function*() {
        yield* run(Effect.exit(call))
        assert.strictEqual(times, expected)
      }).pipe(Effect.provide(over(Layer.succeed(HttpClient.HttpClient, network))))
    })
  })

  it.effect("follows a call that was not sent, even if it is not idempotent", () => {
    const layer = scripted(Testing.noReply("ECONNREFUSED"), Testing.reply({ body: job }))
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* run(createUsersExport({})), job)
    }).pipe(Effect.provide(layer))
  })

  it.effect("uses a fresh token and a fresh permit, which it settles", () => {
    const { counts, layer, sent } = setUp((nth) => nth <= 2 ? throttled() : done)
    return Effect.gen(function*() {
      yield* run(operation)
      assert.deepStrictEqual(sent(), ["Bearer t1", "Bearer t2", "Bearer t3"])
      assert.deepStrictEqual(counts, { tokens: 3, acquired: 3, settled: 3 })
    }).pipe(Effect.provide(layer))
  })

  it.effect("does not follow an interruption during the wait", () => {
    const { counts, layer, times } = setUp((nth) => nth === 1 ? throttled() : done)
    return Effect.gen(function*() {
      const call = yield* Effect.fork(operation)
      yield* breathe
      yield* Fiber.interrupt(call)
      yield* TestClock.adjust("1 day")
      assert.lengthOf(times, 1)
      assert.deepStrictEqual(counts, { tokens: 1, acquired: 1, settled: 1 })
    }).pipe(Effect.provide(layer))
  })
})

describe("Effect.timeout ends a call at its limit", () => {
  const never = TokenProvider.layerEffect(Effect.never)
  const token = TokenProvider.layerBearer(Redacted.make("t"))
  const network = (reply: Effect.Effect<Reply>) => inProcess(() => reply).layer
  const silent = Layer.succeed(RateLimiter.RateLimiter, Permits.limiterOf(() => Effect.never))
  const places = {
    "waiting for a token": [network(Effect.succeed(done)), never, RateLimiter.layerUnlimited],
    "waiting for a permit": [network(Effect.succeed(done)), token, silent],
    "waiting for a response": [network(Effect.never), token, RateLimiter.layerUnlimited],
    "waiting for a retry": [network(Effect.succeed(throttled(100))), token, RateLimiter.layerUnlimited]
  } as const

  for (const [place, [http, tokens, limiter]] of Object.entries(places)) {
    it.effect(place, () =>
      Effect.gen(function*() {
        const call = yield* Effect.fork(Effect.flip(Effect.timeout(operation, "7 seconds")))
        yield* TestClock.adjust("6999 millis")
        assert.isNull(call.unsafePoll())
        yield* TestClock.adjust("1 millis")
        assert.isTrue(Cause.isTimeoutException(yield* Fiber.join(call)))
      }).pipe(Effect.provide(
        IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(Layer.provide([http, tokens, limiter]))
      )))
  }
})

describe("a policy", () => {
  const always = () => throttled()
  sends("without retries makes one attempt", [0], always, Retry.withoutRetries)
  sends("sets the attempts and keeps the rest", [0, 250], always, Retry.withPolicy({ attempts: 2 }))
  sends("sets the delay and keeps the rest", [0, 8, 24, 56], always, Retry.withPolicy({ delay: "8 millis" }))
  sends("sets the longest wait", [0, 100, 200, 300], always, Retry.withPolicy({ maxDelay: 100 }))
  sends("sets the total time", [0, 250], always, Retry.withPolicy({ totalTime: "750 millis" }))
  it.effect("sets the total time, also if the clock is set back meanwhile", () =>
    Effect.gen(function*() {
      const { clock, skew } = skewed(yield* Effect.clock)
      const { layer, times } = setUp((nth) => {
        skew.millis = nth * -3_600_000
        return throttled()
      })
      const call = Effect.exit(longest(Retry.withPolicy(operation, { totalTime: "750 millis" })))
      yield* run(Effect.withClock(Effect.provide(call, layer), clock))
      assert.lengthOf(times, 2)
    }))

  sends("with no attempts still makes one", [0], always, Retry.withPolicy({ attempts: 0 }))
  sends("with attempts that are not a number makes one", [0], always, Retry.withPolicy({ attempts: NaN }))
  sends(
    "inside another one inherits the settings that it lacks",
    [0, 50],
    always,
    (self) => self.pipe(Retry.withPolicy({ attempts: 2 }), Retry.withPolicy({ attempts: 9, delay: 50 }))
  )
  sends(
    "inside withoutRetries sets the attempts again",
    [0, 250],
    always,
    (self) => Retry.withoutRetries(Retry.withPolicy(self, { attempts: 2 }))
  )
  sends("of the layer replaces the default", [0, 10], always, (self) => self, { retry: { attempts: 2, delay: 10 } })
  sends("around a call overrides the layer's", [0, 10, 30], always, Retry.withPolicy({ attempts: 3 }), {
    retry: { attempts: 1, delay: 10 }
  })

  it.effect("without retries still retries after a 401", () => {
    const { layer, times } = setUp((nth) => nth === 1 ? { status: 401 } : done)
    return Effect.gen(function*() {
      yield* Retry.withoutRetries(operation)
      assert.lengthOf(times, 2)
    }).pipe(Effect.provide(layer))
  })
})

describe("retryRateLimited", () => {
  it.effect("decides for each 429, by operation, attempt and Retry-After", () =>
    Effect.gen(function*() {
      const seen: Array<Retry.Refusal> = []
      const call = yield* operation.pipe(
        Retry.withPolicy({
          retryRateLimited: (refusal) => {
            seen.push(refusal)
            return refusal.retryAfter === undefined
          }
        }),
        Effect.flip,
        Effect.fork
      )
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* call, { _tag: "RateLimited", source: "service" })
      assert.deepStrictEqual(seen.map(({ attempt, operation }) => [operation, attempt]), [
        ["deleteEventStream", 1],
        ["deleteEventStream", 2]
      ])
      assert.lengthOf(yield* Testing.requests, 2)
    }).pipe(Effect.provide(scripted(
      Testing.reply({ status: 429 }),
      Testing.reply({ status: 429, headers: { "retry-after": "5" } }),
      Testing.reply({ status: 204 })
    ))))
})
