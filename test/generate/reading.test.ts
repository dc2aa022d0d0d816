/** Tests what a document may contain: places without a description, data that looks like a reference, and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { documentOf, failure, generated, type Json, type Parts, textOf } from "./support/documents.js"

const string = { type: "string" }
const object = { type: "object", properties: { a: string } }
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** The place at which a document is refused or, if it is not, its first operation is. */
const placeOf = (document: Json | string) =>
  Effect.match(failure(document), { onFailure: () => undefined, onSuccess: ({ pointer }) => pointer })

describe("a response", () => {
  const responses = { 200: {}, default: { $ref: "#/components/responses/Failed" } }
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

  it.effect("costs its operation if it leads to nothing, and does no harm in what is not generated", () =>
    Effect.gen(function*() {
      const nothing = ref("Nothing")
      const schema = "#/paths/~1things/get/responses/200/content/application~1json/schema"
      const broken = documentOf({ success: { properties: { example: nothing } } })
      assert.strictEqual(yield* placeOf(broken), `${schema}/properties/example/$ref`)
      const within = documentOf({ success: ref("A"), schemas: { A: { properties: { a: nothing } } } })
      assert.strictEqual(yield* placeOf(within), "#/components/schemas/A/properties/a/$ref")
      const unused = documentOf({
        get: {
          parameters: [{ name: "a", in: "query", schema: {}, examples: { value: nothing } }],
          responses: { 204: { description: "", headers: { a: { schema: nothing } } }, default: nothing }
        },
        schemas: { Unused: { properties: { a: nothing } } }
      })
      assert.isUndefined(yield* placeOf(unused))
    }))
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
