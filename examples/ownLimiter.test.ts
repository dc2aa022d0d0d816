/** A rate limiter of your own: at most five calls of a tenant are in flight. */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Stream, TestClock } from "effect"
import { deleteEventStream, IdentityClient, RateLimiter, TokenProvider } from "effect-identity-client"

// The limiter: a semaphore for each tenant.
const MaxInFlight = Layer.sync(RateLimiter.RateLimiter, () => {
  const tenants = new Map<string, Effect.Semaphore>()
  const semaphoreOf = (tenant: string) => {
    const semaphore = tenants.get(tenant) ?? Effect.unsafeMakeSemaphore(5)
    tenants.set(tenant, semaphore)
    return semaphore
  }
  return {
    // Taking is the last step of `acquire`: nothing after it fails, and interruption of the wait takes nothing. The
    // client settles each permit exactly once: with the response, or with `undefined` if none came or the call was
    // interrupted.
    acquire: ({ tenant }) => {
      const semaphore = semaphoreOf(tenant)
      return Effect.as(semaphore.take(1), { settle: () => Effect.asVoid(semaphore.release(1)) })
    },
    status: Effect.succeed([]),
    changes: Stream.empty
  }
})

// Its test, over a network that takes a second for each call.
const network = () => {
  let sent = 0
  const client = HttpClient.make((request) =>
    Effect.sync(() => sent++).pipe(
      Effect.zipRight(Effect.sleep("1 second")),
      Effect.as(HttpClientResponse.fromWeb(request, new Response(null, { status: 204 })))
    )
  )
  const layer = IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
    Layer.provide([MaxInFlight, TokenProvider.layerBearer(Redacted.make("token"))]),
    Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
  )
  return { layer, sent: () => sent }
}

it.effect("at most five calls are in flight, also when some are interrupted", () => {
  const { layer, sent } = network()
  const call = deleteEventStream({ id: "est_1234567890123456789012" })
  return Effect.gen(function*() {
    const calls = yield* Effect.forEach(Array.from({ length: 12 }), () => Effect.fork(call))
    yield* TestClock.adjust(0)
    assert.strictEqual(sent(), 5)

    yield* Fiber.interruptAll([calls[0]!, calls[11]!]) // one in flight, and one that waits
    yield* TestClock.adjust(0)
    assert.strictEqual(sent(), 6)

    yield* TestClock.adjust("3 seconds")
    assert.strictEqual(sent(), 11)
  }).pipe(Effect.provide(layer))
})
