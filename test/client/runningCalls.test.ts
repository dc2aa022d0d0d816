import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, Layer, Option, Redacted, Scope, TestClock } from "effect"
import * as IdentityClient from "../../src/IdentityClient.js"
import { deleteEventStream } from "../../src/operations/index.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { bearer } from "../support/client.js"
import * as Permits from "../support/permits.js"
import { inProcess, type Reply } from "../support/tokenServer.js"

const id = "est_0123456789012345678901"
const breathe = Effect.repeatN(Effect.yieldNow(), 100)

/** Forks an effect, and lets it run until it waits. */
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.zipLeft(Effect.fork(effect), breathe)

describe("closing a client", () => {
  const open = (delay: number) =>
    Effect.gen(function*() {
      const network = inProcess(() => Effect.delay(Effect.succeed({ status: 200 }), delay))
      const scope = yield* Scope.make()
      const context = yield* IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, bearer, network.layer]),
        Layer.buildWithScope(scope)
      )
      const call = Effect.provide(deleteEventStream({ id }), context)
      return { call, close: Scope.close(scope, Exit.void) }
    })

  it.effect("without a running call takes no time", () =>
    Effect.gen(function*() {
      const { close } = yield* open(0)
      const closing = yield* started(close)
      assert.isNotNull(closing.unsafePoll())
    }))

  it.effect("lets a running call end within 5 s", () =>
    Effect.gen(function*() {
      const { call, close } = yield* open(4999)
      const running = yield* started(call)
      const closing = yield* Effect.fork(close)
      yield* TestClock.adjust("4998 millis")
      assert.isNull(closing.unsafePoll())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(closing)
      yield* Fiber.join(running)
    }))

  it.effect("waits for the last of several", () =>
    Effect.gen(function*() {
      const { call, close } = yield* open(3000)
      const first = yield* Effect.fork(call)
      yield* TestClock.adjust("1 second")
      const last = yield* started(call)
      const closing = yield* Effect.fork(close)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(first)
      assert.isNull(closing.unsafePoll())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
      yield* Fiber.join(last)
    }))

  it.effect("waits for a running call after others have ended", () =>
    Effect.gen(function*() {
      const { call, close } = yield* open(1000)
      const first = yield* Effect.fork(call)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(first)
      const second = yield* started(call)
      const closing = yield* started(close)
      assert.isNull(closing.unsafePoll())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
      yield* Fiber.join(second)
    }))

  it.effect("waits although it is interrupted meanwhile, even twice", () =>
    Effect.gen(function*() {
      const { call, close } = yield* open(3000)
      const running = yield* started(call)
      const closing = yield* started(close)
      for (let nth = 0; nth < 2; nth++) {
        yield* Fiber.interruptFork(closing)
        yield* TestClock.adjust("1 second")
        assert.isNull(closing.unsafePoll())
      }
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(running)
      yield* Fiber.await(closing)
    }))

  it.effect("ends a call that runs longer than 5 s", () =>
    Effect.gen(function*() {
      const { call, close } = yield* open(6000)
      const running = yield* started(Effect.flip(call))
      const closing = yield* Effect.fork(close)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(closing)
      assert.deepInclude(yield* Fiber.join(running), { _tag: "TransportError", outcome: "unknown", code: "CLOSED" })
    }))

  it.effect("refuses new calls while it waits for running ones", () =>
    Effect.gen(function*() {
      const { call, close } = yield* open(3000)
      const running = yield* started(call)
      const closing = yield* started(close)
      const late = yield* Effect.fork(Effect.flip(call))
      yield* TestClock.adjust("3 seconds")
      assert.deepInclude(yield* Fiber.join(late), { _tag: "TransportError", outcome: "not-sent", code: "CLOSED" })
      yield* Fiber.join(running)
      yield* Fiber.join(closing)
    }))

  it.effect("refuses new calls without sending them", () =>
    Effect.gen(function*() {
      const { call, close } = yield* open(0)
      yield* close
      assert.deepInclude(yield* Effect.flip(call), { _tag: "TransportError", outcome: "not-sent", code: "CLOSED" })
    }))

  // Tokens and limiter outlive the client, as those do that several clients share.
  const waits: Record<string, {
    readonly tokens?: Layer.Layer<TokenProvider.TokenProvider>
    readonly limiter?: Layer.Layer<RateLimiter.RateLimiter>
    readonly reply?: Reply
  }> = {
    "for a token": { tokens: TokenProvider.layerEffect(Effect.never) },
    "for the invalidation of its token": {
      tokens: Layer.succeed(TokenProvider.TokenProvider, {
        get: Effect.succeed(Redacted.make("t")),
        invalidate: () => Effect.never
      }),
      reply: { status: 401 }
    },
    "for a permit": {
      limiter: Layer.succeed(RateLimiter.RateLimiter, Permits.limiterOf(() => Effect.never))
    },
    "for Retry-After": { reply: { status: 429, headers: { "retry-after": "20" } } },
    "for its retry": { reply: { status: 503, headers: { "retry-after": "20" } } }
  }
  for (
    const [wait, { limiter = RateLimiter.layerUnlimited, reply = { status: 200 }, tokens = bearer }] of Object.entries(
      waits
    )
  ) {
    it.effect(`ends a call that waits ${wait}, within 5 s`, () =>
      Effect.gen(function*() {
        const outer = yield* Scope.make()
        const shared = yield* Layer.buildWithScope(Layer.merge(limiter, tokens), outer)
        const scope = yield* Scope.make()
        const context = yield* IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
          Layer.provide([Layer.succeedContext(shared), inProcess(() => Effect.succeed(reply)).layer]),
          Layer.buildWithScope(scope)
        )
        const child = yield* Effect.fork(Effect.never)
        const call = yield* started(Effect.flip(Effect.provide(deleteEventStream({ id }), context)))
        const closing = yield* started(Scope.close(scope, Exit.void))
        assert.isNull(call.unsafePoll())
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(closing)
        yield* breathe
        assert.isNotNull(call.unsafePoll())
        const error = yield* Fiber.join(call)
        // The outcome of an attempt before counts.
        if (reply.status === 503) assert.deepInclude(error, { _tag: "UnexpectedResponse", status: 503 })
        else assert.deepInclude(error, { _tag: "TransportError", code: "CLOSED", outcome: "not-sent" })
        assert.isNull(child.unsafePoll()) // nothing of the program was interrupted
        yield* Scope.close(outer, Exit.void)
      }))
  }
})

