import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Redacted, TestClock } from "effect"
import { RateLimited } from "../src/Errors.js"
import * as IdentityClient from "../src/IdentityClient.js"
import { createUsersExport, deleteEventStream } from "../src/operations/index.js"
import * as RateLimiter from "../src/RateLimiter.js"
import * as Retry from "../src/Retry.js"
import * as TokenProvider from "../src/TokenProvider.js"
import { type Answer, inProcess } from "./support/tokenServer.js"

const id = "est_0123456789012345678901"
const operation = deleteEventStream({ id })
const breathe = Effect.repeatN(Effect.yieldNow(), 100)

const turnedAway = (retryAfter?: number | string): Answer => ({
  status: 429,
  headers: {
    date: "Thu, 01 Jan 1970 00:00:00 GMT",
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) })
  },
  body: { statusCode: 429, error: "Too Many Requests", message: "Global limit has been reached" }
})
const done: Answer = { status: 204 }

/** The client over a network that answers as it is told; a fresh token for each attempt, and a limiter that only counts. */
const setUp = (answer: (nth: number) => Answer) => {
  const times: Array<number> = []
  const network = inProcess((nth) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      times.push(now)
      return answer(nth)
    })
  )
  const counts = { tokens: 0, acquired: 0, observed: 0 }
  const tokens = Layer.succeed(TokenProvider.TokenProvider, {
    get: Effect.sync(() => Redacted.make(`t${++counts.tokens}`)),
    invalidate: () => Effect.void
  })
  const limiter = Layer.succeed(RateLimiter.RateLimiter, {
    acquire: () => Effect.sync(() => void counts.acquired++),
    observe: () => Effect.sync(() => void counts.observed++),
    status: Effect.succeed([])
  })
  const layer = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2" }).pipe(
    Layer.provide([network.layer, tokens, limiter])
  )
  return { counts, layer, sent: () => network.arrived.map(({ headers }) => headers["authorization"]), times }
}

/** Runs a call to its end in virtual time. */
const run = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust("1 day")
    return yield* Fiber.join(fiber)
  })

