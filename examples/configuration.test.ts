/** The client's layers one by one, set up by variables of your own, and a test that builds them. */
import { assert, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer } from "effect"
import { IdentityClient, listActionVersions, RateLimiter, Retry, TokenProvider } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"
import * as Tenant from "effect-identity-client/Tenant"

// The layers of a server. Each option is optional but the domain and the credentials.
const Client = Layer.unwrapEffect(Effect.map(Config.string("TENANT_DOMAIN"), (domain) =>
  IdentityClient.layer({
    domain,
    retry: { attempts: 3, totalTime: "20 seconds" },
    maxBodySize: 8 * 1024 * 1024,
    propagateTrace: true
  })))

const Tokens = TokenProvider.layerClientCredentialsConfig({
  domain: Config.string("TENANT_DOMAIN"),
  clientId: Config.string("TENANT_CLIENT_ID"),
  clientSecret: Config.redacted("TENANT_CLIENT_SECRET")
})

const Limits = RateLimiter.layerAdaptive({ maxWait: "10 seconds", reserve: 0.2 }) // for a server: fails after 10 s

const Connections = Node.layerHttpClientWith({ connections: 16, connectTimeout: 3000 })

export const IdentityLive = Client.pipe(
  Layer.provide([Tokens, Limits]),
  Layer.provide(Connections)
)

// The settings of one call.
const urgent = listActionVersions({ actionId: "910b1053-577f-4d81-a8c8-020e7319a38a" }).pipe(
  IdentityClient.withTimeout("5 seconds"),
  IdentityClient.withHeaders({ "x-request-id": "1234" }),
  Retry.withPolicy({ attempts: 2 })
)

// The test.
const variables = ConfigProvider.fromMap(
  new Map([
    ["TENANT_DOMAIN", "tenant.example.com"],
    ["TENANT_CLIENT_ID", "demo-full"],
    ["TENANT_CLIENT_SECRET", "demo-full-secret"]
  ])
)

it.live("the settings work against a tenant, and the layers can be built", () =>
  Effect.gen(function*() {
    yield* Effect.scoped(Layer.build(IdentityLive))
    const { total } = yield* Effect.provide(
      urgent,
      Client.pipe(Layer.provide([Tokens, Limits]), Layer.provide(Tenant.layerHttpClient), Layer.provide(Tenant.layer))
    )
    assert.strictEqual(total, 3)
  }).pipe(Effect.withConfigProvider(variables)))
