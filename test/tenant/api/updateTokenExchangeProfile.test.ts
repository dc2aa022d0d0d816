/** Tests of the tenant's profile updates. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as Tenant from "../../../src/Tenant.js"
import { call, itInProcess, largeBuckets, profile, updateTokenExchangeProfile } from "../support/calls.js"

describe("updateTokenExchangeProfile", () => {
  const id = profile.id
  const other = { ...profile, id: "tep_0000000000000000", subject_token_type: "urn:example:other" }

  itInProcess("changes the given fields and no others", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-01-02T03:04:05.678Z"))
      const updated_at = "2026-01-02T03:04:05.678Z"
      const first = yield* call(updateTokenExchangeProfile, { params: { id }, body: { name: "New name" } })
      assert.deepStrictEqual(first.json, { ...profile, name: "New name", updated_at })
      const subject_token_type = "https://example.com/token"
      const second = yield* call(updateTokenExchangeProfile, {
        params: { id },
        form: `subject_token_type=${subject_token_type}`
      })
      assert.deepStrictEqual(second.json, { ...profile, name: "New name", subject_token_type, updated_at })
      const tenant = yield* Tenant.Tenant
      assert.deepStrictEqual((yield* tenant.state).profiles, [second.json])
    }))

  itInProcess("gives a 404 for an unknown profile", () =>
    Effect.gen(function*() {
      const response = yield* call(updateTokenExchangeProfile, {
        params: { id: "tep_none" },
        body: { name: "New name" }
      })
      assert.deepStrictEqual(
        [response.status, response.json.message],
        [404, "Token exchange profile not found."]
      )
    }))

  itInProcess(
    "gives a 409 for another profile's subject token type, and accepts its own",
    () =>
      Effect.gen(function*() {
        const sent = { params: { id }, body: { subject_token_type: other.subject_token_type } }
        const response = yield* call(updateTokenExchangeProfile, sent)
        assert.deepStrictEqual(
          [response.status, response.json.message],
          [409, "A token exchange profile with this subject_token_type exists already."]
        )
        const own = { params: { id }, body: { subject_token_type: profile.subject_token_type } }
        assert.strictEqual((yield* call(updateTokenExchangeProfile, own)).status, 200)
      }),
    { seed: { profiles: [profile, other] } }
  )

  itInProcess("needs at least one field", () =>
    Effect.gen(function*() {
      for (const sent of [{ body: {} }, { form: "" }]) {
        const response = yield* call(updateTokenExchangeProfile, { params: { id }, ...sent })
        assert.strictEqual(response.status, 400)
        assert.strictEqual(response.json.message, "Payload validation error: 'Too few properties (0), minimum 1'")
      }
    }))

  for (
    const [property, value, message] of [
      ["name", "ab", "Expected a string of 3 to 50 characters"],
      ["name", "x".repeat(51), "Expected a string of 3 to 50 characters"],
      ["subject_token_type", "urn:a:b", "Expected a URI of 8 to 100 characters"],
      ["subject_token_type", "no uri at all", "Expected a URI of 8 to 100 characters"],
      ["subject_token_type", "http://example.com/", "Must begin with https:// or urn:"],
      ["subject_token_type", "xurn:example:type", "Must begin with https:// or urn:"],
      ["subject_token_type", "urn:ietf:params:oauth:token-type:jwt", "This prefix is reserved"],
      ["subject_token_type", "urn:auth0:anything", "This prefix is reserved"],
      ["subject_token_type", "urn:auth0", "This prefix is reserved"],
      ["subject_token_type", "urn:okta:anything", "This prefix is reserved"],
      ["subject_token_type", "urn:OKTA:anything", "This prefix is reserved"],
      ["subject_token_type", "https://auth0.com/token", "This prefix is reserved"],
      ["subject_token_type", "https://acme.okta.com", "This prefix is reserved"],
      ["id", "tep_x", "unknown field"]
    ] as const
  ) {
    itInProcess(
      `refuses an invalid ${property}, and names it: ${value.slice(0, 60)}`,
      () =>
        Effect.gen(function*() {
          const response = yield* call(updateTokenExchangeProfile, { params: { id }, body: { [property]: value } })
          assert.strictEqual(response.status, 400)
          assert.strictEqual(response.json.message, `Payload validation error: '${message}' on property ${property}`)
        }),
      { buckets: largeBuckets }
    )
  }

  itInProcess("accepts a subject token type that only resembles a reserved one", () =>
    Effect.gen(function*() {
      for (
        const subject_token_type of [
          "urn:example:urn:ietf:params",
          "urn:auth0x:anything",
          "https://notauth0.com/token",
          "https://auth0.com.example",
          "https://example.com/https://auth0.com/"
        ]
      ) {
        const response = yield* call(updateTokenExchangeProfile, { params: { id }, body: { subject_token_type } })
        assert.deepStrictEqual([response.status, response.json.subject_token_type], [200, subject_token_type])
      }
    }), { buckets: largeBuckets })
})
