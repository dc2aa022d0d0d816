/** A client with a private key instead of a secret, while its key is rotated: `npx tsx examples/privateKey.ts`. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted } from "effect"
import { IdentityClient, listActionVersions, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import { generateKeyPairSync } from "node:crypto"

const keyPair = () =>
  generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" }
  })

const [oldKey, newKey] = [keyPair(), keyPair()]

// The tenant knows only the new key. The program still signs with the old one first.
const client = { id: "my-client", publicKeys: [newKey.publicKey], scopes: ["read:actions"], global: false }

const domain = "tenant.example.com"
const IdentityLive = IdentityClient.layer({ domain }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerPrivateKeyJwt({
    domain,
    clientId: client.id,
    privateKey: Redacted.make(oldKey.privateKey),
    fallbackKeys: [{ privateKey: Redacted.make(newKey.privateKey) }]
  })),
  Layer.provide(Tenant.layerHttpClient), // for a real tenant: Node.layerHttpClient, and no Tenant
  Layer.provide(Tenant.layerWith({ clients: [client] }))
)

// Prints a warning that the old key is refused, and the result.
const program = Effect.gen(function*() {
  const { total = 0 } = yield* listActionVersions({ actionId: Tenant.demo.actions[0].id })
  yield* Console.log(`${total} versions, without a secret`)
})

program.pipe(Effect.provide(IdentityLive), NodeRuntime.runMain)
