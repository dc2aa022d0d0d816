/** Runs `operations.ts`, and shows options of the embedded tenant. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { IdentityClient, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import { all } from "./operations.js"

const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo
const { id: clientId, secret: clientSecret } = Tenant.demoClients.full
const domain = "tenant.example.com"

const TenantClient = IdentityClient.layer({ domain }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerClientCredentials({ domain, clientId, clientSecret })),
  Layer.provide(Tenant.layerHttpClient),
  Layer.provide(Tenant.layer())
)

it.live("each operation succeeds", () =>
  Effect.gen(function*() {
    const result = yield* all({
      connection: connection.id,
      profile: profile.id,
      action: action.id,
      stream: stream.id,
      event: stream.events[0].id
    })
    assert.deepInclude(result.job, { status: "pending", connection_id: connection.id })
    assert.deepInclude(result.profile, { id: profile.id, name: "Legacy tokens" })
    assert.strictEqual(result.page.total, 3)
  }).pipe(Effect.provide(TenantClient)))
