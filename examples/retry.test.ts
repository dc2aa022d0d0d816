/** Sets retry policies, and tests a retry in virtual time. */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Redacted, TestClock } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  IdentityClient,
  listActionVersions,
  RateLimiter,
  Retry,
  TokenProvider
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import * as Testing from "effect-identity-client/Testing"

const { actions: [action], streams: [stream] } = Tenant.demo

// Policies: for the calls in an effect, for none, and for all calls of a client. The nearest to the call wins.
const patient = listActionVersions({ actionId: action.id }).pipe(
  Retry.withPolicy({ attempts: 6, totalTime: "10 minutes" })
)

const once = Retry.withoutRetries(createUsersExport({ format: "csv" }))

const Client = IdentityClient.layer({
  domain: "tenant.example.com",
  retry: { maxDelay: "2 seconds" }
})

// A decision for each 429: a long pause is left to the caller.
const impatient = listActionVersions({ actionId: action.id }).pipe(
  Retry.withPolicy({
    retryRateLimited: ({ retryAfter }) => retryAfter === undefined || Duration.lessThan(retryAfter, "10 seconds")
  })
)

// An outage: retries stay below a tenth of the calls, and while the service is unavailable calls fail at once.
const Careful = IdentityClient.layer({
  domain: "tenant.example.com",
  retryBudget: 0.1,
  circuit: { failures: 10, delay: "1 second", maxDelay: "30 seconds" }
})

// The client of the tests, above a network with these replies.
const clientAbove = (...replies: ReadonlyArray<Testing.Reply>) =>
  Client.pipe(
    Layer.provide(RateLimiter.layerUnlimited),
    Layer.provide(TokenProvider.layerBearer(Redacted.make("a-token"))),
    Layer.provideMerge(Testing.layerHttp(...replies))
  )

// A retry under TestClock: time stands still. Without `TestClock.adjust` the call waits for ever and the test hangs.
it.effect("deletes the stream at the third attempt", () =>
  Effect.gen(function*() {
    const call = yield* Effect.fork(deleteEventStream({ id: stream.id }))
    yield* TestClock.adjust("1 minute") // longer than all waits between the attempts
    yield* Fiber.join(call)
    assert.lengthOf(yield* Testing.requests, 3)
  }).pipe(Effect.provide(clientAbove(
    Testing.reply({ status: 503 }),
    Testing.reply({ status: 503, headers: { "retry-after": "20" } }),
    Testing.reply({ status: 204 })
  ))))

// The policies of the guide make as many attempts as they say.
it.effect("makes six attempts, or one", () =>
  Effect.gen(function*() {
    const six = yield* Effect.fork(Effect.flip(patient))
    yield* TestClock.adjust("10 minutes")
    yield* Fiber.join(six)
    assert.lengthOf(yield* Testing.requests, 6)

    yield* Effect.flip(once)
    assert.lengthOf(yield* Testing.requests, 7)
  }).pipe(Effect.provide(clientAbove(...Array.from({ length: 7 }, () => Testing.reply({ status: 429 }))))))

// A long pause is not waited for, and an open circuit refuses calls before they are sent.
it.effect("leaves a long pause to the caller", () =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(impatient)
    assert.deepInclude(error, { _tag: "RateLimited", source: "service" })
  }).pipe(Effect.provide(clientAbove(Testing.reply({ status: 429, headers: { "retry-after": "60" } })))))

it.effect("fails at once while the service is unavailable", () =>
  Effect.gen(function*() {
    yield* Effect.repeatN(Effect.flip(Retry.withoutRetries(deleteEventStream({ id: stream.id }))), 9)
    const error = yield* Effect.flip(once)
    assert.deepInclude(error, { _tag: "TransportError", outcome: "not-sent", code: "CIRCUIT_OPEN" })
  }).pipe(Effect.provide(Careful.pipe(
    Layer.provide([RateLimiter.layerUnlimited, TokenProvider.layerBearer(Redacted.make("a-token"))]),
    Layer.provide(Testing.layerHttp(...Array.from({ length: 10 }, () => Testing.reply({ status: 503 }))))
  ))))
