/** Tests of the tenant's tokens as its control interface handles them: issued without proof, revoked, saved and loaded. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { decodeJwt } from "jose"
import type * as Tenant from "../../../src/Tenant.js"
import * as Tokens from "../../../src/tenant/server/tokens.js"

const client: Tenant.ClientWithoutSecret = { id: "one", scopes: ["read:users", "read:actions"], global: true }
const other = { ...client, id: "other" }

const make = Tokens.make([client, other], "1 minute", 2)

/** Issues a token to a client that the issuer knows. */
const issueFor = (issuer: Tokens.TokenIssuer, id = client.id) =>
  Effect.map(issuer.issueFor(id), (issued) => {
    if (issued === undefined) throw new Error(`no client ${id}`)
    return issued
  })

/** The message that a token is refused with; `undefined` if it is valid. */
const refusalOf = ({ verify }: Tokens.TokenIssuer, token: string) =>
  Effect.match(verify(`Bearer ${token}`), {
    onFailure: ({ body }): unknown => JSON.parse(String(body)).message,
    onSuccess: () => undefined
  })

const invalidSignature = "Invalid signature received for JSON Web Token validation"

/** The records of a saved state. */
const saved = (records: ReadonlyArray<Tokens.IssuedToken>) =>
  records.map(({ client, ...record }) => ({ ...record, client: client.id }))

describe("the issuer of tokens", () => {
  it.effect("issues a token to a client by its id, and records it", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(90_000)
      const issuer = yield* make
      const [token, record] = yield* issueFor(issuer)
      const { jti = "", scope } = decodeJwt(token)
      assert.strictEqual(scope, "read:users read:actions")
      assert.deepStrictEqual(record, { id: jti, client, issuedAt: 90_000, expiresAt: 150_000, revoked: false })
      assert.deepStrictEqual(yield* issuer.all, [record])
      assert.deepStrictEqual(yield* issuer.verify(`Bearer ${token}`), client)
      assert.isUndefined(yield* issuer.issueFor("nobody"))
    }))

  it.effect("revokes the tokens that are selected, each once", () =>
    Effect.gen(function*() {
      const issuer = yield* make
      const [first] = yield* issueFor(issuer)
      const [second] = yield* issueFor(issuer, "other")
      const ofOther = ({ client }: Tokens.IssuedToken) => client.id === "other"
      const counts = [yield* issuer.revoke(ofOther), yield* issuer.revoke(ofOther), yield* issuer.revoke()]
      assert.deepStrictEqual(counts, [1, 0, 1])
      assert.deepStrictEqual((yield* issuer.all).map(({ revoked }) => revoked), [true, true])
      assert.deepStrictEqual(
        [yield* refusalOf(issuer, first), yield* refusalOf(issuer, second)],
        ["Invalid token", "Invalid token"]
      )
    }))

  it.effect("takes over the key and the tokens of another issuer, and restores its own", () =>
    Effect.gen(function*() {
      const [issuer, another] = [yield* make, yield* make]
      const [own, record] = yield* issueFor(issuer)
      yield* issuer.revoke()
      const ownKey = yield* issuer.signingKey
      const [foreign, foreignRecord] = yield* issueFor(another)
      const key = yield* issuer.importKey(yield* another.signingKey)
      assert.isDefined(key)
      yield* issuer.load(saved([foreignRecord, { ...foreignRecord, id: "x", client: { ...client, id: "gone" } }]), key)
      assert.deepStrictEqual(yield* issuer.all, [foreignRecord])
      assert.deepStrictEqual(yield* issuer.signingKey, yield* another.signingKey)
      const [later] = yield* issueFor(issuer)
      const refusals = Effect.all([own, foreign, later].map((token) => refusalOf(issuer, token)))
      assert.deepStrictEqual(yield* refusals, [invalidSignature, undefined, undefined])

      yield* issuer.restore
      assert.deepStrictEqual(yield* issuer.all, [record])
      assert.deepStrictEqual(yield* issuer.signingKey, ownKey)
      assert.deepStrictEqual(yield* refusals, [undefined, invalidSignature, invalidSignature])
    }))

  it.effect("counts tokens as its own that it issues by its own key after that was loaded", () =>
    Effect.gen(function*() {
      const issuer = yield* make
      yield* issuer.load([], yield* issuer.importKey(yield* issuer.signingKey))
      const [token, record] = yield* issueFor(issuer)
      yield* issuer.load([], undefined)
      assert.strictEqual(yield* refusalOf(issuer, token), "Invalid token")
      yield* issuer.restore
      assert.deepStrictEqual(yield* issuer.all, [record])
      assert.isUndefined(yield* refusalOf(issuer, token))
    }))

  it.effect("keeps the newest tokens of a saved state", () =>
    Effect.gen(function*() {
      const issuer = yield* make
      const [, record] = yield* issueFor(issuer)
      const records = ["a", "b", "c"].map((id) => ({ ...record, id }))
      yield* issuer.load(saved(records), undefined)
      assert.deepStrictEqual(yield* issuer.all, records.slice(1))
    }))

  it.effect("gives nothing for a key that is none", () =>
    Effect.gen(function*() {
      const issuer = yield* make
      for (const key of [{ kty: "none" }, { kty: "oct" }, { kty: "RSA", n: "x" }]) {
        assert.isUndefined(yield* issuer.importKey(key))
      }
    }))
})
