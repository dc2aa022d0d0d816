/** Keys that sign client assertions: the forms that are read, and the reasons why others are refused. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { jwtVerify } from "jose"
import { constants, createPublicKey, createSign } from "node:crypto"
import { InvalidInput } from "../../src/Errors.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { cert } from "../support/certificate.js"
import { first, others, second, short } from "../support/keys.js"
import { get, issue } from "../support/tokens.js"
import { form, inProcess } from "../support/tokenServer.js"

const domain = "t.example.com"
const pem = Redacted.value(first.privateKey)

/** Watches a function of WebCrypto for the time of a test. */
const spyOn = (name: "importKey" | "sign") =>
  Effect.acquireRelease(
    Effect.sync(() => vi.spyOn(globalThis.crypto.subtle, name)),
    (spy) => Effect.sync(() => spy.mockRestore())
  )

/** Requests a token with this key, and gives the assertion's header and claims, as `jose` verifies them. */
const assertedWith = (key: TokenProvider.SigningKey) =>
  Effect.gen(function*() {
    const { arrived, layer } = inProcess((nth) => Effect.succeed(issue(nth)))
    const provider = TokenProvider.layerPrivateKeyJwt({ domain, clientId: "c", ...key })
    yield* Effect.provide(get, Layer.provide(provider, layer))
    const { client_assertion = "" } = form(arrived[0]?.body ?? "")
    return yield* Effect.promise(() =>
      jwtVerify(client_assertion, createPublicKey(first.publicKey), { currentDate: new Date(0) })
    )
  })

describe("an assertion is signed with", () => {
  const keys: Record<string, readonly [TokenProvider.SigningKey, { readonly alg: string; readonly kid?: string }]> = {
    "a PEM": [{ privateKey: first.privateKey }, { alg: "RS256" }],
    "a PEM on one line, as in a variable": [
      { privateKey: Redacted.make(pem.replaceAll("\n", "\\n")) },
      { alg: "RS256" }
    ],
    "a PEM with Windows' line ends and text around it": [
      { privateKey: Redacted.make(`# mine\r\n${pem.replaceAll("\n", "\r\n")}\r\n`) },
      { alg: "RS256" }
    ],
    "a PEM after a certificate": [{ privateKey: Redacted.make(`${cert}\n${pem}`) }, { alg: "RS256" }],
    "a PEM by RS384, with an identifier": [
      { privateKey: first.privateKey, algorithm: "RS384", keyId: "k" },
      { alg: "RS384", kid: "k" }
    ],
    "a PEM by PS256": [{ privateKey: first.privateKey, algorithm: "PS256" }, { alg: "PS256" }],
    "a JWK": [{ privateKey: Redacted.make(first.jwk) }, { alg: "RS256" }],
    "a JWK with its own algorithm and identifier": [
      { privateKey: Redacted.make({ ...first.jwk, alg: "PS256", kid: "j", use: "sig", key_ops: ["sign"] }) },
      { alg: "PS256", kid: "j" }
    ],
    "a JWK and another identifier": [
      { privateKey: Redacted.make({ ...first.jwk, kid: "j" }), keyId: "k", algorithm: "RS384" },
      { alg: "RS384", kid: "k" }
    ],
    "a JWK for the algorithm that is chosen": [
      { privateKey: Redacted.make({ ...first.jwk, alg: "RS384" }), algorithm: "RS384" },
      { alg: "RS384" }
    ],
    "a JWK as JSON": [{ privateKey: Redacted.make(` ${JSON.stringify(first.jwk)}\n`) }, { alg: "RS256" }],
    "a function": [
      { sign: (data) => Effect.sync(() => createSign("sha256").update(data).sign(first.keyObject)), keyId: "kms" },
      { alg: "RS256", kid: "kms" }
    ],
    "a function by PS256": [
      {
        sign: (data) =>
          Effect.sync(() =>
            createSign("sha256").update(data)
              .sign({ key: first.keyObject, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 })
          ),
        algorithm: "PS256"
      },
      { alg: "PS256" }
    ]
  }
  for (const [name, [key, header]] of Object.entries(keys)) {
    it.effect(
      name,
      () =>
        Effect.map(
          assertedWith(key),
          ({ protectedHeader }) => assert.deepStrictEqual(protectedHeader, { ...header, typ: "JWT" })
        )
    )
  }

  it.scoped("a key that cannot be read out of the process", () =>
    Effect.gen(function*() {
      const importKey = yield* spyOn("importKey")
      for (const privateKey of [first.privateKey, Redacted.make(first.jwk)]) yield* assertedWith({ privateKey })
      const isExtractable = importKey.mock.calls.flatMap(([, , , extractable, usages]) =>
        [...usages ?? []].includes("sign") ? [extractable] : []
      )
      assert.deepStrictEqual(isExtractable, [false, false])
    }))
})

it.scoped("a signature that fails is a failure of the token, without the runtime's own message", () =>
  Effect.gen(function*() {
    const sign = yield* spyOn("sign")
    sign.mockRejectedValue(new Error("kq7zv3"))
    const failure = yield* Effect.flip(assertedWith({ privateKey: first.privateKey }))
    assert.deepInclude({ ...failure }, { _tag: "TokenError", operation: "token" })
    assert.strictEqual(failure.message, "could not sign the client assertion: the key does not work")
  }))

