/** Prints the state of the limiter while it learns: `npx tsx examples/limits.ts`. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Stream } from "effect"
import { IdentityClient, listActionVersions, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"

const { actions: [action] } = Tenant.demo
const { full } = Tenant.demoClients

const print = RateLimiter.changes.pipe(
  Stream.debounce("100 millis"),
  Stream.runForEach(
    Effect.forEach(({ limit, operation, remaining, waiting }) =>
      Console.log(`${operation}: ${remaining ?? "?"} of ${limit ?? "?"} left, ${waiting} waiting`)
    )
  )
)

const program = Effect.gen(function*() {
  yield* Effect.forkScoped(print)
  yield* Effect.all(Array.from({ length: 60 }, () => listActionVersions({ actionId: action.id })), {
    concurrency: "unbounded"
  })

  // Background work leaves a fifth of the limit to other calls.
  yield* RateLimiter.withBackground(listActionVersions({ actionId: action.id }))
  yield* Effect.sleep("200 millis")
}).pipe(Effect.scoped)

const IdentityLive = IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
  Layer.provideMerge(RateLimiter.layerAdaptive({ maxWait: "1 minute", reserve: 0.2 })),
  Layer.provide(TokenProvider.layerClientCredentials({
    domain: "tenant.example.com",
    clientId: full.id,
    clientSecret: full.secret
  })),
  Layer.provide(Tenant.layerHttpClient),
  Layer.provide(Tenant.layer)
)

program.pipe(Effect.provide(IdentityLive), NodeRuntime.runMain)
