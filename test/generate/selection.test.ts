/** Tests what a selection of operations gives: the order of files, the notes on them, and names that there are not. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { documentOf, failure, generated, type Json } from "./support/documents.js"

const string = { type: "string" }
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: Json) => ({ content: { "application/json": { schema } } })
const fields = (properties: Json) => ({ type: "object", properties })
/** An operation that returns the schemas with these names. */
const returning = (operationId: string, ...names: ReadonlyArray<string>) => ({
  get: {
    operationId,
    responses: { 200: json(fields(Object.fromEntries(names.map((name) => [name, ref(name)])))), 418: {} }
  }
})

const shared: Json = {
  openapi: "3.1.0",
  info: { title: "Things", version: "7" },
  paths: {
    "/a": returning("getA", "M", "Z"),
    "/b": { ...returning("getB", "M", "A"), parameters: [{ name: "session", in: "cookie", schema: {} }] },
    "/c": returning("getC", "Z", "A"),
    // There is a note on it before the part that cannot be read.
    "/broken": {
      get: { operationId: "broken", responses: { 200: { content: { "text/csv": {} } }, 201: json({ not: {} }) } }
    }
  },
  components: {
    schemas: {
      A: fields({ a: string }),
      M: { ...fields({ m: string }), patternProperties: { x: string } },
      Z: fields({ z: string })
    }
  }
}

describe("a selection", () => {
  it.effect("has the index first, then operations and then shared schemas, each by name", () =>
    Effect.gen(function*() {
      const { files, interface: { document, operations, schemas } } = yield* generated(shared, {
        only: ["getC", "getB", "getA"]
      })
      assert.deepStrictEqual(
        files.map(({ path }) => path),
        ["index.ts", "getA.ts", "getB.ts", "getC.ts", "schemas/A.ts", "schemas/M.ts", "schemas/Z.ts"]
      )
      assert.deepStrictEqual(document, { title: "Things", version: "7" })
      assert.deepStrictEqual(Object.keys(operations), ["getA", "getB", "getC"])
      assert.deepStrictEqual(Object.keys(schemas), ["A", "M", "Z"])
    }))

  it.effect("has the notes on its operations and on what they use, but no others", () =>
    Effect.gen(function*() {
      const statusOf = (path: string) => ({
        pointer: `#/paths/~1${path}/get/responses/418`,
        message: "no class of failures has the status 418, so it is an UnexpectedResponse"
      })
      const names = {
        pointer: "#/components/schemas/M/patternProperties",
        message: "the patterns of names are not checked"
      }
      const { notes } = yield* generated(shared, { only: ["getA", "getC"] })
      assert.deepStrictEqual(notes, [statusOf("a"), statusOf("c"), names])
      const cookie = { pointer: "#/paths/~1b/parameters/0", message: "cookies are not sent" }
      assert.deepStrictEqual((yield* generated(shared, { only: ["getB"] })).notes, [cookie, statusOf("b"), names])
      assert.deepStrictEqual((yield* generated(shared, { only: ["getC"] })).notes, [statusOf("c")])
    }))

  it.effect("takes the name of a group in any spelling, and those within the group", () =>
    Effect.gen(function*() {
      const operation = (group: ReadonlyArray<string>, name: string) => ({
        get: { "x-operation-group": group, "x-operation-name": name, responses: { 204: {} } }
      })
      const document = documentOf({
        paths: {
          "/a": operation(["clientGrants"], "list"),
          "/b": operation(["client-grants", "organizations"], "list"),
          "/c": operation(["clientGrantsets"], "list"),
          "/d": operation(["clients"], "list")
        }
      })
      for (const group of ["clientGrants", "client-grants", "client_grants", "Client Grants"]) {
        const { interface: { operations } } = yield* generated(document, { groups: [group] })
        assert.deepStrictEqual(Object.keys(operations), ["listClientGrantOrganizations", "listClientGrants"], group)
      }
      const error = yield* failure(document, { groups: ["clients", "grants"] })
      assert.deepStrictEqual([error.pointer, error.message], [
        "#/paths",
        "the document has no group grants; the nearest names are clients, clientGrants, client-grants"
      ])
    }))

  it.effect("of an operation that there is not fails with the nearest names", () =>
    Effect.gen(function*() {
      const error = yield* failure(shared, { only: ["getA", "getD"] })
      assert.deepStrictEqual([error.pointer, error.message], [
        "#/paths",
        "the document has no operation getD; the nearest names are getA, getB, getC"
      ])
    }))
})
