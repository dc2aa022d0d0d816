/** Rate limiters of your own: whatever limits an effect is one. */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, type Scope, TestClock } from "effect"
import { deleteEventStream, IdentityClient, RateLimiter, TokenProvider } from "effect-identity-client"
import { perSecond } from "./support/effectLimiter.js"

// The limiters: five calls in flight, and a fixed delay.
const inFlight = Effect.map(Effect.makeSemaphore(5), (five) => RateLimiter.make(() => five.withPermits(1)))
const delayed = Effect.succeed(RateLimiter.make(() => Effect.delay("100 millis")))

// The layer of one.
const InFlight = Layer.scoped(RateLimiter.RateLimiter, inFlight)

// Their tests, over a network that takes two seconds for each call.
const network = (limiter: Effect.Effect<RateLimiter.RateLimiter["Type"], never, Scope.Scope>) => {
  let sent = 0
  const client = HttpClient.make((request) =>
    Effect.sync(() => sent++).pipe(
      Effect.zipRight(Effect.sleep("2 seconds")),
      Effect.as(HttpClientResponse.fromWeb(request, new Response(null, { status: 204 })))
    )
  )
  const layer = IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
    Layer.provide([
      limiter === inFlight ? InFlight : Layer.scoped(RateLimiter.RateLimiter, limiter),
      TokenProvider.layerBearer(Redacted.make("token"))
    ]),
    Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
  )
  return { layer, sent: () => sent }
}

const call = deleteEventStream({ id: "est_1234567890123456789012" })

it.effect("at most five calls are in flight, also when some are interrupted", () => {
  const { layer, sent } = network(inFlight)
  return Effect.gen(function*() {
    const calls = yield* Effect.forEach(Array.from({ length: 12 }), () => Effect.fork(call))
    yield* TestClock.adjust(0)
    assert.strictEqual(sent(), 5)

    yield* Fiber.interruptAll([calls[0]!, calls[11]!]) // one in flight, and one that waits
    yield* TestClock.adjust(0)
    assert.strictEqual(sent(), 6)

    yield* TestClock.adjust("6 seconds")
    assert.strictEqual(sent(), 11)
  }).pipe(Effect.provide(layer))
})

it.effect("a call begins after the delay", () => {
  const { layer, sent } = network(delayed)
  return Effect.gen(function*() {
    yield* Effect.fork(call)
    yield* TestClock.adjust("99 millis")
    assert.strictEqual(sent(), 0)
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(sent(), 1)
    yield* TestClock.adjust("2 seconds")
  }).pipe(Effect.provide(layer))
})

it.effect("five calls begin in each second, and one that is interrupted does not wait", () => {
  const { layer, sent } = network(perSecond)
  return Effect.gen(function*() {
    const calls = yield* Effect.forEach(Array.from({ length: 12 }), () => Effect.fork(call))
    yield* TestClock.adjust(0)
    assert.strictEqual(sent(), 5)
    yield* Fiber.interrupt(calls[11]!)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(sent(), 10)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(sent(), 11)
    yield* TestClock.adjust("2 seconds")
  }).pipe(Effect.provide(layer))
})
