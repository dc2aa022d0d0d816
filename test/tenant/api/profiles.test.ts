/** Tests of finding token exchange profiles of the tenant. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as operations from "../../../src/operations/index.js"
import * as Tenant from "../../../src/Tenant.js"
import { call, itInProcess, profile, updateTokenExchangeProfile } from "../support/calls.js"

const getProfile = operations.getTokenExchangeProfile.endpoint
const listProfiles = operations.listTokenExchangeProfiles.endpoint

describe("token exchange profiles", () => {
  itInProcess("are given as they were updated", () =>
    Effect.gen(function*() {
      const get = call(getProfile, { params: { id: profile.id } })
      assert.deepStrictEqual((yield* get).json, { ...profile })
      const updated = yield* call(updateTokenExchangeProfile, { params: { id: profile.id }, body: { name: "Renamed" } })
      assert.deepStrictEqual((yield* get).json, updated.json)
      const unknown = yield* call(getProfile, { params: { id: "tep_0" } })
      assert.deepStrictEqual(
        [unknown.status, unknown.json.message],
        [404, "Token exchange profile not found."]
      )
    }))

  itInProcess("are listed by checkpoints", () =>
    Effect.gen(function*() {
      const { seed } = yield* Tenant.Tenant
      const other = { ...profile, id: "1" }
      yield* seed({ profiles: [other] })
      const list = (query: string) => Effect.map(call(listProfiles, { query }), ({ json }) => json)
      const both = [other, profile].map((each) => ({ ...each }))
      assert.deepStrictEqual(yield* list(""), { token_exchange_profiles: both })
      assert.deepStrictEqual(yield* list("?take=2"), { token_exchange_profiles: both })
      assert.deepStrictEqual(yield* list("?take=1"), { token_exchange_profiles: both.slice(0, 1), next: "1" })
      assert.deepStrictEqual(yield* list("?take=1&from=1"), { token_exchange_profiles: both.slice(1) })
    }))
})
