import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Random, Redacted, Stream, TestClock } from "effect"
import { RateLimited } from "../../src/Errors.js"
import * as IdentityClient from "../../src/IdentityClient.js"
import { createUsersExport, deleteEventStream, listActionVersions } from "../../src/operations/index.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as Retry from "../../src/Retry.js"
import * as Testing from "../../src/Testing.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { over, scripted } from "../support/client.js"
import { inProcess, type Reply } from "../support/tokenServer.js"

const id = "est_0123456789012345678901"
const operation = deleteEventStream({ id })
const breathe = Effect.repeatN(Effect.yieldNow(), 100)

const turnedAway = (retryAfter?: number | string): Reply => ({
  status: 429,
  headers: {
    date: "Thu, 01 Jan 1970 00:00:00 GMT",
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) })
  },
  body: { statusCode: 429, error: "Too Many Requests", message: "Global limit has been reached" }
})
const done: Reply = { status: 200 }

/** The client over a network that answers as it is told; a fresh token for each attempt, and a limiter that only counts. */
const setUp = (
  answer: (nth: number) => Effect.Effect<Reply> | Reply,
  options: Partial<IdentityClient.Defaults> & { readonly acquire?: Effect.Effect<void> } = {}
) => {
  const times: Array<number> = []
  const network = inProcess((nth) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      times.push(now)
      const given = answer(nth)
      return Effect.isEffect(given) ? given : Effect.succeed(given)
    })
  )
  const { acquire = Effect.void, ...more } = options
  const counts = { tokens: 0, acquired: 0, settled: 0 }
  const tokens = Layer.succeed(TokenProvider.TokenProvider, {
    get: Effect.sync(() => Redacted.make(`t${++counts.tokens}`)),
    invalidate: () => Effect.void
  })
  const limiter = Layer.succeed(RateLimiter.RateLimiter, {
    acquire: () =>
      Effect.map(acquire, () => {
        counts.acquired++
        return { settle: () => Effect.sync(() => void counts.settled++) }
      }),
    status: Effect.succeed([]),
    changes: Stream.empty
  })
  const layer = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2", ...more }).pipe(
    Layer.provide([network.layer, tokens, limiter])
  )
  return { counts, layer, sent: () => network.arrived.map(({ headers }) => headers["authorization"]), times }
}

/** Every wait as long as it can be. */
const longest = Effect.withRandom(Random.fixed([1]))

/** Runs a call to its end in virtual time. */
type Call = Effect.Effect<unknown, unknown, IdentityClient.IdentityClient>

const run = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust("1 day")
    return yield* Fiber.join(fiber)
  })

const job = { id: "job_1", type: "users_export", status: "pending", connection: "c" }

/** The times at which a call is sent, in milliseconds, when each wait is as long as it can be. */
const sends = (
  name: string,
  expected: ReadonlyArray<number>,
  answer: Parameters<typeof setUp>[0],
  set: typeof Retry.withoutRetries = (self) => self,
  options: Partial<IdentityClient.Defaults> = {}
) =>
  it.effect(name, () => {
    const { layer, times } = setUp(answer, options)
    return Effect.gen(function*() {
      yield* run(Effect.exit(longest(set(operation))))
      assert.deepStrictEqual(times, expected)
    }).pipe(Effect.provide(layer))
  })

