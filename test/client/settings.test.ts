/** The services, and settings around a call: its time-out, and the response beside its value. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, FiberId, Layer, Option, TestClock } from "effect"
import {
  deleteEventStream,
  Errors,
  IdentityClient,
  RateLimiter,
  redeliverEvent,
  Retry,
  TokenProvider,
  updateTokenExchangeProfile
} from "../../src/index.js"
import * as SharedStore from "../../src/SharedStore.js"
import * as Testing from "../../src/Testing.js"
import { baseUrl, bearer, over, scripted, silent } from "../support/client.js"
import * as Permits from "../support/permits.js"

const id = "est_1234567890123456789012"
const bare = { id }

describe("the services", () => {
  it("have keys of their own, named after the package", () => {
    assert.deepStrictEqual(
      [IdentityClient.IdentityClient, TokenProvider.TokenProvider, RateLimiter.RateLimiter, SharedStore.SharedStore]
        .map(({ key }) => key),
      ["IdentityClient", "TokenProvider", "RateLimiter", "SharedStore"].map((name) => `effect-identity-client/${name}`)
    )
  })
})

describe("withTimeout", () => {
  const outOfTime = (call: Effect.Effect<unknown, unknown, IdentityClient.IdentityClient>) =>
    Effect.fork(Effect.flip(Effect.provide(call, over(silent))))

  it.effect("fails with TransportError, code TIMEOUT: the service may have acted", () =>
    Effect.gen(function*() {
      const fiber = yield* outOfTime(IdentityClient.withTimeout(redeliverEvent({ id, event_id: id }), "5 seconds"))
      yield* TestClock.adjust("5 seconds")
      const error = (yield* Fiber.join(fiber)) as Errors.TransportError
      assert.instanceOf(error, Errors.TransportError)
      assert.deepInclude(error, { operation: "redeliverEvent", outcome: "unknown", code: "TIMEOUT" })
      assert.strictEqual(error.message, "redeliverEvent: tenant.example.com did not respond (TIMEOUT)")
    }))

  it.effect("does not fail earlier", () =>
    Effect.gen(function*() {
      const fiber = yield* outOfTime(deleteEventStream(bare).pipe(IdentityClient.withTimeout("5 seconds")))
      yield* TestClock.adjust(4999)
      assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
      yield* Fiber.interruptAsFork(fiber, FiberId.none)
    }))

  it.effect("is 30 seconds by default", () =>
    Effect.gen(function*() {
      const fiber = yield* outOfTime(Retry.withoutRetries(deleteEventStream(bare)))
      yield* TestClock.adjust("29999 millis")
      assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "TransportError", code: "TIMEOUT" })
    }))

  it.effect("wins over the client's option", () =>
    Effect.gen(function*() {
      const client = IdentityClient.layer({ baseUrl, timeout: "5 seconds" }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, bearer, silent])
      )
      const call = Retry.withoutRetries(deleteEventStream(bare))
      for (const [limited, seconds] of [[call, 5], [IdentityClient.withTimeout(call, "9 seconds"), 9]] as const) {
        const fiber = yield* Effect.fork(Effect.flip(Effect.provide(limited, client)))
        yield* TestClock.adjust(seconds * 1000 - 1)
        assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)), `${seconds}`)
        yield* TestClock.adjust(1)
        assert.deepInclude(yield* Fiber.join(fiber), { _tag: "TransportError", code: "TIMEOUT" })
      }
    }))

  it.effect("of zero sends nothing", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(IdentityClient.withTimeout(redeliverEvent({ id, event_id: id }), 0))
      assert.deepInclude(error, { _tag: "TransportError", outcome: "not-sent", code: "TIMEOUT" })
      assert.lengthOf(yield* Testing.requests, 0)
    }).pipe(Retry.withoutRetries, Effect.provide(scripted())))

  it.effect("applies the inner of two time-outs", () =>
    Effect.gen(function*() {
      const fiber = yield* outOfTime(
        deleteEventStream(bare).pipe(
          Retry.withoutRetries,
          IdentityClient.withTimeout("1 second"),
          IdentityClient.withTimeout("1 hour")
        )
      )
      yield* TestClock.adjust("1 second")
      assert.instanceOf(yield* Fiber.join(fiber), Errors.TransportError)
    }))

  it.effect("counts neither the wait for a permit nor the one between attempts", () =>
    Effect.gen(function*() {
      const limiter = Layer.succeed(
        RateLimiter.RateLimiter,
        Permits.limiterOf(() => Effect.as(Effect.sleep("1 minute"), Permits.permit))
      )
      const network = Testing.layerHttp(
        Testing.reply({ status: 429, headers: { "retry-after": "30" } }),
        Testing.reply({})
      )
      const client = IdentityClient.layer({ baseUrl }).pipe(Layer.provide([limiter, bearer]), Layer.provide(network))
      const fiber = yield* Effect.fork(
        Effect.either(IdentityClient.withTimeout(deleteEventStream(bare), "1 second")).pipe(Effect.provide(client))
      )
      yield* TestClock.adjust("10 minutes")
      assert.isTrue(Either.isRight(yield* Fiber.join(fiber)))
    }))
})

describe("withResponse", () => {
  const callWithResponse = <A, E>(
    call: Effect.Effect<A, E, IdentityClient.IdentityClient>,
    ...replies: ReadonlyArray<Testing.Reply>
  ) => Effect.provide(IdentityClient.withResponse(call), scripted(...replies))

  it.effect("returns status and headers beside the value", () =>
    Effect.gen(function*() {
      const { response, value } = yield* callWithResponse(
        updateTokenExchangeProfile({ id: "x", name: "A name" }),
        Testing.reply({ status: 201, headers: { "X-Request-Id": "7" }, body: { id: "x" } })
      )
      const { headers, status } = Option.getOrThrow(response)
      assert.deepStrictEqual([value, status, headers["x-request-id"]], [{ id: "x" }, 201, "7"])
    }))

  it.effect("returns nothing else of the response", () =>
    Effect.gen(function*() {
      const { response } = yield* callWithResponse(deleteEventStream(bare), Testing.reply({}))
      assert.deepStrictEqual(Object.keys(Option.getOrThrow(response)).sort(), ["headers", "status"])
    }))

  it.effect("returns the last response of an effect with many calls", () =>
    Effect.gen(function*() {
      const two = Effect.zip(deleteEventStream(bare), deleteEventStream(bare))
      const { response } = yield* callWithResponse(two, Testing.reply({ status: 202 }), Testing.reply({ status: 204 }))
      assert.strictEqual(Option.getOrThrow(response).status, 204)
    }))

  it.effect("returns the response of an error that was caught", () =>
    Effect.gen(function*() {
      const { response } = yield* callWithResponse(
        Effect.ignore(deleteEventStream(bare)),
        Testing.reply({ status: 400 })
      )
      assert.strictEqual(Option.getOrThrow(response).status, 400)
    }))

  it.effect("returns the last response that came, though a later attempt had none", () =>
    Effect.gen(function*() {
      const call = deleteEventStream(bare).pipe(Retry.withPolicy({ attempts: 2, delay: 0 }), Effect.either)
      const { response, value } = yield* callWithResponse(
        call,
        Testing.reply({ status: 503, headers: { "x-request-id": "7" } }),
        Testing.noReply("ECONNRESET")
      )
      assert.isTrue(Either.isLeft(value))
      const { headers, status } = Option.getOrThrow(response)
      assert.deepStrictEqual([status, headers["x-request-id"]], [503, "7"])
    }))

  it.effect("returns none if nothing was sent", () =>
    Effect.gen(function*() {
      const { response } = yield* callWithResponse(Effect.ignore(deleteEventStream({ id: "short" })))
      assert.isTrue(Option.isNone(response))
    }))

  it.effect("returns the response within another withResponse, too", () =>
    Effect.gen(function*() {
      const { response, value } = yield* callWithResponse(
        IdentityClient.withResponse(deleteEventStream(bare)),
        Testing.reply({ status: 204 })
      )
      assert.deepStrictEqual(
        [Option.getOrUndefined(response)?.status, Option.getOrUndefined(value.response)?.status],
        [204, 204]
      )
    }))

  it.effect("starts again at each run", () =>
    Effect.gen(function*() {
      const call = IdentityClient.withResponse(Effect.ignore(Retry.withoutRetries(deleteEventStream(bare))))
      const [first, second] = yield* Effect.all([call, call]).pipe(
        Effect.provide(scripted(Testing.reply({ status: 204 }), Testing.noReply("ECONNRESET")))
      )
      assert.deepStrictEqual([Option.isSome(first.response), Option.isSome(second.response)], [true, false])
    }))
})
