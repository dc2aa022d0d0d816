import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, FiberRef, Logger, LogLevel, Scope, TestClock } from "effect"
import * as Exchange from "../../src/internal/http/exchange.js"
import * as Timeouts from "../../src/internal/runtime/timeouts.js"
import { requestError } from "../support/httpErrors.js"

const breathe = Effect.repeatN(Effect.yieldNow(), 100)

const request = HttpClientRequest.get("https://t.example.com/")

/** Sends a request, with a time-out of 5 ms, over a client that does this for each request. */
const sendOver = (send: Parameters<typeof HttpClient.make>[0]) =>
  Effect.map(Timeouts.make, (timeouts) => {
    const exchange = Exchange.make(HttpClient.make(send), 10)
    return Effect.uninterruptible(exchange(request, () => 10, { timeouts, millis: 5 }))
  })

const never = () => Effect.never

describe("a request with a time-out, over a client of the platform", () => {
  it.scoped("ends at its time-out even if the client cannot be interrupted", () =>
    Effect.gen(function*() {
      const send = yield* sendOver(() => Effect.uninterruptible(Effect.never))
      const fiber = yield* Effect.fork(Effect.flip(send))
      yield* TestClock.adjust("5 millis")
      assert.deepInclude(yield* Fiber.join(fiber), { outcome: "unknown", code: "TIMEOUT" })
    }))

  it.scoped("ends at its time-out in a region that cannot be interrupted", () =>
    Effect.gen(function*() {
      const send = yield* sendOver(never)
      const fiber = yield* Effect.fork(Effect.uninterruptible(Effect.flip(send)))
      yield* TestClock.adjust("5 millis")
      assert.deepInclude(yield* Fiber.join(fiber), { outcome: "unknown", code: "TIMEOUT" })
    }))

  it.scoped("does not interrupt the caller's own children at its time-out", () =>
    Effect.gen(function*() {
      const send = yield* sendOver(never)
      const child = yield* Effect.fork(Effect.as(Effect.sleep("1 second"), "alive"))
      yield* Effect.zip(Effect.flip(send), TestClock.adjust("1 second"), { concurrent: true })
      assert.strictEqual(yield* Fiber.join(child), "alive")
    }))

  it.scoped("is interrupted with its caller, before the caller's finalizers end", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      const send = yield* sendOver(() =>
        Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined))
      )
      const caller = yield* Effect.fork(Effect.ensuring(send, Deferred.await(interrupted)))
      yield* breathe
      yield* Fiber.interrupt(caller)
      assert.isTrue(yield* Deferred.isDone(interrupted))
    }))

  it.scoped("leaves no fiber-local value of the client in its caller", () =>
    Effect.gen(function*() {
      const value = yield* FiberRef.make("the caller's")
      const send = yield* sendOver((request) =>
        Effect.as(
          FiberRef.set(value, "the client's"),
          HttpClientResponse.fromWeb(request, new Response(null, { status: 204 }))
        )
      )
      yield* send
      assert.strictEqual(yield* FiberRef.get(value), "the caller's")
    }))

  it.effect("is not sent after the time-outs are closed", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      let sent = 0
      const send = yield* Scope.extend(
        sendOver(() => {
          sent++
          return Effect.never
        }),
        scope
      )
      yield* Scope.close(scope, Exit.void)
      assert.deepInclude(yield* Effect.flip(send), { outcome: "not-sent", code: "CLOSED" })
      assert.strictEqual(sent, 0)
    }))

  it.effect("ends when the time-outs are closed", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const send = yield* Scope.extend(sendOver(() => Effect.uninterruptible(Effect.never)), scope)
      const fiber = yield* Effect.fork(Effect.flip(send))
      yield* breathe
      yield* Scope.close(scope, Exit.void)
      assert.deepInclude(yield* Fiber.join(fiber), { outcome: "unknown", code: "CLOSED" })
    }))

  it.scoped("leaves nothing of the platform's error in the log, before and after its time-out", () => {
    const logged: Array<unknown> = []
    const logger = Logger.make(({ cause, message }) => void logged.push(message, cause))
    return Effect.gen(function*() {
      const fails = (delay: number) =>
        sendOver((request) =>
          Effect.uninterruptible(Effect.delay(
            Effect.fail(requestError(request, "Transport", { cause: new Error("secret") })),
            delay
          ))
        )
      for (const [delay, code] of [[1, undefined], [10, "TIMEOUT"]] as const) {
        const fiber = yield* Effect.fork(Effect.flip(Effect.flatten(fails(delay))))
        yield* TestClock.adjust("10 millis")
        assert.deepInclude(yield* Fiber.join(fiber), { outcome: "unknown", code })
        yield* TestClock.adjust("10 millis")
      }
      assert.deepStrictEqual(logged, [])
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)), Logger.withMinimumLogLevel(LogLevel.Debug))
  })
})