describe("the default policy", () => {
  sends("sends four times, 250 ms apart, then 500 ms, then a second", [0, 250, 750, 1750], () => turnedAway())
  sends("stops when a call succeeds", [0, 250], (nth) => nth === 1 ? turnedAway() : done)
  sends("waits as long as the service asks for", [0, 7000], (nth) => nth === 1 ? turnedAway(7) : done)
  sends("waits its own time where that is longer", [0, 250], (nth) => nth === 1 ? turnedAway(0) : done)
  sends(
    "waits for the longest Retry-After that is within the time left",
    [0, 119_000],
    (nth) => nth === 1 ? turnedAway(119) : done
  )
  sends("does not wait at all for one beyond the time left", [0], () => turnedAway(120))
  sends("does not begin an attempt after two minutes", [0, 60_000], () => turnedAway(60))
  sends(
    "has no wait above ten seconds",
    [0, 250, 750, 1750, 3750, 7750, 15_750, 25_750, 35_750],
    (nth) => nth < 9 ? turnedAway() : done,
    Retry.withPolicy({ attempts: 20 })
  )

  it.effect("waits as chance has it, from no time on", () => {
    const { layer, times } = setUp(() => turnedAway())
    return Effect.gen(function*() {
      yield* run(Effect.flip(Effect.withRandom(operation, Random.fixed([0, 0.5, 0.25]))))
      assert.deepStrictEqual(times, [0, 0, 250, 500])
    }).pipe(Effect.provide(layer))
  })

  for (const seconds of [120, 3600]) {
    it.effect(`ends a call that would have to wait too long with what came, and says how long: ${seconds} s`, () => {
      const { layer } = setUp(() => turnedAway(seconds))
      return Effect.gen(function*() {
        const error = yield* run(Effect.flip(operation))
        assert.instanceOf(error, RateLimited)
        assert.deepStrictEqual((error as RateLimited).retryAfter, Duration.seconds(seconds))
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("does not count the waits for the limiter", () => {
    const { layer, times } = setUp((nth) => nth < 4 ? turnedAway() : done, { acquire: Effect.sleep("5 minutes") })
    return Effect.gen(function*() {
      yield* run(longest(operation))
      assert.lengthOf(times, 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("cuts a repeated attempt short at two minutes, but never the first", () => {
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

describe("what is sent again", () => {
  const isRepeated = (status: number, safe: boolean, never: boolean) =>
    it.effect(`${status}: ${safe ? "yes" : "no"} if harmless, ${never ? "yes" : "no"} if not`, () => {
      const calls: ReadonlyArray<readonly [Call, boolean]> = [
        [operation, safe],
        [createUsersExport({}), never]
      ]
      return Effect.forEach(calls, ([call, expected]) => {
        const { layer, times } = setUp((nth) => nth === 1 ? { status } : { body: job })
        return Effect.gen(function*() {
          yield* run(Effect.exit(call))
          assert.lengthOf(times, expected ? 2 : 1)
        }).pipe(Effect.provide(layer))
      })
    })

  isRepeated(429, true, true)
  for (const status of [408, 500, 502, 503, 504]) isRepeated(status, true, false)
  for (const status of [302, 400, 403, 404, 409, 418, 425]) isRepeated(status, false, false)

  it.effect("a call that has timed out, if harmless", () => {
    const { layer, times } = setUp((nth) => nth === 1 ? Effect.never : done)
    return Effect.gen(function*() {
      yield* run(longest(operation))
      assert.deepStrictEqual(times, [0, 30_250])
    }).pipe(Effect.provide(layer))
  })

  it.effect("not a call that has timed out and must not be carried out twice", () => {
    const { layer, times } = setUp(() => Effect.never)
    return Effect.gen(function*() {
      const error = yield* run(Effect.flip(createUsersExport({})))
      assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown", code: "TIMEOUT" })
      assert.lengthOf(times, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a call whose answer breaks off, if harmless and a value is promised", () => {
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

  it.effect("a call of which nothing was sent, whatever it does", () => {
    const layer = scripted(Testing.noReply("ECONNREFUSED"), Testing.reply({ body: job }))
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* run(createUsersExport({})), job)
    }).pipe(Effect.provide(layer))
  })

  it.effect("takes a fresh token and a fresh permit each time, and tells the limiter of each answer", () => {
    const { counts, layer, sent } = setUp((nth) => nth <= 2 ? turnedAway() : done)
    return Effect.gen(function*() {
      yield* run(operation)
      assert.deepStrictEqual(sent(), ["Bearer t1", "Bearer t2", "Bearer t3"])
      assert.deepStrictEqual(counts, { tokens: 3, acquired: 3, settled: 3 })
    }).pipe(Effect.provide(layer))
  })

  it.effect("not a call that is interrupted while it waits", () => {
    const { counts, layer, times } = setUp((nth) => nth === 1 ? turnedAway() : done)
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

describe("Effect.timeout around a call ends it when its time is up", () => {
  const never = TokenProvider.layerEffect(Effect.never)
  const token = TokenProvider.layerBearer(Redacted.make("t"))
  const network = (answer: Effect.Effect<Reply>) => inProcess(() => answer).layer
  const silent = Layer.mock(RateLimiter.RateLimiter, { acquire: () => Effect.never })
  const places = {
    "waiting for a token": [network(Effect.succeed(done)), never, RateLimiter.layerUnlimited],
    "waiting for a permit": [network(Effect.succeed(done)), token, silent],
    "waiting for an answer": [network(Effect.never), token, RateLimiter.layerUnlimited],
    "waiting to be repeated": [network(Effect.succeed(turnedAway(100))), token, RateLimiter.layerUnlimited]
  } as const

  for (const [place, [http, tokens, limiter]] of Object.entries(places)) {
    it.effect(place, () =>
      Effect.gen(function*() {
        const call = yield* Effect.fork(Effect.flip(Effect.timeout(operation, "7 seconds")))
        yield* TestClock.adjust("6999 millis")
        assert.isNull(call.unsafePoll())
        yield* TestClock.adjust("1 millis")
        assert.strictEqual((yield* Fiber.join(call))._tag, "TimeoutException")
      }).pipe(Effect.provide(
        IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(Layer.provide([http, tokens, limiter]))
      )))
  }
})

describe("a policy", () => {
  const always = () => turnedAway()
  sends("of none sends once", [0], always, Retry.withoutRetries)
  sends("sets the attempts and leaves the rest", [0, 250], always, Retry.withPolicy({ attempts: 2 }))
  sends("sets the delay and leaves the rest", [0, 8, 24, 56], always, Retry.withPolicy({ delay: "8 millis" }))
  sends("sets the longest wait of its own", [0, 100, 200, 300], always, Retry.withPolicy({ maxDelay: 100 }))
  sends("sets the time in all", [0, 250], always, Retry.withPolicy({ totalTime: "750 millis" }))
  sends("without attempts still sends once", [0], always, Retry.withPolicy({ attempts: 0 }))
  sends(
    "within another keeps what it does not set itself",
    [0, 50],
    always,
    (self) => self.pipe(Retry.withPolicy({ attempts: 2 }), Retry.withPolicy({ attempts: 9, delay: 50 }))
  )
  sends(
    "within none sets attempts again",
    [0, 250],
    always,
    (self) => Retry.withoutRetries(Retry.withPolicy(self, { attempts: 2 }))
  )
  sends("of the layer replaces the default", [0, 10], always, (self) => self, { retry: { attempts: 2, delay: 10 } })
  sends("of a call goes before the layer's", [0, 10, 30], always, Retry.withPolicy({ attempts: 3 }), {
    retry: { attempts: 1, delay: 10 }
  })

  it.effect("of none does not keep a 401 from being replayed", () => {
    const { layer, times } = setUp((nth) => nth === 1 ? { status: 401 } : done)
    return Effect.gen(function*() {
      yield* Retry.withoutRetries(operation)
      assert.lengthOf(times, 2)
    }).pipe(Effect.provide(layer))
  })
})