describe("a call that is turned away", () => {
  it.effect("is sent again after a second, not a millisecond earlier", () => {
    const { layer, times } = setUp((nth) => nth === 1 ? turnedAway() : done)
    return Effect.gen(function*() {
      const call = yield* Effect.fork(operation)
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(times, [0])
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(call)
      assert.deepStrictEqual(times, [0, 1000])
    }).pipe(Effect.provide(layer))
  })

  it.effect("is sent again after what the service asks for, not a millisecond earlier", () => {
    const { layer, times } = setUp((nth) => nth === 1 ? turnedAway(7) : done)
    return Effect.gen(function*() {
      const call = yield* Effect.fork(operation)
      yield* TestClock.adjust("6999 millis")
      assert.deepStrictEqual(times, [0])
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(call)
      assert.deepStrictEqual(times, [0, 7000])
    }).pipe(Effect.provide(layer))
  })

  it.effect("waits for a Retry-After that is a date by the answer's own Date", () => {
    const { layer, times } = setUp((nth) => nth === 1 ? turnedAway("Thu, 01 Jan 1970 00:00:09 GMT") : done)
    return Effect.gen(function*() {
      yield* TestClock.setTime(5_000_000)
      yield* run(operation)
      assert.deepStrictEqual(times, [5_000_000, 5_009_000])
    }).pipe(Effect.provide(layer))
  })

  it.effect("is sent again at once if the service asks for no wait, and still three times at the most", () => {
    const { layer, times } = setUp(() => turnedAway(0))
    return Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(operation))._tag, "RateLimited")
      assert.deepStrictEqual(times, [0, 0, 0])
    }).pipe(Effect.provide(layer))
  })

  it.effect("three times is RateLimited, and not tried a fourth time", () => {
    const { layer, times } = setUp((nth) => nth <= 3 ? turnedAway(nth) : done)
    return Effect.gen(function*() {
      const error = yield* run(Effect.flip(operation))
      assert.instanceOf(error, RateLimited)
      assert.deepStrictEqual((error as RateLimited).retryAfter, Duration.seconds(3))
      assert.strictEqual((error as RateLimited).source, "service")
      assert.deepStrictEqual(times, [0, 1000, 3000])
    }).pipe(Effect.provide(layer))
  })

  it.effect("twice succeeds the third time", () => {
    const { layer, times } = setUp((nth) => nth <= 2 ? turnedAway() : done)
    return Effect.gen(function*() {
      yield* run(operation)
      assert.deepStrictEqual(times, [0, 1000, 2000])
    }).pipe(Effect.provide(layer))
  })

  it.effect("takes a fresh token and a fresh permit each time, and tells the limiter of each answer", () => {
    const { counts, layer, sent } = setUp((nth) => nth <= 2 ? turnedAway() : done)
    return Effect.gen(function*() {
      yield* run(operation)
      assert.deepStrictEqual(sent(), ["Bearer t1", "Bearer t2", "Bearer t3"])
      assert.deepStrictEqual(counts, { tokens: 3, acquired: 3, observed: 3 })
    }).pipe(Effect.provide(layer))
  })

  it.effect("is sent again even if it must not be carried out twice: it was not carried out", () => {
    const job = { id: "job_1", type: "users_export", status: "pending", connection: "c" }
    const { layer, times } = setUp((nth) => nth === 1 ? turnedAway() : { body: job })
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* run(createUsersExport({})), job)
      assert.lengthOf(times, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("waits up to a minute", () => {
    const { layer, times } = setUp((nth) => nth === 1 ? turnedAway(60) : done)
    return Effect.gen(function*() {
      yield* run(operation)
      assert.deepStrictEqual(times, [0, 60_000])
    }).pipe(Effect.provide(layer))
  })

  it.effect("fails at once if it would have to wait longer, and says how long", () => {
    const { layer, times } = setUp(() => turnedAway(61))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(operation)
      assert.strictEqual(error._tag, "RateLimited")
      assert.deepStrictEqual((error as RateLimited).retryAfter, Duration.seconds(61))
      assert.deepStrictEqual(times, [0])
    }).pipe(Effect.provide(layer))
  })

  it.effect("can be interrupted while it waits, and is not sent any more", () => {
    const { counts, layer, times } = setUp((nth) => nth === 1 ? turnedAway() : done)
    return Effect.gen(function*() {
      const call = yield* Effect.fork(operation)
      yield* breathe
      yield* Fiber.interrupt(call)
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(times, [0])
      assert.deepStrictEqual(counts, { tokens: 1, acquired: 1, observed: 1 })
    }).pipe(Effect.provide(layer))
  })

  it.effect("with 401 on one of its attempts is replayed within that attempt", () => {
    const { layer, sent, times } = setUp((nth) => nth === 1 ? turnedAway() : nth === 2 ? { status: 401 } : done)
    return Effect.gen(function*() {
      yield* run(operation)
      assert.deepStrictEqual(times, [0, 1000, 1000])
      assert.deepStrictEqual(sent(), ["Bearer t1", "Bearer t2", "Bearer t3"])
    }).pipe(Effect.provide(layer))
  })
})

