/** The same call against the embedded tenant: only the layers differ. Nothing leaves the process. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { IdentityClient, listActionVersions, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"

const program = Effect.gen(function*() {
  const { total = 0, versions } = yield* listActionVersions({ actionId: Tenant.demo.actions[0].id })
  yield* Console.log(`${total} versions, live: ${versions.find(({ deployed }) => deployed)?.number ?? "none"}`)
})

const domain = "tenant.example.com"
const { id: clientId, secret: clientSecret } = Tenant.demoClients.full

const IdentityLive = IdentityClient.layer({ domain }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerClientCredentials({ domain, clientId, clientSecret })),
  Layer.provide(Tenant.layerHttpClient), // for a real tenant: Node.layerHttpClient, and no Tenant
  Layer.provide(Tenant.layer)
)

program.pipe(Effect.provide(IdentityLive), NodeRuntime.runMain)
