/** Clients with a private key instead of a secret. */
import { Effect, Redacted } from "effect"
import { listActionVersions, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import { calls, clientOf, equal, type Server, tenant, type TenantRequest, test, withClockAhead } from "../kit.js"

const list = listActionVersions({ actionId: Tenant.demo.actions[0].id })

/** Makes a key pair with the runtime's own cryptography. */
const keyPair = Effect.promise(async () => {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, hash: "SHA-256" }
  const pair = await crypto.subtle.generateKey(
    { ...algorithm, publicExponent: new Uint8Array([1, 0, 1]) },
    true,
    ["sign", "verify"]
  ) as CryptoKeyPair // sound: RSA has pairs
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.exportKey("jwk", pair.privateKey),
    crypto.subtle.exportKey("jwk", pair.publicKey)
  ])
  const { e, kty, n } = publicKey as { readonly e: string; readonly kty: string; readonly n: string } // sound: of RSA
  return { privateKey: Redacted.make(privateKey as object), publicKey: { e, kty, n } }
})

/** Opens a tenant whose client has a new key, and gives the settings of that client. */
const withKey = Effect.gen(function*() {
  const { privateKey, publicKey } = yield* keyPair
  const client = { id: "with-key", publicKeys: [publicKey], scopes: ["read:actions"], global: false }
  const server = yield* tenant({ clients: [client] })
  return { server, settings: { authUrl: server.origin, clientId: client.id, privateKey } }
})

const clientWith = (server: Server, settings: TokenProvider.PrivateKeyJwt) =>
  clientOf(server, { tokens: TokenProvider.layerPrivateKeyJwt(settings), limiter: RateLimiter.layerUnlimited })

/** Lists the statuses of the token requests. */
const tokenStatuses = (server: Server) =>
  Effect.map(
    server.order<ReadonlyArray<TenantRequest>>("requests"),
    (all) => all.filter(({ operation }) => operation === "token").map(({ status }) => status)
  )

export const privateKey = [
  test(
    "private key: each token request has an assertion of its own",
    Effect.gen(function*() {
      const { server, settings } = yield* withKey
      yield* Effect.provide(
        Effect.zipRight(list, Effect.zipRight(server.order("revoke"), list)),
        clientWith(server, settings)
      )
      yield* equal(yield* tokenStatuses(server), [200, 200])
      yield* equal((yield* calls(server)).map(({ status }) => status), [200, 401, 200])
    })
  ),

  test(
    "private key: another key signs if the first one is refused",
    Effect.gen(function*() {
      const { server, settings } = yield* withKey
      const { privateKey } = yield* keyPair
      const rotating = { ...settings, privateKey, fallbackKeys: [{ privateKey: settings.privateKey }] }
      yield* Effect.provide(
        Effect.zipRight(list, Effect.zipRight(server.order("revoke"), list)),
        clientWith(server, rotating)
      )
      yield* equal(yield* tokenStatuses(server), [401, 200, 200])
    })
  ),

  ...[-600, 600].map((seconds) =>
    test(
      `private key: signs by the service's clock if the local one is off by ${seconds} s`,
      Effect.gen(function*() {
        const { server, settings } = yield* withKey
        yield* withClockAhead(seconds * 1000, Effect.provide(list, clientWith(server, settings)))
        yield* equal(yield* tokenStatuses(server), [401, 200])
      })
    )
  ),

  test(
    "private key: no call fails if every second assertion is refused",
    Effect.gen(function*() {
      const { server, settings } = yield* withKey
      const refuse = server.order("injectFault", { operation: "token", status: 401 })
      yield* Effect.provide(
        Effect.zipRight(
          refuse,
          Effect.zipRight(list, Effect.zipRight(refuse, Effect.zipRight(server.order("revoke"), list)))
        ),
        clientWith(server, settings)
      )
      yield* equal(yield* tokenStatuses(server), [401, 200, 401, 200])
    })
  )
]