describe("closing a client whose request is under way, within a limiter and a stage of the user's own", () => {
  const ends = (delay: number, stage: IdentityClient.Stage) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* IdentityClient.layer({ baseUrl: "https://t.example.com", stages: [stage] }).pipe(
        Layer.provide([
          Layer.succeed(RateLimiter.RateLimiter, RateLimiter.make(() => (send) => send)),
          bearer,
          inProcess(() => Effect.delay(Effect.succeed({ status: 204 }), delay)).layer
        ]),
        Layer.buildWithScope(scope)
      )
      const call = yield* started(Effect.either(Effect.provide(deleteEventStream({ id }), context)))
      const closing = yield* started(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(closing)
      yield* breathe
      assert.isNotNull(call.unsafePoll())
      return yield* Fiber.join(call)
    })

  it.effect("ends it with an unknown outcome", () =>
    Effect.gen(function*() {
      const result = yield* ends(6000, (next) => next)
      assert.isTrue(Either.isLeft(result))
      const error = Option.getOrThrow(Either.getLeft(result))
      assert.deepInclude(error, { _tag: "TransportError", code: "CLOSED", outcome: "unknown" })
    }))

  it.effect("gives its response, if only the stage still waits", () =>
    Effect.gen(function*() {
      const result = yield* ends(1000, (next) => (call) => Effect.zipLeft(next(call), Effect.sleep("1 minute")))
      assert.deepStrictEqual(result, Either.right(undefined))
    }))
})

describe("a running call", () => {
  /** A client whose requests take 2 ms, and whether one was interrupted. */
  const open = Effect.gen(function*() {
    let isInterrupted = false
    const { arrived, layer } = inProcess(() =>
      Effect.as(Effect.sleep("2 millis"), { status: 200 }).pipe(
        Effect.onInterrupt(() => Effect.sync(() => void (isInterrupted = true)))
      )
    )
    const context = yield* Layer.build(
      IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, bearer, layer])
      )
    )
    const call = Effect.provide(deleteEventStream({ id }), context)
    return { arrived, call, isInterrupted: () => isInterrupted }
  })

  it.scoped("is not interrupted with its caller in a region that cannot be interrupted", () =>
    Effect.gen(function*() {
      const { call, isInterrupted } = yield* open
      const ended = yield* Deferred.make<void>()
      const caller = yield* started(Effect.uninterruptible(Effect.zipRight(call, Deferred.succeed(ended, undefined))))
      yield* Fiber.interruptFork(caller)
      yield* breathe
      yield* TestClock.adjust("2 millis")
      yield* Fiber.await(caller)
      assert.isFalse(isInterrupted())
      assert.isTrue(yield* Deferred.isDone(ended))
    }))

  it.scoped("is made by a finalizer, and in a region that was interrupted before and cannot be", () =>
    Effect.gen(function*() {
      const { arrived, call } = yield* open
      const results: Array<Exit.Exit<unknown, unknown>> = []
      const recorded = Effect.map(Effect.exit(call), (exit) => void results.push(exit))
      const released = yield* Deferred.make<void>()
      const callers = yield* Effect.forEach([
        Effect.ensuring(Effect.never, recorded),
        Effect.onInterrupt(Effect.never, () => recorded),
        Effect.scoped(Effect.zipRight(Effect.acquireRelease(Effect.void, () => recorded), Effect.never)),
        Effect.uninterruptible(Effect.zipRight(Deferred.await(released), recorded))
      ], Effect.fork)
      yield* breathe
      for (const caller of callers) yield* Fiber.interruptFork(caller)
      yield* breathe
      yield* Deferred.succeed(released, undefined)
      yield* TestClock.adjust("2 millis")
      for (const caller of callers) yield* Fiber.await(caller)
      assert.deepStrictEqual(results.map(Exit.isSuccess), [true, true, true, true])
      assert.lengthOf(arrived, 4)
    }))

  it.scoped("ends with its caller, whose finalizers wait for it", () =>
    Effect.gen(function*() {
      const { call, isInterrupted } = yield* open
      const caller = yield* started(Effect.onInterrupt(call, () => Effect.sync(() => assert.isTrue(isInterrupted()))))
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(caller)))
      assert.isTrue(isInterrupted())
    }))
})
