import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, TestClock } from "effect"
import * as IdentityClient from "../../src/IdentityClient.js"
import { createUsersExport, deleteEventStream, getJob } from "../../src/operations/index.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as Tenant from "../../src/Tenant.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { inProcess } from "../support/tokenServer.js"

const domain = "tenant.example"
const { id: clientId, secret: clientSecret } = Tenant.demoClients.full

/** A client, and a tenant whose tokens live 5 minutes and whose bucket refills with one call a second. */
const layer = IdentityClient.layer({ domain }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerClientCredentials({ domain, clientId, clientSecret })),
  Layer.provide(Tenant.layerHttpClient),
  Layer.provideMerge(Tenant.layerWith({
    tokenLifetime: "5 minutes",
    buckets: { tenant: { burst: 10, refill: 60, per: "1 minute" } }
  }))
)

describe("a token that comes late", () => {
  it.effect("lets no more calls go at once than the limiter does", () =>
    Effect.gen(function*() {
      const { arrived, layer } = inProcess(() => Effect.succeed({ status: 200 }))
      const client = IdentityClient.layer({ domain }).pipe(
        Layer.provide([
          RateLimiter.layerFixed({ limit: 5, interval: "1 second" }),
          TokenProvider.layerEffect(Effect.delay(Effect.succeed({ token: Redacted.make("t") }), "10 seconds")),
          layer
        ])
      )
      const call = deleteEventStream({ id: "est_0123456789012345678901" })
      const calls = yield* Effect.fork(
        Effect.provide(Effect.all(Array.from({ length: 20 }, () => call), { concurrency: "unbounded" }), client)
      )
      yield* TestClock.adjust("10 seconds")
      assert.isAtMost(arrived.length, 5)
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(calls)
      assert.lengthOf(arrived, 20)
    }))
})

describe("a token that lives shorter than a queue of calls", () => {
  it.effect("is read when a call is sent: none of 600 calls is refused", () =>
    Effect.gen(function*() {
      const { id } = yield* createUsersExport({})
      const calls = yield* Effect.fork(Effect.all(
        Array.from({ length: 600 }, () => getJob({ id })),
        { concurrency: "unbounded" }
      ))
      // In steps, so that what a call does between two waits takes no time.
      yield* Effect.repeatN(TestClock.adjust("1 second"), 15 * 60)
      assert.isNotNull(calls.unsafePoll())
      yield* Fiber.join(calls)
      const { requests } = yield* Tenant.Tenant
      assert.deepStrictEqual((yield* requests).filter(({ status }) => status === 401), [])
    }).pipe(Effect.provide(layer)))
})
