/** Tests what a document may contain: places without a description, data that looks like a reference, and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readDocument } from "../../src/generate/read/document.js"
import { documentOf, failure, generated, type Json, type Parts, textOf } from "./support/documents.js"

const string = { type: "string" }
const object = { type: "object", properties: { a: string } }
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** The places at which a document is refused, or none. */
const placeOf = (document: Json | string) =>
  Effect.match(readDocument(typeof document === "string" ? document : JSON.stringify(document)), {
    onFailure: ({ pointer }) => pointer,
    onSuccess: () => undefined
  })

describe("a response", () => {
  const responses = { 200: {}, default: { $ref: "#/components/responses/Failed" } }
  const paths = { "/a": { get: { operationId: "getA", responses } } }
  const components = { responses: { Failed: {} } }

  for (const openapi of ["3.0.3", "3.1.0"]) {
    it.effect(`needs no description in ${openapi}, wherever it is`, () =>
      Effect.gen(function*() {
        const callback = { "{$request.query.url}": { post: { responses: { 200: {} } } } }
        const operation = { operationId: "getA", responses, callbacks: { done: callback } }
        const document = {
          ...documentOf({ openapi, paths: { "/a": { parameters: [], get: operation } } }),
          components: { ...components, callbacks: { done: callback } }
        }
        assert.isUndefined(yield* placeOf(document))
        if (openapi === "3.1.0") {
          const items = { a: { get: { responses } } }
          const more = { ...document, webhooks: items, components: { ...document.components, pathItems: items } }
          assert.isUndefined(yield* placeOf(more))
        }
      }))

    it.effect(`is no schema and no property called responses in ${openapi}`, () =>
      Effect.gen(function*() {
        const schemas = {
          responses: object,
          Thing: { type: "object", properties: { responses: object, callbacks: object } }
        }
        const parts: Parts = { openapi, success: { anyOf: [ref("responses"), ref("Thing")] }, schemas }
        assert.include(
          textOf(yield* generated(documentOf(parts)), "getThing.ts"),
          "responses: omittable(Schema.Struct("
        )
      }))
  }

  it.effect("that is no object is refused at its place", () =>
    Effect.gen(function*() {
      const failed = { responses: { Failed: 5 } }
      const place = yield* placeOf({ ...documentOf({ openapi: "3.0.3", paths }), components: failed })
      assert.strictEqual(place, "#/components/responses/Failed")
    }))
})

describe("a reference", () => {
  const elsewhere = { $ref: "https://example.com/Users/1" }

  it.effect("is none within an example, a default or a list of values", () =>
    Effect.gen(function*() {
      const schema = {
        type: "object",
        properties: { a: { enum: [elsewhere] }, b: { const: elsewhere }, default: string },
        default: elsewhere,
        example: { properties: { a: [elsewhere] } },
        examples: [elsewhere]
      }
      const content = { "application/json": { schema, example: elsewhere } }
      const parameters = [{ name: "a", in: "query", schema: string, examples: { one: { value: elsewhere } } }]
      const get = { parameters, responses: { 200: { description: "", content } } }
      const text = textOf(yield* generated(documentOf({ get })), "getThing.ts")
      assert.include(text, "default: omittable(Schema.String)")
    }))

  const responses = "#/paths/~1things/get/responses"
  const schema = `${responses}/200/content/application~1json/schema`
  const nothing = ref("Nothing")
  const followed: ReadonlyArray<readonly [title: string, parts: Parts, place: string]> = [
    ["a property", { success: { properties: { example: nothing } } }, `${schema}/properties/example/$ref`],
    [
      "a property of a property called properties",
      { success: { properties: { properties: { default: elsewhere, items: nothing } } } },
      `${schema}/properties/properties/items/$ref`
    ],
    ["a schema", { success: ref("enum"), schemas: { enum: nothing } }, "#/components/schemas/enum/$ref"],
    [
      "an example",
      { get: { parameters: [{ name: "a", in: "query", schema: {}, examples: { value: nothing } }] } },
      "#/paths/~1things/get/parameters/0/examples/value/$ref"
    ],
    ["a response", { get: { responses: { default: nothing } } }, `${responses}/default/$ref`],
    [
      "a header",
      { get: { responses: { 204: { description: "", headers: { const: { schema: nothing } } } } } },
      `${responses}/204/headers/const/schema/$ref`
    ]
  ]
  for (const [title, parts, place] of followed) {
    it.effect(`is one in ${title}, whatever its name`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* placeOf(documentOf({ ...parts, openapi: "3.0.3" })), place)
      }))
  }
})

describe("it refuses, with the place,", () => {
  const schema = "#/paths/~1things/get/responses/200/content/application~1json/schema"

  it.effect("a value of YAML that contains itself", () =>
    Effect.gen(function*() {
      const yaml = (schema: string) =>
        `openapi: 3.1.0\ninfo: {title: a, version: b}\npaths:\n  /a:\n    get:\n      operationId: a\n      responses: {200: {description: '', content: {application/json: {schema: ${schema}}}}}\n`
      const place = "#/paths/~1a/get/responses/200/content/application~1json/schema"
      const inField = yield* failure(yaml("&x {type: object, properties: {next: *x}}"))
      assert.strictEqual(inField.pointer, `${place}/properties/next`)
      assert.strictEqual(inField.message, `the value contains itself: use $ref (at ${place}/properties/next)`)
      const inList = yield* failure(yaml("&x {allOf: [{type: object}, *x]}"))
      assert.strictEqual(inList.pointer, `${place}/allOf/1`)
      const twice = "{type: object, properties: {a: &x {type: string}, b: *x}}"
      assert.isUndefined(yield* placeOf(yaml(twice)))
    }))

  it.effect("__proto__ as the name of a required field or of a discriminator", () =>
    Effect.gen(function*() {
      const required = yield* failure(documentOf({ success: { type: "object", required: ["a", "__proto__"] } }))
      assert.strictEqual(required.message, `a field cannot be called __proto__ (at ${schema}/required/1)`)
      const tagged = { oneOf: [ref("A")], discriminator: { propertyName: "__proto__" } }
      const { pointer } = yield* failure(documentOf({ success: tagged, schemas: { A: object } }))
      assert.strictEqual(pointer, `${schema}/discriminator/propertyName`)
    }))

  it.effect("a path with a query or a fragment, but only if its operation is asked for", () =>
    Effect.gen(function*() {
      for (const path of ["/a#b", "/a?b=1"]) {
        const operation = { operationId: "getA", responses: { 204: { description: "" } } }
        const document = documentOf({ openapi: "3.0.3", paths: { [path]: { get: operation } } })
        const { message, pointer } = yield* failure(document)
        assert.strictEqual(pointer, `#/paths/${path.replace("/", "~1")}`)
        assert.strictEqual(message, `a path cannot contain ? or # (at ${pointer})`)
        assert.lengthOf((yield* generated(document, { only: ["getThing"] })).files, 2)
      }
    }))
})