describe("a key is refused before anything is sent, with the reason:", () => {
  const wanted = "expected an RSA private key as PEM (PKCS#8) or JWK"
  const convert = "convert it with `openssl pkey -in key.pem`"
  const wrong = (type: string) => `found a key of type ${type}, which cannot sign with these algorithms: ${wanted}`
  const isPublic = "found a public key: the private key of the pair is needed"
  const mixed = "found a damaged key: its numbers do not fit each other"
  const reasons: ReadonlyArray<readonly [name: string, key: string | object, reason: string]> = [
    ["encrypted", first.encrypted, `found an encrypted key: ${convert}, which asks for its password`],
    ["encrypted PKCS#1", first.encryptedPkcs1, `found an encrypted key: ${convert}, which asks for its password`],
    ["PKCS#1", first.pkcs1, `found PKCS#1, expected PKCS#8: ${convert}`],
    ["a public key", first.publicKey, isPublic],
    ["a public key in PKCS#1", first.publicPkcs1, isPublic],
    ["a public JWK", first.publicJwk, isPublic],
    ["a certificate", cert, isPublic],
    ["an EC key", others.ec, wrong("EC")],
    ["an EC key in SEC1", others.ecSec1, wrong("EC")],
    ["an EC JWK", others.ecJwk, wrong("EC")],
    ["an Ed25519 key", others.ed25519, wrong("Ed25519")],
    ["a key for RSASSA-PSS alone", others.pss, wrong("RSASSA-PSS")],
    ["an Ed25519 JWK", { kty: "OKP" }, wrong("OKP")],
    ["a secret as JWK", { kty: "oct" }, wrong("oct")],
    ["a JWK of an unknown type", { kty: "kq7zv3" }, wrong("another type")],
    ["PKCS#1 after a certificate", `${cert}\n${first.pkcs1}`, `found PKCS#1, expected PKCS#8: ${convert}`],
    ["a PEM with another name", pem.replaceAll("PRIVATE KEY", "KEY"), wanted],
    ["1024 bits", Redacted.value(short.privateKey), "found an RSA key of 1024 bits: expected at least 2048"],
    ["1024 bits in a JWK", short.jwk, "found an RSA key of 1024 bits: expected at least 2048"],
    [
      "a JWK for another algorithm",
      { ...first.jwk, alg: "RS512" },
      "found a JWK for another algorithm: expected RS256, RS384 or PS256"
    ],
    [
      "a JWK for encryption",
      { ...first.jwk, use: "enc" },
      "found a key that is not for signatures: its use is not sig"
    ],
    ["a damaged PEM", pem.replace(/.{64}\n/, ""), `found a damaged key: ${wanted}`],
    ["a damaged JWK", { ...first.jwk, p: undefined }, `found a damaged key: ${wanted}`],
    ["a JWK with the public part of another key", { ...first.jwk, n: second.jwk.n, e: second.jwk.e }, mixed],
    ...(["n", "d", "p", "q", "dp", "dq", "qi"] as const).map((name) =>
      [`a JWK with the ${name} of another key`, { ...first.jwk, [name]: second.jwk[name] }, mixed] as const
    ),
    ["a JWK with another exponent", { ...first.jwk, e: "Aw" }, mixed],
    ["a JWK with a prime that is zero", { ...first.jwk, p: "AA" }, mixed],
    ["a PEM that is not base64", "-----BEGIN PRIVATE KEY-----\n?\n-----END PRIVATE KEY-----", wanted],
    ["a PEM without its end", pem.slice(0, 400), wanted],
    ["JSON that is no JWK", "{\"keys\":[]}", wanted],
    ["damaged JSON", "{\"kty\":", wanted],
    ["nothing", "", wanted],
    ["garbage", "kq7zv3", wanted]
  ]
  const refusal = (key: TokenProvider.SigningKey, fallbackKeys: ReadonlyArray<TokenProvider.SigningKey> = []) =>
    Effect.gen(function*() {
      const { arrived, layer } = inProcess((nth) => Effect.succeed(issue(nth)))
      const provider = TokenProvider.layerPrivateKeyJwt({ domain, clientId: "c", ...key, fallbackKeys })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Layer.provide(provider, layer))))
      assert.instanceOf(error, InvalidInput)
      assert.strictEqual(error.operation, "TokenProvider.layerPrivateKeyJwt")
      assert.lengthOf(arrived, 0)
      return error.issues
    })
  for (const [name, key, message] of reasons) {
    it.effect(
      name,
      () =>
        Effect.map(
          refusal({ privateKey: Redacted.make(key) }),
          (issues) => assert.deepStrictEqual(issues, [{ path: "privateKey", message }])
        )
    )
  }

  it.effect("a JWK that does not fit the algorithm", () =>
    Effect.map(
      refusal({ privateKey: Redacted.make({ ...first.jwk, alg: "PS256" }), algorithm: "RS384" }),
      (issues) =>
        assert.deepStrictEqual(issues, [{
          path: "privateKey",
          message: "found a JWK for PS256, which does not fit the algorithm RS384"
        }])
    ))

  for (const name of ["HS256", "constructor"]) {
    it.effect(`the algorithm ${name}`, () =>
      Effect.map(
        refusal({ privateKey: first.privateKey, algorithm: name as "RS256" }), // sound: not of this type, as in JavaScript
        (issues) => assert.deepStrictEqual(issues, [{ path: "algorithm", message: "expected RS256, RS384 or PS256" }])
      ))
  }

  it.scoped("a runtime without crypto.subtle", () =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(globalThis.crypto, "subtle", "get").mockReturnValue(undefined as never)), // sound: as in a page from http
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      assert.deepStrictEqual(yield* refusal({ privateKey: first.privateKey }), [{
        path: "privateKey",
        message: "this runtime has no crypto.subtle to sign with; a browser has it only in pages from https"
      }])
    }))

  it.effect("a further key, which the path names", () =>
    Effect.map(
      refusal({ privateKey: first.privateKey }, [
        { privateKey: second.privateKey },
        { privateKey: Redacted.make(others.ec) }
      ]),
      (issues) => assert.deepStrictEqual(issues, [{ path: "fallbackKeys[1].privateKey", message: wrong("EC") }])
    ))
})
