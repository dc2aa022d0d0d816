/** Tests which documents are read, and the errors of those that are not. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readDocument } from "../../../src/generate/read/document.js"
import type { Json } from "../support/documents.js"

const empty = (more: Json = {}) => ({ openapi: "3.1.0", info: { title: "a", version: "b" }, paths: {}, ...more })
const legacy = (more: Json = {}) => empty({ openapi: "3.0.3", ...more })

/** The document that a text has, in which there are no faults. */
const documentOf = (text: string) =>
  Effect.map(readDocument(text), ({ document, faults }) => {
    assert.strictEqual(faults.size, 0)
    return document
  })

/** The error that a document, which may be text, is refused with. */
const errorOf = (document: unknown) =>
  Effect.map(
    Effect.flip(readDocument(typeof document === "string" ? document : JSON.stringify(document))),
    ({ message, pointer }) => ({ message, pointer })
  )

describe("a document is refused, with the place,", () => {
  const refused: ReadonlyArray<
    readonly [title: string, document: unknown, message: string, pointer: string, hasPlace?: false]
  > = [
    [
      "if it is JSON that cannot be parsed",
      "\n  {\"openapi\":",
      "the text cannot be parsed: Unexpected end of JSON input",
      "#",
      false
    ],
    ["if it is a list", [], "the document is no object", "#", false],
    ["if it is text", "openapi", "the document is no object", "#", false],
    ...["3.2.0", "13.0.1"].map((openapi) =>
      [
        `of version ${openapi}`,
        empty({ openapi }),
        `version ${openapi} is not supported, only OpenAPI 3.0 and 3.1`,
        "#/openapi"
      ] as const
    )
  ]
  for (const [title, document, message, pointer, hasPlace = true] of refused) {
    it.effect(title, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* errorOf(document), {
          message: hasPlace ? `${message} (at ${pointer})` : message,
          pointer
        })
      }))
  }
})

describe("what is not valid costs the part in which it is:", () => {
  const schema = (schema: Json) => ({ components: { schemas: { A: schema } } })
  const inSchemas = "#/components/schemas/A"
  const operations = (get: Json) => ({ paths: { "/a": { get, post: { responses: { 200: {} } } } } })
  const get = "#/paths/~1a/get"

  const cases: ReadonlyArray<
    readonly [title: string, document: Json, faults: ReadonlyArray<[part: string, message: string]>]
  > = [
    ["nothing", empty(), []],
    ["a field that there is not", legacy({ foo: 1 }), [["#/foo", "must NOT have additional properties: foo (at #)"]]],
    ["a field that there must be", empty({ info: { title: "a" } }), [[
      "#/info",
      "must have required property 'version' (at #/info)"
    ]]],
    ["a value of another type", empty({ info: { title: 5, version: "b" } }), [[
      "#/info",
      "must be string (at #/info/title)"
    ]]],
    ["a value that is not of a list", legacy(schema({ type: "text" })), [[
      inSchemas,
      `must be equal to one of the allowed values (at ${inSchemas}/type)`
    ]]],
    ["a value deep within alternatives", legacy(schema({ $ref: 5 })), [[
      inSchemas,
      `must be string (at ${inSchemas}/$ref)`
    ]]],
    ["the name of a component", empty({ components: { schemas: { "a b": {} } } }), []],
    ["the name of a component in 3.0", legacy({ components: { schemas: { "a b": {} } } }), []],
    [
      "a parameter of two fields that exclude each other",
      legacy({ components: { parameters: { A: { name: "a", in: "query", schema: {}, example: 1, examples: {} } } } }),
      [["#/components/parameters/A", "must NOT be valid (at #/components/parameters/A)"]]
    ],
    ["an operation that is not an object", empty({ paths: { "/a": { get: 5, post: { responses: {} } } } }), [[
      get,
      `must be object (at ${get})`
    ]]],
    ["responses that are not an object", empty(operations({ responses: 5 })), [[
      get,
      `must be object (at ${get}/responses)`
    ]]],
    ["an operation without responses", empty(operations({})), []],
    ["an operation of 3.0 without responses", legacy(operations({ responses: {} })), []],
    ["a path without a slash", empty({ paths: { things: { get: {} } } }), [[
      "#/paths/things",
      "must NOT have unevaluated properties: things (at #/paths)"
    ]]],
    [
      "several at once",
      legacy({ ...operations({ responses: 5 }), ...schema({ type: "text" }), info: {} }),
      [
        ["#/info", "must have required property 'title' (at #/info)"],
        [get, `must be object (at ${get}/responses)`],
        [inSchemas, `must be equal to one of the allowed values (at ${inSchemas}/type)`]
      ]
    ]
  ]
  for (const [title, document, expected] of cases) {
    it.effect(title, () =>
      Effect.gen(function*() {
        const { faults } = yield* readDocument(JSON.stringify(document))
        assert.deepStrictEqual(Array.from(faults, ([part, { message }]) => [part, message] as const), [...expected])
      }))
  }
})

describe("a document is read", () => {
  it.effect("as it is, with or without a mark of its byte order", () =>
    Effect.gen(function*() {
      const document = empty({
        info: { title: "a\uFEFFb", version: "b" },
        paths: { "/a": { get: { responses: { 200: {}, 404: { $ref: "#/components/responses/None" } } } } },
        components: { responses: { None: {} }, schemas: { A: { properties: { $ref: { type: "string" } } } } }
      })
      const text = JSON.stringify(document)
      assert.deepStrictEqual(yield* documentOf(text), document)
      assert.deepStrictEqual(yield* documentOf(`\uFEFF${text}`), document)
      assert.deepStrictEqual(yield* documentOf(JSON.stringify({ ...document, openapi: "3.0.3" })), {
        ...document,
        openapi: "3.0.3"
      })
    }))

  it.effect("with a property called $ref, which is no reference", () =>
    Effect.gen(function*() {
      const schema = { properties: { $ref: { type: "string" } } }
      const content = { "application/json": { schema } }
      for (const make of [empty, legacy]) {
        const document = make({ paths: { "/a": { get: { responses: { 200: { content } } } } } })
        assert.deepStrictEqual(yield* documentOf(JSON.stringify(document)), document)
      }
    }))

  it.effect("with hundreds of aliases of YAML", () =>
    Effect.gen(function*() {
      const aliases = Array.from({ length: 300 }, () => "*x").join(", ")
      const yaml = `openapi: 3.1.0\ninfo: {title: a, version: b}\npaths: {}\nx-one: &x {a: 1}\nx-all: [${aliases}]\n`
      const document = yield* documentOf(yaml)
      assert.deepStrictEqual(
        document,
        empty({ "x-one": { a: 1 }, "x-all": Array.from({ length: 300 }, () => ({ a: 1 })) })
      )
    }))
})
