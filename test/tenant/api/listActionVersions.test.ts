/** Tests of the tenant's list of action versions. */
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Tenant from "../../../src/Tenant.js"
import { call, host, itInProcess, largeBuckets, listActionVersions, send, tokenOf } from "../support/calls.js"

describe("listActionVersions", () => {
  const many = { id: "many", versions: Arr.makeBy(45, (index) => ({ id: `v${index}`, number: 45 - index })) }
  const action = { id: "many", supported_triggers: [], all_changes_deployed: false }
  const listed = many.versions.map((version) => ({ ...version, action }))
  const seed = { actions: [many, { id: "none", versions: [] }] }

  itInProcess("gives pages of 20, and omits the number of page 0 and the total of none", () =>
    Effect.gen(function*() {
      const first = (yield* call(listActionVersions, { params: { actionId: "many" } })).json
      assert.deepStrictEqual(first, { total: 45, per_page: 20, versions: listed.slice(0, 20) })
      const zero = (yield* call(listActionVersions, { params: { actionId: "many" }, query: "?page=0" })).json
      assert.deepStrictEqual(zero, first)
      const last = (yield* call(listActionVersions, { params: { actionId: "many" }, query: "?page=2" })).json
      assert.deepStrictEqual(last, { total: 45, page: 2, per_page: 20, versions: listed.slice(40) })
      const beyond =
        (yield* call(listActionVersions, { params: { actionId: "none" }, query: "?page=9&per_page=100" })).json
      assert.deepStrictEqual(beyond, { page: 9, per_page: 100, versions: [] })
    }), { seed })

  for (
    const [property, query, message] of [
      ["per_page", "?per_page=101", "Must be at most 100"],
      ["per_page", "?per_page=x", "Expected an integer of at least 0"],
      ["page", "?page=-1", "Expected an integer of at least 0"],
      ["page", "?page=1&page=2", "is given twice"],
      ["sort", "?sort=1", "unknown field"]
    ] as const
  ) {
    itInProcess(`refuses ${query}, and names the parameter`, () =>
      Effect.gen(function*() {
        const response = yield* call(listActionVersions, { params: { actionId: "many" }, query })
        assert.deepStrictEqual([response.status, response.json.errorCode], [400, "validation_error"])
        assert.strictEqual(response.json.message, `Query validation error: '${message}' on property ${property}`)
      }), { seed })
  }

  itInProcess(
    "gives a 404 for an unknown action",
    () =>
      Effect.map(
        call(listActionVersions, { params: { actionId: "unknown" } }),
        ({ json, status }) => assert.deepStrictEqual([status, json.message], [404, "That action does not exist."])
      )
  )

  itInProcess("finds an action by any id", () =>
    Effect.gen(function*() {
      const ids = FastCheck.sample(FastCheck.fullUnicodeString({ minLength: 1, maxLength: 30 }), {
        numRuns: 300,
        seed: 7
      })
        .concat(["/", "a/b", "?", "#", "%", "%2F", "%252F", ";", "a;b", "İ", "+", " ", "é", ":", "*", "x".repeat(2000)])
        .filter((id) => !/\p{Cs}/u.test(id) && id !== "." && id !== "..")
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.seed({ actions: ids.map((id) => ({ id, versions: [{ id }] })) })
      for (const actionId of ids) {
        const response = yield* send(listActionVersions, { params: { actionId }, token })
        assert.deepStrictEqual(response.json.versions.map(({ id }: { readonly id: string }) => id), [actionId])
      }
      const paths = (yield* tenant.requests).slice(1).map(({ path }) => path)
      assert.deepStrictEqual(paths, ids.map((id) => `/api/v2/actions/actions/${encodeURIComponent(id)}/versions`))
    }), { buckets: largeBuckets })

  itInProcess("finds an action by an id with a `;` that is not encoded", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      const response = yield* HttpClient.get(`${host}/api/v2/actions/actions/a;b/versions`, {
        headers: { authorization: `Bearer ${token}` }
      })
      assert.strictEqual(((yield* response.json) as any).total, 1)
    }), { seed: { actions: [{ id: "a;b", versions: [{}] }] } })
})
