/** Assertions at the tenant's token endpoint: it accepts and refuses them as the service does. */
import type * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import { SignJWT, UnsecuredJWT } from "jose"
import { createPrivateKey, X509Certificate } from "node:crypto"
import * as Tenant from "../../../src/Tenant.js"
import * as ClientAuthentication from "../../../src/tenant/server/clientAuthentication.js"
import { cert, issuedCert } from "../../support/certificate.js"
import { first, second } from "../../support/keys.js"
import { host, itInProcess, requestToken } from "../support/calls.js"

const { scopes } = Tenant.demoClients.full

const clients: ReadonlyArray<Tenant.Client | Tenant.ClientWithoutSecret> = [
  { id: "pem", publicKeys: [second.publicKey, first.publicKey], scopes, global: true },
  { id: "jwk", publicKeys: [{ ...first.publicJwk, alg: "PS256", kid: "k" }], scopes, global: true },
  { id: "jwkOfAnyAlgorithm", publicKeys: [first.publicJwk], scopes, global: true },
  { id: "both", secret: Redacted.make("s"), publicKeys: [first.publicKey], scopes, global: true },
  { id: "none", scopes, global: true }
]

const now = Date.UTC(2026, 0, 1) / 1000

interface Assertion {
  readonly id?: string
  readonly alg?: string
  readonly key?: typeof first
  readonly claims?: Record<string, unknown>
  readonly kid?: string
}

let nth = 0

/** Signs an assertion; `undefined` removes a claim. */
const sign = ({ alg = "RS256", claims = {}, id = "pem", key = first, kid }: Assertion) =>
  Effect.promise(() =>
    new SignJWT({ iss: id, sub: id, aud: `${host}/`, jti: `jti-${++nth}`, iat: now, exp: now + 60, ...claims })
      .setProtectedHeader({ alg, ...(kid !== undefined && { kid }) })
      .sign(createPrivateKey(Redacted.value(key.privateKey)))
  )

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

const send = (client_assertion: string, more: Record<string, unknown> = {}) =>
  requestToken({
    grant_type: "client_credentials",
    audience: "/api/v2/",
    client_assertion_type: assertionType,
    client_assertion,
    ...more
  })

const test = (name: string, run: () => Effect.Effect<unknown, unknown, HttpClient.HttpClient | Tenant.Tenant>) =>
  itInProcess(name, () => Effect.zipRight(TestClock.setTime(now * 1000), run()), { clients })

describe("an assertion is accepted", () => {
  const accepted: Record<string, Assertion> = {
    "by the second of two keys": {},
    "by the first of two keys": { key: second },
    "by RS384": { alg: "RS384" },
    "by PS256, with an identifier": { id: "jwk", alg: "PS256", kid: "k" },
    "by a JWK that names no algorithm": { id: "jwkOfAnyAlgorithm", alg: "RS384" },
    "beside a secret": { id: "both" },
    "that expires in 5 minutes": { claims: { exp: now + 300 } },
    "that expired 9 s ago": { claims: { exp: now - 9 } },
    "from a clock that is 10 s ahead": { claims: { iat: now + 10, exp: now + 310 } },
    "without iat": { claims: { iat: undefined } },
    "for http": { claims: { aud: `${host.replace("https", "http")}/` } }
  }
  for (const [name, assertion] of Object.entries(accepted)) {
    test(name, () =>
      Effect.gen(function*() {
        const { json, status } = yield* send(yield* sign(assertion))
        assert.deepStrictEqual([status, json.token_type], [200, "Bearer"])
      }))
  }
})

