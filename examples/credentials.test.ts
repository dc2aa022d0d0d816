/** The ways in which a client proves itself without a secret, and a test that uses each. */
import { assert, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer } from "effect"
import { IdentityClient, listActionVersions, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"
import * as Tenant from "effect-identity-client/Tenant"
import { createSign, generateKeyPairSync } from "node:crypto"

const pair = generateKeyPairSync("rsa", { modulusLength: 2048 })

/** Stands for the API of a KMS, which signs bytes with a key that never leaves it. */
const kms = {
  sign: (keyId: string, data: Uint8Array) =>
    Promise.resolve(keyId === "my-key" ? createSign("sha256").update(data).sign(pair.privateKey) : new Uint8Array())
}

const domain = "tenant.example.com"

// A private key from the configuration: PEM (PKCS#8) or JWK.
const ByKey = TokenProvider.layerPrivateKeyJwtConfig({
  domain: Config.string("TENANT_DOMAIN"),
  clientId: Config.string("TENANT_CLIENT_ID"),
  privateKey: Config.redacted("TENANT_PRIVATE_KEY")
})

// A key in a KMS or HSM: it signs, and the key stays there.
const ByKms = TokenProvider.layerPrivateKeyJwt({
  domain,
  clientId: "my-client",
  keyId: "my-key", // sent as `kid`; default: none
  algorithm: "RS256", // or RS384, PS256
  sign: (data) => Effect.tryPromise(() => kms.sign("my-key", data))
})

// A client certificate: the connections have it, for tokens and for calls.
const ByCertificate = TokenProvider.layerMutualTls({ domain, clientId: "my-client" })

const connectionsWith = (cert: string, key: string) => Node.layerHttpClientWith({ connect: { cert, key } })

// The test.
const client = {
  id: "my-client",
  publicKeys: [String(pair.publicKey.export({ format: "pem", type: "spki" }))],
  scopes: ["read:actions"],
  global: false
}

const variables = ConfigProvider.fromMap(
  new Map([
    ["TENANT_DOMAIN", domain],
    ["TENANT_CLIENT_ID", client.id],
    ["TENANT_PRIVATE_KEY", String(pair.privateKey.export({ format: "pem", type: "pkcs8" }))]
  ])
)

it.live("a key and a KMS get a token of a tenant; a certificate needs TLS, and its key must be PEM", () =>
  Effect.gen(function*() {
    const statuses = yield* Effect.forEach(
      [ByKey, ByKms, ByCertificate],
      (tokens) =>
        listActionVersions({ actionId: Tenant.demo.actions[0].id }).pipe(
          Effect.match({ onFailure: ({ _tag }) => _tag, onSuccess: ({ total }) => total }),
          Effect.provide(
            IdentityClient.layer({ domain }).pipe(
              Layer.provide([tokens, RateLimiter.layer]),
              Layer.provide(Tenant.layerHttpClient),
              Layer.provide(Tenant.layerWith({ clients: [client] }))
            )
          )
        )
    )
    assert.deepStrictEqual(statuses, [3, 3, "TokenError"])
    const refused = yield* Effect.flip(Effect.scoped(Layer.build(connectionsWith("", ""))))
    assert.deepStrictEqual(refused.issues.map(({ path }) => path), ["connect.key"])
  }).pipe(Effect.withConfigProvider(variables)))
