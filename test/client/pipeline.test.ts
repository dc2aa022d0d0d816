import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Duration, Effect, Exit, Fiber, Layer, Option, Redacted, TestClock, Tracer } from "effect"
import { inspect } from "node:util"
import { RateLimited, TokenError, TransportError } from "../../src/Errors.js"
import * as IdentityClient from "../../src/IdentityClient.js"
import { limited } from "../../src/internal/call/limited.js"
import { createUsersExport, deleteEventStream } from "../../src/operations/index.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as Retry from "../../src/Retry.js"
import * as Testing from "../../src/Testing.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import * as Permits from "../support/permits.js"
import { answer, started } from "../support/stages.js"
import { inProcess, type Reply } from "../support/tokenServer.js"

const breathe = Effect.repeatN(Effect.yieldNow(), 100)
const id = "est_0123456789012345678901"
const unauthorized: Reply = { status: 401, body: { statusCode: 401, error: "Unauthorized", message: "Invalid token" } }
const done: Reply = { status: 200 }

/** Supplies the next of these tokens after each invalidation, until the last one. */
const tokensOf = (...values: ReadonlyArray<string>) => {
  const invalidated: Array<string> = []
  const layer = Layer.succeed(TokenProvider.TokenProvider, {
    get: Effect.sync(() => Redacted.make(values[Math.min(invalidated.length, values.length - 1)]!)),
    invalidate: (token) => Effect.sync(() => void invalidated.push(Redacted.value(token)))
  })
  return { invalidated, layer }
}

/** A limiter that logs the calls and the settled permits. */
const recording = (acquire: Effect.Effect<void, RateLimited> = Effect.void) => {
  const log: Array<string> = []
  const calls: Array<RateLimiter.Call> = []
  const layer = Layer.succeed(
    RateLimiter.RateLimiter,
    Permits.limiterOf((call) =>
      Effect.zipRight(
        acquire,
        Effect.sync(() => {
          calls.push(call)
          log.push("acquire")
          return {
            settle: (response: RateLimiter.LimitedResponse | undefined) =>
              Effect.sync(() => void log.push(`settle ${response === undefined ? "nothing" : response.status}`))
          }
        })
      )
    )
  )
  return { calls, layer, log }
}

/** Provides a client over a network with these replies. */
const setUp = (
  reply: (nth: number) => Effect.Effect<Reply>,
  options: { readonly tokens?: ReadonlyArray<string>; readonly acquire?: Effect.Effect<void, RateLimited> } = {}
) => {
  const network = inProcess(reply)
  const limiter = recording(options.acquire)
  const tokens = tokensOf(...options.tokens ?? ["t1", "t2", "t3"])
  const layer = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2/" }).pipe(
    Layer.provide([network.layer, limiter.layer, tokens.layer])
  )
  const sent = () => network.arrived.map(({ headers }) => headers["authorization"])
  return { ...limiter, invalidated: tokens.invalidated, layer, sent }
}