describe("an assertion is refused", () => {
  const refused: Record<string, readonly [Assertion, reason: string]> = {
    "by a key that the client does not have": [{ id: "both", key: second }, "signature verification failed"],
    "of a client without keys": [{ id: "none" }, "the client has no public key"],
    "by RS512": [{ alg: "RS512" }, "\"alg\" (Algorithm) Header Parameter value not allowed"],
    "for an audience without slash": [{ claims: { aud: host } }, "unexpected \"aud\" claim value"],
    "for another host": [{ claims: { aud: "https://another.test/" } }, "unexpected \"aud\" claim value"],
    "without audience": [{ claims: { aud: undefined } }, "missing required \"aud\" claim"],
    "without jti": [{ claims: { jti: undefined } }, "missing required \"jti\" claim"],
    "without exp": [{ claims: { exp: undefined } }, "missing required \"exp\" claim"],
    "of another issuer": [{ claims: { iss: "both" } }, "unexpected \"iss\" claim value"],
    "that expired 10 s ago": [{ claims: { exp: now - 10 } }, "\"exp\" claim timestamp check failed"],
    "that expires in more than 5 minutes": [{ claims: { exp: now + 311 } }, "\"exp\" is too far ahead"],
    "from a clock that is 11 s ahead": [{ claims: { iat: now + 11 } }, "\"iat\" is in the future"]
  }
  for (const [name, [assertion, reason]] of Object.entries(refused)) {
    test(name, () =>
      Effect.gen(function*() {
        const { json, status } = yield* send(yield* sign(assertion))
        assert.deepStrictEqual([status, json.error], [401, "invalid_client"])
        assert.include(json.error_description, `Invalid client assertion: ${reason}`)
      }))
  }

  test("the second time, also after its expiry", () =>
    Effect.gen(function*() {
      const assertion = yield* sign({})
      assert.strictEqual((yield* send(assertion)).status, 200)
      for (const wait of [0, 50, 19]) {
        yield* TestClock.adjust(`${wait} seconds`)
        const { json } = yield* send(assertion)
        assert.strictEqual(json.error_description, "Invalid client assertion: \"jti\" was used before")
      }
    }))

  test("if it is not meant for this client, of another type, or garbage", () =>
    Effect.gen(function*() {
      const descriptions = [
        yield* send(yield* sign({}), { client_id: "both" }),
        yield* send(yield* sign({}), { client_assertion_type: "jwt" }),
        yield* send("x.y.z", { client_id: "pem" }),
        yield* send("x.y.z")
      ].map(({ json }) => json.error_description)
      assert.deepStrictEqual(descriptions, [
        "Invalid client assertion: unexpected \"iss\" claim value",
        "Unknown client_assertion_type",
        "Invalid client assertion: JWS Protected Header is invalid",
        "Unknown client"
      ])
    }))

  test("until 10 s after its expiry if another has its jti, whatever else is sent meanwhile", () =>
    Effect.gen(function*() {
      const descriptionOf = (claims: Record<string, unknown>, id?: string) =>
        Effect.map(
          Effect.flatMap(sign({ claims, ...(id !== undefined && { id }) }), (assertion) => send(assertion)),
          ({ json }) => json.error_description
        )
      const usedBefore = "Invalid client assertion: \"jti\" was used before"
      const again = { jti: "again", exp: now + 60 }
      assert.isUndefined(yield* descriptionOf(again))
      assert.isUndefined(yield* descriptionOf(again, "both"), "of another client")
      for (
        const [seconds, expected] of [[55, usedBefore], [70, usedBefore], [71, undefined]] as const
      ) {
        yield* TestClock.setTime((now + seconds) * 1000)
        assert.isUndefined(yield* descriptionOf({ exp: now + seconds + 60 }), "with another jti")
        assert.strictEqual(yield* descriptionOf({ ...again, exp: now + seconds + 60 }), expected, `after ${seconds} s`)
      }
    }))

  test("and does not count as used", () =>
    Effect.gen(function*() {
      const claims = { jti: "mine" }
      assert.strictEqual((yield* send(yield* sign({ id: "both", key: second, claims }))).status, 401)
      assert.strictEqual((yield* send(yield* sign({ id: "both", claims }))).status, 200)
    }))
})

describe("a client without secret is refused", () => {
  for (const client_secret of ["", "undefined"]) {
    test(`with the secret ${JSON.stringify(client_secret)}`, () =>
      Effect.gen(function*() {
        const { json, status } = yield* requestToken({
          grant_type: "client_credentials",
          client_id: "none",
          client_secret,
          audience: "/api/v2/"
        })
        assert.deepStrictEqual([status, json.error_description], [401, "Unauthorized"])
      }))
  }
})

test("the log of requests redacts assertions", () =>
  Effect.gen(function*() {
    const assertion = yield* sign({})
    yield* send(assertion)
    const [request] = yield* Effect.flatMap(Tenant.Tenant, ({ requests }) => requests)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(request?.body)), {
      grant_type: "client_credentials",
      audience: "/api/v2/",
      client_assertion_type: assertionType,
      client_assertion: "<redacted>"
    })
  }))

it("no client has sent an assertion that names none, or is none", () => {
  for (const assertion of [new UnsecuredJWT({ iss: "pem" }).encode(), "x.y.z", ""]) {
    assert.strictEqual(ClientAuthentication.assertedClientId(assertion), "")
  }
  assert.strictEqual(ClientAuthentication.assertedClientId(new UnsecuredJWT({ sub: "pem" }).encode()), "pem")
})

describe("a certificate", () => {
  const base64 = (pem: string) => new X509Certificate(pem).raw.toString("base64")
  const client = { id: "c", certificate: cert, scopes, global: true }
  const refusalOf = (client: Tenant.ClientWithoutSecret, certificate: string | undefined, client_secret = "") =>
    ClientAuthentication.make()(client, (name) => name === "client_secret" ? client_secret : "", { host, certificate })

  it.effect("proves the client that has it, unless a secret is sent", () =>
    Effect.gen(function*() {
      const refusals = [
        yield* refusalOf(client, base64(cert)),
        yield* refusalOf({ ...client, certificate: ` ${cert.replaceAll("\n", "\r\n")}\r\n` }, base64(cert)),
        yield* refusalOf(client, base64(cert), "secret"),
        yield* refusalOf(client, base64(issuedCert)),
        yield* refusalOf(client, undefined),
        yield* refusalOf({ ...client, certificate: undefined }, base64(cert)),
        yield* refusalOf({ ...client, certificate: undefined }, undefined)
      ]
      const refused = "Unauthorized"
      assert.deepStrictEqual(refusals, [undefined, undefined, refused, refused, refused, refused, refused])
    }))

  it("is read from the connection of a TLS server", () => {
    const read = (certificate: unknown) =>
      ClientAuthentication.peerCertificate({ socket: { getPeerCertificate: () => certificate } })
    assert.strictEqual(read({ raw: new X509Certificate(cert).raw }), base64(cert))
    for (const none of [{}, { raw: "text" }, null]) assert.isUndefined(read(none))
    for (const source of [undefined, {}, { socket: {} }, { socket: { getPeerCertificate: {} } }]) {
      assert.isUndefined(ClientAuthentication.peerCertificate(source))
    }
  })
})
