/** Tests of the tenant's user exports. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as Tenant from "../../../src/Tenant.js"
import { call, connection, createUsersExport, itInProcess, listActionVersions, validCalls } from "../support/calls.js"

const { demoClients } = Tenant

describe("createUsersExport", () => {
  itInProcess("creates a job with the given settings", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-01-02T03:04:05.678Z"))
      const fields = [{ name: "email", export_as: "E-mail" }, { name: "name" }]
      const response = yield* call(createUsersExport, {
        body: { connection_id: connection.id, format: "csv", limit: 7, fields }
      })
      const { id, ...job } = response.json
      assert.match(id, /^job_[A-Za-z0-9]{16}$/)
      assert.deepStrictEqual(job, {
        type: "users_export",
        status: "pending",
        created_at: "2026-01-02T03:04:05.678Z",
        connection: connection.name,
        connection_id: connection.id,
        format: "csv",
        limit: 7,
        fields
      })
      const tenant = yield* Tenant.Tenant
      assert.deepStrictEqual((yield* tenant.state).jobs.at(-1), response.json)
    }))

  itInProcess("exports JSON of all connections by default", () =>
    Effect.gen(function*() {
      const first = (yield* call(createUsersExport, { body: {} })).json
      const second = (yield* call(createUsersExport, { form: "" })).json
      assert.deepStrictEqual(Object.keys(first).sort(), ["created_at", "format", "id", "status", "type"])
      assert.strictEqual(first.format, "json")
      assert.notStrictEqual(first.id, second.id)
      const tenant = yield* Tenant.Tenant
      assert.deepStrictEqual((yield* tenant.state).jobs.slice(-2), [first, second])
    }))

  itInProcess("is for global clients only", () =>
    Effect.gen(function*() {
      const response = yield* call(createUsersExport, { body: { nonsense: true } }, demoClients.notGlobal)
      assert.strictEqual(response.status, 401)
      assert.deepStrictEqual(response.json, {
        statusCode: 401,
        error: "Unauthorized",
        message: "Client is not global",
        attributes: { error: "Client is not global" }
      })
      assert.strictEqual(
        (yield* call(listActionVersions, validCalls["listActionVersions"], demoClients.notGlobal)).status,
        200
      )
    }))

  itInProcess("refuses a connection that does not exist", () =>
    Effect.gen(function*() {
      const response = yield* call(createUsersExport, { body: { connection_id: "con_0000000000000000" } })
      assert.strictEqual(response.status, 400)
      assert.strictEqual(
        response.json.message,
        "Payload validation error: 'The connection does not exist: con_0000000000000000' on property connection_id"
      )
    }))

  const long = "x".repeat(101)
  for (
    const [property, body, form] of [
      ["connection_id", { connection_id: "con_short" }, "connection_id=con_short"],
      ["format", { format: "xml" }, "format=xml"],
      ["limit", { limit: 0 }, "limit=0"],
      ["limit", { limit: 1.5 }, "limit=1.5"],
      ["limit", { limit: "5" }, "limit=five"],
      ["limit", { limit: null }, "limit="],
      ["fields", { fields: {} }, "fields=email"],
      ["fields", { fields: "x" }, "fields[1][name]=x"],
      ["fields", { fields: 1 }, "fields[4294967295][name]=x"],
      ["fields", { fields: true }, "fields[length]=2"],
      ["fields[0]", { fields: ["x"] }, "fields[0]=x"],
      ["fields[0].name", { fields: [{ export_as: "x" }] }, "fields[0][export_as]=x"],
      ["fields[1].name", { fields: [{ name: "x" }, { name: long }] }, `fields[0][name]=x&fields[1][name]=${long}`],
      [
        "fields[0].export_as",
        { fields: [{ name: "x", export_as: long }] },
        `fields[0][name]=x&fields[0][export_as]=${long}`
      ],
      ["fields[0].more", { fields: [{ name: "x", more: "y" }] }, "fields[0][name]=x&fields[0][more]=y"],
      ["fields[0].name", { fields: [{ name: { a: "b" } }] }, "fields[0][name][a]=b"],
      ["more", { more: 1 }, "more[x]=1"],
      ["__proto__", JSON.parse("{\"__proto__\":1}"), "__proto__=1"]
    ] as const
  ) {
    itInProcess(`refuses an invalid ${property}, and names it: ${form.slice(0, 40)}`, () =>
      Effect.gen(function*() {
        for (const sent of [{ body }, { form }]) {
          const response = yield* call(createUsersExport, sent)
          assert.strictEqual(response.status, 400)
          assert.strictEqual(response.json.errorCode, "invalid_body")
          assert.match(response.json.message, new RegExp(` on property ${property.replace(/[[\]]/g, "\\$&")}$`))
        }
      }))
  }

  itInProcess("lists all values that a field may have", () =>
    Effect.gen(function*() {
      const response = yield* call(createUsersExport, { body: { format: "xml" } })
      assert.strictEqual(
        response.json.message,
        "Payload validation error: 'Expected \"json\" or \"csv\"' on property format"
      )
    }))
})
