/** Clients that a certificate proves, over TLS; and tokens of other types than `Bearer`. */
import type { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { rootCertificates } from "node:tls"
import * as Fleet from "../../src/Fleet.js"
import * as IdentityClient from "../../src/IdentityClient.js"
import * as Node from "../../src/Node.js"
import { listActionVersions } from "../../src/operations/index.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as Tenant from "../../src/Tenant.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { cert, key } from "../support/certificate.js"
import { tlsTenant } from "../support/tlsTenant.js"
import { issue } from "../support/tokens.js"
import { form, inProcess } from "../support/tokenServer.js"

const { demo: { actions: [action] }, demoClients: { full } } = Tenant

const list = Effect.map(listActionVersions({ actionId: action.id }), ({ total }) => total)

describe("a client with a certificate", () => {
  const client = (certificate: string): Tenant.ClientWithoutSecret => ({
    id: "with-certificate",
    certificate,
    scopes: full.scopes,
    global: true
  })

  /** Lists versions over TLS with these options of the connection. */
  const listWith = (
    connect: { readonly cert?: string; readonly key?: string },
    clients: ReadonlyArray<Tenant.ClientWithoutSecret>
  ) =>
    Effect.gen(function*() {
      const { host, tenant } = yield* tlsTenant({ clients })
      const layer = IdentityClient.layer({ domain: host }).pipe(
        Layer.provide([
          RateLimiter.layer,
          TokenProvider.layerMutualTls({ domain: host, clientId: "with-certificate" })
        ]),
        Layer.provide(Node.layerHttpClientWith({ connect: { ca: cert, ...connect } }))
      )
      const result = yield* Effect.either(Effect.provide(list, layer))
      return { result, requests: yield* tenant.requests }
    })

  it.scopedLive("gets a token without secret", () =>
    Effect.gen(function*() {
      const { requests, result } = yield* listWith({ cert, key }, [client(cert)])
      assert.isTrue(result._tag === "Right" && result.right === 3)
      assert.deepStrictEqual(requests.map(({ operation, status }) => [operation, status]), [
        ["token", 200],
        ["listActionVersions", 200]
      ])
      assert.deepStrictEqual(Object.keys(requests[0]?.body as object), ["grant_type", "client_id", "audience"])
    }))

  for (
    const [name, connect, clients] of [
      ["without the certificate", {}, [client(cert)]],
      ["with another certificate", { cert, key }, [client(rootCertificates[0] ?? "")]],
      ["if the tenant knows no certificate of the client", { cert, key }, [{
        ...client(cert),
        certificate: undefined
      }]]
    ] as const
  ) {
    it.scopedLive(`is refused ${name}`, () =>
      Effect.gen(function*() {
        const { requests, result } = yield* listWith(connect, clients)
        assert.deepInclude(result._tag === "Left" ? { ...result.left } : {}, {
          _tag: "TokenError",
          status: 401,
          error: "invalid_client"
        })
        assert.lengthOf(requests, 1)
      }))
  }
})

describe("the scheme of the header Authorization is", () => {
  const stream = { total: 0, per_page: 20, versions: [] }

  /** Lists versions with a token of this type, and gives the headers of the requests. */
  const headersWith = (tokenType: unknown, tokens: typeof byMutualTls, times = 1) => {
    const { arrived, layer } = inProcess((nth, { url }) =>
      Effect.succeed(
        url.includes("/oauth/") ? issue(nth, { token_type: tokenType, expires_in: 86_400 }) : { body: stream }
      )
    )
    return Effect.gen(function*() {
      const store = yield* Layer.build(Fleet.SharedStore.layerMemory)
      for (let nth = 0; nth < times; nth++) {
        const client = IdentityClient.layer({ domain: "t.example.com" }).pipe(
          Layer.provide([tokens, RateLimiter.layerUnlimited]),
          Layer.provide([layer, Layer.succeedContext(store)])
        )
        const context = yield* Layer.build(Layer.fresh(client))
        yield* Effect.provide(list, context)
        yield* Effect.repeatN(Effect.promise(() => new Promise((resume) => setImmediate(resume))), 5) // until it is stored
      }
      return arrived.filter(({ url }) => !url.includes("/oauth/")).map(({ headers }) => headers["authorization"])
    })
  }

  const options = { domain: "t.example.com", clientId: "c" }
  const byMutualTls: Layer.Layer<
    TokenProvider.TokenProvider,
    unknown,
    HttpClient.HttpClient | Fleet.SharedStore.SharedStore
  > = TokenProvider.layerMutualTls(options)

  for (
    const [type, header] of [
      ["Bearer", "Bearer t1"],
      ["bearer", "Bearer t1"],
      ["DPoP", "DPoP t1"],
      [undefined, "Bearer t1"],
      ["", "Bearer t1"],
      [7, "Bearer t1"],
      ["no scheme\r\nx: y", "Bearer t1"]
    ] as const
  ) {
    it.scoped(`${header} for the token_type ${JSON.stringify(type)}`, () =>
      Effect.map(headersWith(type, byMutualTls), (headers) => assert.deepStrictEqual(headers, [header])))
  }

  const encryptionKey = Redacted.make("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
  it.scopedLive("the token's, also for a process that finds it in the store of a fleet", () =>
    Effect.map(
      headersWith("DPoP", Layer.provide(byMutualTls, Fleet.layerTokensWith({ encryptionKey })), 2),
      (headers) => assert.deepStrictEqual(headers, ["DPoP t1", "DPoP t1"])
    ))

  it.scoped("that of an effect's own token", () =>
    Effect.gen(function*() {
      const own = TokenProvider.layerEffect(Effect.succeed({ token: Redacted.make("mine"), tokenType: "DPoP" }))
      assert.deepStrictEqual(yield* headersWith("Bearer", own), ["DPoP mine"])
      const context = yield* Layer.build(own)
      assert.strictEqual(String(yield* Context.get(context, TokenProvider.TokenProvider).get), "<redacted>")
    }))

  it.effect("not asked for: the form has no secret", () => {
    const { arrived, layer } = inProcess((nth) => Effect.succeed(issue(nth)))
    return Effect.gen(function*() {
      const { get } = yield* TokenProvider.TokenProvider
      yield* get
      assert.deepStrictEqual(form(arrived[0]?.body ?? ""), {
        grant_type: "client_credentials",
        client_id: "c",
        audience: "https://t.example.com/api/v2/"
      })
    }).pipe(Effect.provide(Layer.provide(TokenProvider.layerMutualTls(options), layer)))
  })
})