describe("nothing else is sent again", () => {
  for (const status of [400, 403, 404, 408, 409, 425, 500, 502, 503, 504]) {
    it.effect(`not ${status}, even with Retry-After`, () => {
      const { layer, times } = setUp(() => ({ ...turnedAway(1), status }))
      return Effect.gen(function*() {
        yield* run(Effect.flip(operation))
        assert.deepStrictEqual(times, [0])
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("not a call without an answer", () => {
    const { layer, times } = setUp(() => done)
    return Effect.gen(function*() {
      const error = yield* run(Effect.flip(IdentityClient.withTimeout(operation, 0)))
      assert.strictEqual(error._tag, "TransportError")
      assert.isAtMost(times.length, 1)
    }).pipe(Effect.provide(layer))
  })
})

describe("Retry.none", () => {
  it.effect("sends a call once, whatever comes back", () => {
    const { layer, times } = setUp(() => turnedAway())
    return Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(Retry.none(operation)))._tag, "RateLimited")
      assert.deepStrictEqual(times, [0])
    }).pipe(Effect.provide(layer))
  })

  it.effect("ends with the effect it is put around", () => {
    const { layer, times } = setUp(() => turnedAway())
    return Effect.gen(function*() {
      yield* Effect.flip(Retry.none(operation))
      yield* run(Effect.flip(operation))
      assert.lengthOf(times, 1 + 3)
    }).pipe(Effect.provide(layer))
  })

  it.effect("does not keep a 401 from being replayed", () => {
    const { layer, times } = setUp((nth) => nth === 1 ? { status: 401 } : done)
    return Effect.gen(function*() {
      yield* Retry.none(operation)
      assert.lengthOf(times, 2)
    }).pipe(Effect.provide(layer))
  })
})

describe("Retry.policy", () => {
  const waits = (name: string, expected: ReadonlyArray<number>, set: typeof Retry.none, retryAfter?: number) =>
    it.effect(name, () => {
      const { layer, times } = setUp(() => turnedAway(retryAfter))
      return Effect.gen(function*() {
        assert.strictEqual((yield* run(Effect.flip(set(operation))))._tag, "RateLimited")
        assert.deepStrictEqual(times, expected)
      }).pipe(Effect.provide(layer))
    })

  waits("that sets attempts leaves the rest", [0, 1000, 2000, 3000], Retry.policy({ attempts: 4 }))
  waits("that sets the delay leaves the rest", [0, 50, 100], Retry.policy({ delay: "50 millis" }))
  waits(
    "that sets the delay does not replace what the service asks for",
    [0, 2000, 4000],
    Retry.policy({ delay: 50 }),
    2
  )
  waits("that sets the longest wait leaves the rest", [0, 90_000, 180_000], Retry.policy({ maxDelay: "2 minutes" }), 90)
  waits("that sets the longest wait also limits its own delay", [0], Retry.policy({ maxDelay: "999 millis" }))
  waits("that sets nothing changes nothing", [0, 1000, 2000], Retry.policy({}))
  waits("that sets no attempt at all still sends once", [0], Retry.policy({ attempts: 0 }))
  waits(
    "within another keeps what it does not set itself",
    [0, 50],
    (self) => self.pipe(Retry.policy({ attempts: 2 }), Retry.policy({ attempts: 9, delay: 50 }))
  )
  waits("within Retry.none sets attempts again", [0, 1000], (self) => Retry.none(Retry.policy(self, { attempts: 2 })))
  waits("around Retry.none does not", [0], (self) => Retry.policy(Retry.none(self), { attempts: 2 }))
  waits("counts from an infinite wait on as too long", [0], Retry.policy({ delay: Duration.infinity }))

  it.effect("holds for calls that are forked within it", () => {
    const { layer, times } = setUp(() => turnedAway())
    return Effect.gen(function*() {
      yield* Effect.all([operation, operation].map(Effect.flip), { concurrency: 2 }).pipe(Retry.none)
      assert.deepStrictEqual(times, [0, 0])
    }).pipe(Effect.provide(layer))
  })
})

describe("with the real limiter", () => {
  const limited = (answer: (nth: number) => Answer) => {
    const times: Array<number> = []
    const network = inProcess((nth) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        times.push(now)
        return answer(nth)
      })
    )
    const layer = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
      Layer.provide([network.layer, RateLimiter.layer, TokenProvider.layerBearer(Redacted.make("t"))])
    )
    return { layer, times }
  }
  const told = (reset: number): Answer => ({
    status: 429,
    headers: {
      date: "Thu, 01 Jan 1970 00:00:00 GMT",
      "x-ratelimit-limit": "2",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(reset)
    }
  })

  for (const reset of [0, 1]) {
    it.effect(`a server that always answers 429 with a reset of ${reset} s gets three calls, and no more`, () => {
      const { layer, times } = limited(() => told(reset))
      return Effect.gen(function*() {
        assert.strictEqual((yield* run(Effect.flip(operation)))._tag, "RateLimited")
        assert.deepStrictEqual(times, [0, 1000, 2000])
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("RateLimited says what the service said of the bucket", () => {
    const { layer } = limited(() => told(30))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(Retry.none(operation))
      assert.deepInclude(error, { _tag: "RateLimited", source: "service", limit: 2, remaining: 0 })
      assert.strictEqual((error as RateLimited).resetAt?.epochMillis, 30_000)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a call that waits is paced by the limiter too, where that is longer", () => {
    const { layer, times } = limited((nth) => nth === 1 ? told(30) : { status: 200 })
    return Effect.gen(function*() {
      yield* run(operation)
      assert.lengthOf(times, 2)
      assert.isTrue(times[1]! >= 15_000 && times[1]! <= 15_020)
    }).pipe(Effect.provide(layer))
  })
})
