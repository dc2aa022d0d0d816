/** Tests which documents are read, and the errors of those that are not. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readDocument } from "../../../src/generate/read/document.js"
import type { Json } from "../support/documents.js"

const empty = (more: Json = {}) => ({ openapi: "3.1.0", info: { title: "a", version: "b" }, paths: {}, ...more })
const legacy = (more: Json = {}) => empty({ openapi: "3.0.3", ...more })

/** The error that a document, which may be text, is refused with. */
const errorOf = (document: unknown) =>
  Effect.map(
    Effect.flip(readDocument(typeof document === "string" ? document : JSON.stringify(document))),
    ({ message, pointer }) => ({ message, pointer })
  )

describe("a document is refused, with the place,", () => {
  const schema = (schema: Json) => ({ components: { schemas: { A: schema } } })
  const place = "#/components/schemas"
  const getA = (operation: Json) => ({ paths: { "/a": { get: { responses: { 200: {} }, ...operation } } } })
  const success = (schema: Json) => getA({ responses: { 200: { content: { "application/json": { schema } } } } })
  const reference = "#/paths/~1a/get/responses/200/content/application~1json/schema/$ref"

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
    ["with a field that there is not", legacy({ foo: 1 }), "must NOT have additional properties: foo", "#"],
    [
      "without a field that there must be",
      empty({ info: { title: "a" } }),
      "must have required property 'version'",
      "#/info"
    ],
    ["with a value of another type", empty({ info: { title: 5, version: "b" } }), "must be string", "#/info/title"],
    [
      "with a value that is not of a list",
      legacy(schema({ type: "text" })),
      "must be equal to one of the allowed values",
      `${place}/A/type`
    ],
    [
      "with a name that is not allowed",
      empty({ components: { schemas: { "a b": {} } } }),
      "must match pattern \"^[a-zA-Z0-9._-]+$\"",
      `${place}/a b`
    ],
    [
      "with a parameter of two fields that exclude each other",
      legacy({
        components: { parameters: { A: { name: "a", in: "query", schema: {}, example: 1, examples: {} } } }
      }),
      "must NOT be valid",
      "#/components/parameters/A"
    ],
    ["deep within alternatives", legacy(schema({ $ref: 5 })), "must be string", `${place}/A/$ref`],
    [
      "with a reference that leads to nothing",
      empty(success({ $ref: "#/components/schemas/B" })),
      "the reference #/components/schemas/B leads to nothing",
      reference
    ],
    [
      "with a reference to another document",
      empty(success({ $ref: "other.yaml" })),
      "the reference other.yaml leads out of the document: bundle it first",
      reference
    ],
    ...["3.2.0", "13.0.1"].map((openapi) =>
      [
        `of version ${openapi}`,
        empty({ openapi }),
        `version ${openapi} is not supported, only 3.0 and 3.1`,
        "#/openapi",
        false
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

describe("a document is read", () => {
  it.effect("as it is, with or without a mark of its byte order", () =>
    Effect.gen(function*() {
      const document = empty({
        info: { title: "a\uFEFFb", version: "b" },
        paths: { "/a": { get: { responses: { 200: {}, 404: { $ref: "#/components/responses/None" } } } } },
        components: { responses: { None: {} }, schemas: { A: { properties: { $ref: { type: "string" } } } } }
      })
      const text = JSON.stringify(document)
      assert.deepStrictEqual(yield* readDocument(text), document)
      assert.deepStrictEqual(yield* readDocument(`\uFEFF${text}`), document)
      assert.deepStrictEqual(yield* readDocument(JSON.stringify({ ...document, openapi: "3.0.3" })), {
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
        assert.deepStrictEqual(yield* readDocument(JSON.stringify(document)), document)
      }
    }))

  it.effect("with hundreds of aliases of YAML", () =>
    Effect.gen(function*() {
      const aliases = Array.from({ length: 300 }, () => "*x").join(", ")
      const yaml = `openapi: 3.1.0\ninfo: {title: a, version: b}\npaths: {}\nx-one: &x {a: 1}\nx-all: [${aliases}]\n`
      const document = yield* readDocument(yaml)
      assert.deepStrictEqual(
        document,
        empty({ "x-one": { a: 1 }, "x-all": Array.from({ length: 300 }, () => ({ a: 1 })) })
      )
    }))
})
