import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import * as IdentityClient from "../../src/IdentityClient.js"
import { deleteEventStream } from "../../src/operations/index.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import { bearer } from "../support/client.js"
import { inProcess } from "../support/tokenServer.js"

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
})