describe("a call that is refused with 401", () => {
  it.effect("is retried once with a fresh token and a fresh permit", () => {
    const { invalidated, layer, log, sent } = setUp((nth) => Effect.succeed(nth === 1 ? unauthorized : done))
    return Effect.gen(function*() {
      yield* deleteEventStream({ id })
      assert.deepStrictEqual(sent(), ["Bearer t1", "Bearer t2"])
      assert.deepStrictEqual(invalidated, ["t1"])
      assert.deepStrictEqual(log, ["acquire", "settle 401", "acquire", "settle 200"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("is retried even if it is not idempotent, as it was not carried out", () => {
    const job = { id: "job_1", type: "users_export", status: "pending", connection: "c" }
    const { layer, sent } = setUp((nth) => Effect.succeed(nth === 1 ? unauthorized : { body: job }))
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* createUsersExport({}), job)
      assert.lengthOf(sent(), 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("twice is Unauthorized after exactly two requests", () => {
    const { layer, sent } = setUp(() => Effect.succeed(unauthorized))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(deleteEventStream({ id }))
      assert.strictEqual(error._tag, "Unauthorized")
      assert.strictEqual(error.message, "deleteEventStream: Invalid token")
      assert.lengthOf(sent(), 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("is not retried if there is no other token", () => {
    const { invalidated, layer, log, sent } = setUp(() => Effect.succeed(unauthorized), { tokens: ["only"] })
    return Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(deleteEventStream({ id })))._tag, "Unauthorized")
      assert.lengthOf(sent(), 1)
      assert.deepStrictEqual(invalidated, ["only"])
      assert.deepStrictEqual(log, ["acquire", "settle 401"])
    }).pipe(Effect.provide(layer))
  })

  for (
    const [second, third, expected] of [
      ["t2", "t3", { status: 200, sent: ["t1", "t2", "t3"] }],
      ["t2", "t2", { status: 401, sent: ["t1", "t2"] }]
    ] as const
  ) {
    it.effect(`twice, where the provider's own token is ${third} when ${second} is refused, gives ${expected.status}`, () => {
      let own = "t1"
      const { arrived, layer } = inProcess((nth) =>
        Effect.sync(() => {
          own = [own, second, third][nth] ?? own
          return nth <= 2 ? unauthorized : done
        })
      )
      const tokens = Layer.succeed(TokenProvider.TokenProvider, {
        get: Effect.sync(() => Redacted.make(own)),
        invalidate: () => Effect.void
      })
      const client = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, tokens, layer])
      )
      return Effect.gen(function*() {
        const { response } = yield* IdentityClient.withResponse(Effect.ignore(deleteEventStream({ id })))
        assert.strictEqual(Option.getOrThrow(response).status, expected.status)
        assert.deepEqual(
          arrived.map(({ headers }) => headers["authorization"]),
          expected.sent.map((token) => `Bearer ${token}`)
        )
      }).pipe(Effect.provide(client))
    })
  }

  it.effect("is a TokenError if no fresh token can be obtained", () => {
    const { arrived, layer } = inProcess((nth) =>
      Effect.succeed(
        nth === 1
          ? { body: { access_token: "t1" } }
          : nth === 2
          ? unauthorized
          : { status: 403, body: { error: "access_denied" } }
      )
    )
    const client = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2" }).pipe(
      Layer.provide(RateLimiter.layer),
      Layer.provide(TokenProvider.layerClientCredentials({
        domain: "t.example.com",
        clientId: "i",
        clientSecret: Redacted.make("s3cret")
      })),
      Layer.provide(layer)
    )
    return Effect.gen(function*() {
      const error = yield* Effect.flip(deleteEventStream({ id }))
      assert.deepInclude(error, {
        _tag: "TokenError",
        operation: "deleteEventStream",
        status: 403,
        error: "access_denied"
      })
      assert.lengthOf(arrived, 3)
    }).pipe(Effect.provide(client))
  })

  it.effect("among many that share a token causes one token request, and all of them succeed", () => {
    let issued = 0
    const { arrived, layer } = inProcess((_, request) =>
      Effect.as(
        Effect.yieldNow(),
        request.url.includes("/oauth/") ?
          { body: { access_token: `t${++issued}` } }
          : request.headers["authorization"] === "Bearer t1" ?
          unauthorized
          : done
      )
    )
    const client = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2" }).pipe(
      Layer.provide(RateLimiter.layerUnlimited),
      Layer.provide(TokenProvider.layerClientCredentials({
        domain: "t.example.com",
        clientId: "i",
        clientSecret: Redacted.make("s3cret")
      })),
      Layer.provide(layer)
    )
    return Effect.gen(function*() {
      yield* Effect.all(Array.from({ length: 50 }, () => deleteEventStream({ id })), {
        concurrency: "unbounded",
        discard: true
      })
      assert.strictEqual(issued, 2)
      assert.lengthOf(arrived, 2 + 100)
    }).pipe(Effect.provide(client))
  })
})

describe("a token", () => {
  it.effect("that cannot be obtained fails the call with the operation's name and all fields of the error, before a permit is acquired", () => {
    const { arrived, layer } = inProcess(() => Effect.succeed(done))
    const { layer: limiter, log } = recording()
    const known = {
      message: "down",
      status: 429,
      error: "too_many_requests",
      description: "Later.",
      retryAfter: Duration.hours(1),
      code: "X"
    }
    const tokens = TokenProvider.layerEffect(Effect.fail(new TokenError({ operation: "token", ...known })))
    const client = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
      Layer.provide([layer, limiter, tokens])
    )
    return Effect.gen(function*() {
      const error = yield* Effect.flip(deleteEventStream({ id }))
      assert.instanceOf(error, TokenError)
      assert.deepStrictEqual({ ...error, message: error.message }, {
        _tag: "TokenError",
        operation: "deleteEventStream",
        ...known,
        message: `deleteEventStream: ${known.message}`
      } as never)
      assert.deepStrictEqual(log, [])
      assert.lengthOf(arrived, 0)
    }).pipe(Effect.provide(client))
  })

  for (const token of ["", "a b", "a\r\nx-evil: 1", "tökén", "a\u0000"]) {
    it.effect(`that a header cannot contain is a TokenError and never sent: ${JSON.stringify(token)}`, () => {
      const { layer, log, sent } = setUp(() => Effect.succeed(done), { tokens: [token] })
      return Effect.gen(function*() {
        const error = yield* Effect.flip(deleteEventStream({ id }))
        assert.strictEqual(error._tag, "TokenError")
        assert.strictEqual((error as TokenError).operation, "deleteEventStream")
        assert.include(error.message, "a header cannot contain")
        assert.isTrue(token === "" || !inspect(error, { depth: null }).includes(token))
        assert.lengthOf(sent(), 0)
        assert.deepStrictEqual(log, [])
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("that has been wiped is no longer sent", () => {
    const token = Redacted.make("a-token")
    const tokens = Layer.succeed(TokenProvider.TokenProvider, {
      get: Effect.succeed(token),
      invalidate: () => Effect.void
    })
    const layer = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
      Layer.provide([RateLimiter.layerUnlimited, tokens]),
      Layer.provideMerge(Testing.layerHttp(Testing.reply({ status: 204 })))
    )
    return Effect.gen(function*() {
      yield* deleteEventStream({ id })
      Redacted.unsafeWipe(token)
      const exit = yield* Effect.exit(deleteEventStream({ id }))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.lengthOf(yield* Testing.requests, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("that is fresh but invalid fails the call with TokenError, without a second request", () => {
    const { layer, sent } = setUp(() => Effect.succeed(unauthorized), { tokens: ["t1", "bad\ntoken"] })
    return Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(deleteEventStream({ id })))._tag, "TokenError")
      assert.lengthOf(sent(), 1)
    }).pipe(Effect.provide(layer))
  })
})

describe("a permit is settled exactly once", () => {
  it.effect("with the response of a call that succeeds, acquired for its tenant and operation", () => {
    const { calls, layer, log } = setUp(() => Effect.succeed(done))
    return Effect.gen(function*() {
      yield* deleteEventStream({ id })
      assert.deepStrictEqual(log, ["acquire", "settle 200"])
      const call = { tenant: "https://t.example.com/api/v2", operation: "deleteEventStream" }
      assert.deepStrictEqual(calls, [call])
    }).pipe(Effect.provide(layer))
  })

  it.effect("with the response of a call that fails", () => {
    const { layer, log } = setUp(() => Effect.succeed({ status: 500 }))
    return Effect.gen(function*() {
      yield* Effect.flip(Retry.withoutRetries(deleteEventStream({ id })))
      assert.deepStrictEqual(log, ["acquire", "settle 500"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("without a response if the connection fails", () => {
    const { layer: limiter, log } = recording()
    const client = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
      Layer.provide([Testing.layerHttp(Testing.noReply("ECONNRESET")), limiter, tokensOf("t1").layer])
    )
    return Effect.gen(function*() {
      const error = yield* Effect.flip(Retry.withoutRetries(deleteEventStream({ id })))
      assert.deepInclude(error, {
        _tag: "TransportError",
        operation: "deleteEventStream",
        outcome: "unknown",
        code: "ECONNRESET"
      })
      assert.strictEqual(error.message, "deleteEventStream: t.example.com did not respond (ECONNRESET)")
      assert.deepStrictEqual(log, ["acquire", "settle nothing"])
    }).pipe(Effect.provide(client))
  })

  it.effect("without a response if sending dies", () => {
    const { layer, log } = setUp(() => Effect.dieMessage("boom"))
    return Effect.gen(function*() {
      const exit = yield* Effect.exit(deleteEventStream({ id }))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.deepStrictEqual(log, ["acquire", "settle nothing"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("without a response if a tracer throws between the permit and the request", () => {
    const { layer, log } = setUp(() => Effect.succeed(done), { acquire: Effect.sleep("2 seconds") })
    const broken = (): never => {
      throw new Error("boom")
    }
    return Effect.gen(function*() {
      const native = yield* Effect.tracer
      const tracer = Tracer.make({
        context: (run) => run(),
        span: (...of) => Object.assign(native.span(...of), { event: broken })
      })
      const fiber = yield* Effect.fork(Effect.exit(Effect.withTracer(deleteEventStream({ id }), tracer)))
      yield* TestClock.adjust("2 seconds")
      const exit = yield* Fiber.join(fiber)
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.deepStrictEqual(log, ["acquire", "settle nothing"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("without a response if a wrapper of the HTTP client throws", () => {
    const { layer: limiter, log } = recording()
    const throwing = Layer.map(Testing.layerHttp(Testing.reply({})), (context) =>
      Context.add(
        context,
        HttpClient.HttpClient,
        HttpClient.mapRequestInput(Context.get(context, HttpClient.HttpClient), () => {
          throw new Error("boom")
        })
      ))
    const client = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
      Layer.provide([throwing, limiter, tokensOf("t1").layer])
    )
    return Effect.gen(function*() {
      const exit = yield* Effect.exit(deleteEventStream({ id }))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.deepStrictEqual(log, ["acquire", "settle nothing"])
    }).pipe(Effect.provide(client))
  })

  it.effect("without a response if the call is interrupted while it is sent", () => {
    const { layer, log, sent } = setUp(() => Effect.never)
    return Effect.gen(function*() {
      const call = yield* Effect.fork(deleteEventStream({ id }))
      yield* breathe
      assert.lengthOf(sent(), 1)
      yield* Fiber.interrupt(call)
      assert.deepStrictEqual(log, ["acquire", "settle nothing"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("without a response if the time-out is reached, and not before", () => {
    const { layer, log } = setUp(() => Effect.never)
    return Effect.gen(function*() {
      const call = yield* deleteEventStream({ id }).pipe(
        IdentityClient.withTimeout("5 seconds"),
        Retry.withoutRetries,
        Effect.flip,
        Effect.fork
      )
      yield* TestClock.adjust("4999 millis")
      assert.deepStrictEqual(log, ["acquire"])
      yield* TestClock.adjust("1 millis")
      const error = yield* Fiber.join(call)
      assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown", code: "TIMEOUT" })
      assert.deepStrictEqual(log, ["acquire", "settle nothing"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("with a response that arrives within the time-out", () => {
    const { layer, log } = setUp(() => Effect.delay(Effect.succeed(done), "4 seconds"))
    return Effect.gen(function*() {
      const call = yield* Effect.fork(IdentityClient.withTimeout(deleteEventStream({ id }), "5 seconds"))
      yield* TestClock.adjust("4 seconds")
      yield* Fiber.join(call)
      assert.deepStrictEqual(log, ["acquire", "settle 200"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("and none is acquired if a call is interrupted while it waits for one", () => {
    const { layer, log, sent } = setUp(() => Effect.succeed(done), { acquire: Effect.never })
    return Effect.gen(function*() {
      const call = yield* Effect.fork(deleteEventStream({ id }))
      yield* breathe
      yield* Fiber.interrupt(call)
      assert.deepStrictEqual(log, [])
      assert.lengthOf(sent(), 0)
    }).pipe(Effect.provide(layer))
  })

  it.effect("and settled with nothing after a redirect: another host's response must not teach the limiter", () => {
    const elsewhere = "https://elsewhere.example.com/"
    const network = inProcess((nth) =>
      Effect.succeed(
        nth === 1
          ? { status: 307, headers: { location: elsewhere } }
          : { status: 429, headers: { "retry-after": "900", "x-ratelimit-remaining": "0" } }
      )
    )
    const following = Layer.map(network.layer, (context) =>
      Context.make(
        HttpClient.HttpClient,
        HttpClient.followRedirects(Context.get(context, HttpClient.HttpClient))
      ))
    const { layer: limiter, log } = recording()
    const layer = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2/" }).pipe(
      Layer.provide([following, limiter, tokensOf("t1").layer])
    )
    return Effect.gen(function*() {
      assert.deepInclude(yield* Effect.flip(deleteEventStream({ id })), { reason: "redirect", status: 429 })
      assert.deepStrictEqual(log, ["acquire", "settle nothing"])
      assert.strictEqual(network.arrived.at(-1)?.url, elsewhere)
    }).pipe(Effect.provide(layer))
  })

  it.effect("and a call that is interrupted while it waits leaves the queue of the limiter", () => {
    const { layer: http, arrived } = inProcess(() => Effect.succeed(done))
    const layer = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2/" }).pipe(
      Layer.provide([http, tokensOf("t1").layer]),
      Layer.provideMerge(RateLimiter.layerFixed({ limit: 1, interval: "1 minute" }))
    )
    return Effect.gen(function*() {
      yield* deleteEventStream({ id })
      const calls = yield* Effect.forEach(["a", "b", "c"], () => Effect.fork(deleteEventStream({ id })))
      yield* breathe
      assert.deepInclude((yield* RateLimiter.status)[0], { waiting: 3, remaining: 0 })
      yield* Fiber.interrupt(calls[0]!)
      assert.deepInclude((yield* RateLimiter.status)[0], { waiting: 2, remaining: 0 })
      yield* TestClock.adjust("61 seconds")
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(calls[1]!)))
      assert.deepInclude((yield* RateLimiter.status)[0], { waiting: 1, remaining: 0 })
      yield* Fiber.interrupt(calls[2]!)
      assert.lengthOf(arrived, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("and acquired from a limiter that wraps one of the library", () => {
    let asked = 0
    const limiter = Layer.map(RateLimiter.layerFixed({ limit: 1, interval: "1 minute" }), (context) => {
      const inner = Context.get(context, RateLimiter.RateLimiter)
      return Context.make(RateLimiter.RateLimiter, {
        ...inner,
        limit: (call) => (send) => Effect.zipRight(Effect.sync(() => asked++), inner.limit(call)(send))
      })
    })
    const layer = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2/" }).pipe(
      Layer.provide([inProcess(() => Effect.succeed(done)).layer, limiter, tokensOf("t1").layer])
    )
    return Effect.gen(function*() {
      yield* deleteEventStream({ id })
      assert.strictEqual(asked, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("and none is acquired for a call that was interrupted before it waits", () =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      let known: ReadonlyArray<RateLimiter.Status> | undefined
      const asking = Effect.uninterruptibleMask((restore) =>
        Effect.withFiberRuntime<Permits.Permit, RateLimited>((fiber) => {
          fiber.unsafeInterruptAsFork(fiber.id())
          const acquire = Effect.suspend(() => restore(Permits.start(limiter, { tenant: "t", operation: "o" })))
          return Effect.zipRight(Effect.yieldNow(), acquire)
        })
      )
      const interrupted = Effect.onInterrupt(
        asking,
        () => Effect.map(limiter.status, (status) => void (known = status))
      )
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(yield* Effect.fork(interrupted))))
      assert.deepStrictEqual(known?.map(({ remaining }) => remaining), [1])
    }).pipe(Effect.provide(RateLimiter.layerFixed({ limit: 1, interval: "1 minute" }))))

  it.effect("and none is acquired for a call whose input throws, which does not block closing the client", () => {
    const { layer, sent } = setUp(() => Effect.succeed(done))
    const input = {
      get id(): string {
        throw new Error("nothing is there")
      }
    }
    return Effect.gen(function*() {
      const exit = yield* Effect.exit(Effect.provide(deleteEventStream(input), layer))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.lengthOf(sent(), 0)
    })
  })

  it.effect("by a limiter whose functions are called once each, even if they throw", () =>
    Effect.gen(function*() {
      for (const throws of [false, true]) {
        const log: Array<string> = []
        const called = (name: string) => {
          log.push(name)
          if (throws) throw new Error(name)
          return Effect.void
        }
        const limiter = Layer.succeed(
          RateLimiter.RateLimiter,
          Permits.limiterOf(() => {
            log.push("acquire")
            return Effect.succeed({ settle: () => called("settle") })
          })
        )
        const client = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
          Layer.provide([limiter, tokensOf("t1").layer, Testing.layerHttp(Testing.reply({ status: 204 }))])
        )
        const exit = yield* Effect.exit(Effect.provide(deleteEventStream({ id }), client))
        assert.deepStrictEqual(log, ["acquire", "settle"])
        assert.strictEqual(Exit.isFailure(exit) && Cause.isDie(exit.cause), throws)
      }
    }))

  it.effect("and none is acquired if the limiter refuses the call, which is not retried", () => {
    let asked = 0
    const limited = new RateLimited({ operation: "deleteEventStream", message: "too many", source: "limiter" })
    const acquire = Effect.suspend(() => {
      asked++
      return Effect.fail(limited)
    })
    const { layer, log, sent } = setUp(() => Effect.succeed(done), { acquire })
    return Effect.gen(function*() {
      assert.strictEqual(yield* Effect.flip(deleteEventStream({ id })), limited)
      assert.strictEqual(asked, 1)
      assert.deepStrictEqual(log, [])
      assert.lengthOf(sent(), 0)
    }).pipe(Effect.provide(layer))
  })

  it.effect("even if the call is interrupted, at any step", () =>
    Effect.gen(function*() {
      const outcomes = new Set<string>()
      for (let steps = 0; steps < 60; steps++) {
        const counts = { acquired: 0, settled: 0 }
        const limiter = Permits.limiterOf(() =>
          Effect.zipRight(
            Effect.yieldNow(),
            Effect.sync(() => {
              counts.acquired++
              return { settle: () => Effect.sync(() => void counts.settled++) }
            })
          )
        )
        const send = limited(limiter)(() =>
          Effect.as(Effect.interruptible(Effect.repeatN(Effect.yieldNow(), 5)), answer)
        )
        const call = yield* Effect.fork(started(send))
        yield* Effect.repeatN(Effect.yieldNow(), steps)
        yield* Fiber.interrupt(call)
        assert.strictEqual(counts.settled, counts.acquired)
        outcomes.add(`${counts.acquired} ${Exit.isSuccess(yield* Fiber.await(call))}`)
      }
      // Interrupted before the permit, during the exchange, and not at all.
      assert.deepStrictEqual(outcomes, new Set(["0 false", "1 false", "1 true"]))
    }))
})

describe("an exchange", () => {
  for (
    const [code, outcome, message] of [
      ["ECONNREFUSED", "not-sent", "deleteEventStream: t.example.com could not be reached (ECONNREFUSED)"],
      ["ECONNRESET", "unknown", "deleteEventStream: t.example.com did not respond (ECONNRESET)"],
      ["not a code", "unknown", "deleteEventStream: t.example.com did not respond"]
    ] as const
  ) {
    it.effect(`that fails with ${code} is ${outcome}, and its error contains nothing else`, () => {
      const client = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
        Layer.provide([Testing.layerHttp(Testing.noReply(code)), RateLimiter.layerUnlimited, tokensOf("t1").layer])
      )
      return Effect.gen(function*() {
        const error = yield* Effect.flip(Retry.withoutRetries(deleteEventStream({ id })))
        assert.instanceOf(error, TransportError)
        assert.strictEqual((error as TransportError).outcome, outcome)
        assert.strictEqual(error.message, message)
        assert.deepStrictEqual(Object.entries(error).filter(([, value]) => value === undefined), [])
        assert.notInclude(inspect(error, { depth: null }), "t1")
        assert.notInclude(inspect(error, { depth: null }), id)
      }).pipe(Effect.provide(client))
    })
  }
})
