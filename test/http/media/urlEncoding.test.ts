/** Bodies and queries as forms. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Schema } from "effect"
import {
  createUsersExport,
  Errors,
  IdentityClient,
  listActionVersions,
  Operation,
  redeliverEvent
} from "../../../src/index.js"
import { encodeForm, encodeObject, encodeQuery } from "../../../src/internal/http/media/urlEncoding.js"
import * as Testing from "../../../src/Testing.js"
import { bodyOf, failed, sent, sentOne } from "../../support/client.js"
import { type Subject } from "../../support/operations.js"

const id = "est_1234567890123456789012"

describe("withFormBody", () => {
  const form = (operation: Subject, input: unknown) => IdentityClient.withFormBody(sentOne(operation, input))

  it.effect("writes nested fields in brackets, in their order", () =>
    Effect.gen(function*() {
      const fields = [{ name: "email", export_as: "E-mail & more" }, { name: "user_metadata.größe" }]
      const request = yield* form(createUsersExport, { format: "csv", limit: 10, fields })
      assert.strictEqual(
        decodeURIComponent(bodyOf(request) ?? ""),
        "format=csv&limit=10&fields[0][name]=email&fields[0][export_as]=E-mail & more&fields[1][name]=user_metadata.größe"
      )
    }))

  it.effect("percent-encodes names and values", () =>
    Effect.gen(function*() {
      const request = yield* form(createUsersExport, { fields: [{ name: "a=b&c+d %é" }] })
      assert.strictEqual(bodyOf(request), "fields%5B0%5D%5Bname%5D=a%3Db%26c%2Bd%20%25%C3%A9")
    }))

  it.effect("sends an empty form, with its content type, if no field is set", () =>
    Effect.gen(function*() {
      const request = yield* form(createUsersExport, {})
      assert.deepStrictEqual(
        [bodyOf(request), request.headers["content-type"]],
        ["", "application/x-www-form-urlencoded"]
      )
    }))

  it.effect("adds no body to an operation without a payload", () =>
    Effect.gen(function*() {
      const request = yield* form(redeliverEvent, { id, event_id: id })
      assert.deepStrictEqual([request.body._tag, request.headers["content-type"]], ["Empty", undefined])
    }))

  it.effect("refuses an empty list by its path, and sends nothing", () =>
    Effect.gen(function*() {
      const error = yield* IdentityClient.withFormBody(failed(createUsersExport, { fields: [] }, Testing.reply({})))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues, [
        { path: "fields", message: "a form cannot express null or an empty list" }
      ])
      assert.lengthOf(yield* IdentityClient.withFormBody(sent(createUsersExport, { fields: [] })), 0)
    }))

  it.effect("JSON can express an empty list", () =>
    Effect.gen(function*() {
      assert.strictEqual(bodyOf(yield* sentOne(createUsersExport, { fields: [] })), "{\"fields\":[]}")
    }))

  it.effect("applies to its own effect only", () =>
    Effect.gen(function*() {
      yield* form(createUsersExport, {})
      assert.strictEqual((yield* sentOne(createUsersExport, {})).headers["content-type"], "application/json")
    }))

  const oddName = "a form or a query cannot express a key that is empty or has brackets"

  const declared = {
    method: "PUT",
    path: "/things",
    scope: "update:things",
    idempotent: true,
    error: [Errors.RateLimited]
  } as const

  const upload = Operation.make("upload", () => ({
    method: "PUT",
    path: "/things/:part",
    params: { part: Schema.String },
    query: {
      tags: Schema.optional(Schema.Array(Schema.String)),
      filter: Schema.optional(Schema.NullOr(Schema.String))
    },
    payload: {
      map: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
      text: Schema.optional(Schema.String)
    },
    scope: "update:things",
    idempotent: true,
    error: [Errors.RateLimited]
  }))

  it.effect.each(
    [
      [{ map: { a: null } }, "map[a]", "a form cannot express null or an empty list"],
      [{ map: { a: { b: [] } } }, "map[a][b]", "a form cannot express null or an empty list"],
      [{ text: "\uD800" }, "text", "expected well-formed Unicode"],
      [{ map: { "\uDC00": 1 } }, "map[\uDC00]", "expected well-formed Unicode"],
      [{ map: { "a][b": 1 } }, "map[a][b]", oddName],
      [{ map: { "a[0]": 1 } }, "map[a[0]]", oddName],
      [{ map: { a: { "b]": 1 } } }, "map[a][b]]", oddName],
      [{ map: { "": 1 } }, "map[]", oddName]
    ] as const
  )("refuses by its path what a form cannot express: %#", ([fields, path, message]) =>
    Effect.gen(function*() {
      const error = yield* IdentityClient.withFormBody(failed(upload, { part: "x", ...fields }, Testing.reply({})))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues, [{ path, message }])
    }))

  it.effect("refuses a name with brackets in a whole body, and in a value of a query", () =>
    Effect.gen(function*() {
      const open = Schema.Record({ key: Schema.String, value: Schema.Unknown })
      const replace = Operation.make(
        "replace",
        () => ({ ...declared, query: { filter: Schema.optional(open) }, body: open })
      )
      const inputs = [
        [{ body: { "a[b]": 1 } }, "a[b]"],
        [{ body: { "": 1 } }, ""],
        [{ body: { a: { "b][c": 1 } } }, "a[b][c]"],
        [{ body: {}, filter: { "a][b": 1 } }, "filter[a][b]"]
      ] as const
      for (const [input, path] of inputs) {
        const error = yield* IdentityClient.withFormBody(failed(replace, input, Testing.reply({})))
        assert.deepStrictEqual((error as Errors.InvalidInput).issues, [{ path, message: oddName }])
      }
    }))

  it.effect("keeps brackets in the name of a declared field", () =>
    Effect.gen(function*() {
      const bracketed = { "tags[]": Schema.Array(Schema.String) }
      const search = Operation.make("search", () => ({ ...declared, query: bracketed }))
      const { url } = yield* sentOne(search, { "tags[]": ["a", "b"] })
      assert.isTrue(decodeURIComponent(url).endsWith("/things?tags[]=a&tags[]=b"))
    }))

  it.effect("repeats the name of a list in a query, also in a call with JSON", () =>
    Effect.gen(function*() {
      const { url } = yield* sentOne(upload, { part: "x", tags: ["a b", "ü"], filter: "a=b" })
      assert.isTrue(url.endsWith("/things/x?tags=a%20b&tags=%C3%BC&filter=a%3Db"))
    }))

  it.effect.each([[{ tags: [] }, "tags"], [{ filter: null }, "filter"], [{ filter: "\uD800" }, "filter"]] as const)(
    "a query that cannot be written is refused by name: %#",
    ([query, path]) =>
      Effect.gen(function*() {
        const error = yield* failed(upload, { part: "x", ...query }, Testing.reply({}))
        assert.deepStrictEqual((error as Errors.InvalidInput).issues.map((issue) => issue.path), [path])
      })
  )

  it.effect("adds no question mark if no field of the query is set", () =>
    Effect.gen(function*() {
      assert.notInclude((yield* sentOne(listActionVersions, { actionId: "x", page: undefined })).url, "?")
    }))

  it.effect("JSON expresses what a form cannot", () =>
    Effect.gen(function*() {
      const request = yield* sentOne(upload, { part: "x", map: { a: null, b: [] }, text: "\uD800" })
      assert.deepStrictEqual(JSON.parse(bodyOf(request) ?? ""), { map: { a: null, b: [] }, text: "\uD800" })
    }))
})

describe("a form and a query", () => {
  it.each([NaN, Infinity, -Infinity])("cannot express %d, and name it by its path", (number) => {
    const issue = { path: "a[b][1]", message: "expected a finite number" }
    for (const encode of [encodeForm, encodeObject]) {
      assert.deepStrictEqual(encode({ a: { b: [1, number] } }), Either.left(issue))
    }
    assert.deepStrictEqual(encodeQuery({ a: [1, number] }), Either.left({ ...issue, path: "a" }))
  })

  it("express other values as text", () => {
    for (const encode of [encodeForm, encodeObject, encodeQuery]) {
      assert.deepStrictEqual(
        encode({ a: 0, b: -1.5, c: true, d: "NaN", e: undefined }),
        Either.right("a=0&b=-1.5&c=true&d=NaN")
      )
    }
  })
})
