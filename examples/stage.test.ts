/** Stages of your own, around each request. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Ref, TestClock } from "effect"
import { deleteEventStream, Errors, IdentityClient, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Testing from "effect-identity-client/Testing"

const stopped = ({ operation }: IdentityClient.Call) =>
  new Errors.TransportError({ operation, message: `${operation}: all calls are stopped`, outcome: "not-sent" })

// The stages: a header for every attempt, a log line for each retry, and a switch that stops all calls.
const named: IdentityClient.Stage = (next) => (call) =>
  next({ ...call, headers: { ...call.headers, "x-attempt": `${call.operation} ${call.attempt}` } })

const logged: IdentityClient.Stage = (next) => (call) =>
  call.attempt === 1 ? next(call) : Effect.zipRight(Effect.logInfo(`attempt ${call.attempt}`), next(call))

const switched = (isOff: Ref.Ref<boolean>): IdentityClient.Stage => (next) => (call) =>
  Effect.flatMap(Ref.get(isOff), (off) => off ? Effect.fail(stopped(call)) : next(call))

// Their tests.
const over = (stages: ReadonlyArray<IdentityClient.Stage>, ...replies: ReadonlyArray<Testing.Reply>) =>
  IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2", stages }).pipe(
    Layer.provide([RateLimiter.layerUnlimited, TokenProvider.layerBearer(Redacted.make("token"))]),
    Layer.provideMerge(Testing.layerHttp(...replies))
  )

const call = deleteEventStream({ id: "est_1234567890123456789012" })

it.effect("every attempt has a header", () =>
  Effect.gen(function*() {
    const layer = over([named, logged], Testing.reply({ status: 503 }), Testing.reply({ status: 204 }))
    const fiber = yield* Effect.fork(Effect.provide(Effect.zipRight(call, Testing.requests), layer))
    yield* TestClock.adjust("1 minute")
    const requests = yield* Fiber.join(fiber)
    assert.deepStrictEqual(
      requests.map(({ headers }) => headers["x-attempt"]),
      ["deleteEventStream 1", "deleteEventStream 2"]
    )
  }))

it.effect("a switch stops all calls, and nothing is sent", () =>
  Effect.gen(function*() {
    const isOff = yield* Ref.make(true)
    const stopping = call.pipe(IdentityClient.withStage(switched(isOff)), Effect.flip)
    const fiber = yield* Effect.fork(Effect.provide(Effect.zip(stopping, Testing.requests), over([])))
    yield* TestClock.adjust("1 minute")
    const [error, requests] = yield* Fiber.join(fiber)
    assert.deepInclude(error, { _tag: "TransportError", outcome: "not-sent" })
    assert.lengthOf(requests, 0)
  }))
