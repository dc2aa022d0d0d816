/** Tests how the schemas of `allOf` are merged, and the types and names of what comes of it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { documentOf, failure, generated, type Json, textOf } from "./support/documents.js"

const string = { type: "string" }
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** How the field `a` of a request is written, with the notes. */
const merged = (...allOf: ReadonlyArray<Json>) =>
  Effect.map(
    generated(documentOf({ body: { type: "object", required: ["a"], properties: { a: { allOf } } } })),
    (all) => ({
      text: /payload: \{ a: (.*) \}, success:/.exec(textOf(all, "createThing.ts"))?.[1],
      notes: all.notes
    })
  )

describe("allOf", () => {
  const pointer = "#/paths/~1things/post/requestBody/content/application~1json/schema/properties/a"

  it.effect("has a note if only one of two formats or divisors is checked", () =>
    Effect.gen(function*() {
      const first = (values: string) => [{ pointer, message: `of the values ${values}, only the first is used` }]
      assert.deepStrictEqual(yield* merged({ type: "string", format: "uri" }, { type: "string", format: "email" }), {
        text: "string({ format: uri })",
        notes: first("uri and email of format")
      })
      assert.deepStrictEqual(yield* merged({ multipleOf: 2 }, { multipleOf: 3 }), {
        text: "number({ multipleOf: 2 })",
        notes: first("2 and 3 of multipleOf")
      })
      assert.deepStrictEqual(yield* merged({ ...string, format: "uri" }, { maxLength: 3 }, { format: "uri" }), {
        text: "string({ max: 3, format: uri })",
        notes: []
      })
      assert.deepStrictEqual(yield* merged({ type: "integer" }, { multipleOf: 3 }, { minimum: 3 }), {
        text: "integer({ min: 3, multipleOf: 3 })",
        notes: []
      })
    }))

  const tuples: ReadonlyArray<readonly [list: Json, tuple: Json, text: string]> = [
    [
      { type: "array", items: { ...string, maxLength: 3 } },
      { prefixItems: [{ ...string, minLength: 1 }] },
      "Schema.Tuple([Schema.optionalElement(string({ min: 1, max: 3 }))], string({ max: 3 }))"
    ],
    [
      { items: string, minItems: 1 },
      { prefixItems: [string, true] },
      "Schema.Tuple([Schema.String, Schema.optionalElement(Schema.String)], Schema.String)"
    ],
    [{ items: string, minItems: 1 }, { prefixItems: [string], items: false }, "Schema.Tuple(Schema.String)"],
    [
      { items: string, maxItems: 3, uniqueItems: true },
      { prefixItems: [string], items: false },
      "Schema.Tuple(Schema.optionalElement(Schema.String))"
    ],
    [{ maxItems: 1 }, { prefixItems: [string] }, "Schema.Tuple(Schema.optionalElement(Schema.String))"],
    [{ maxItems: 1 }, { prefixItems: [string, string] }, "Schema.Tuple(Schema.optionalElement(Schema.String))"],
    [
      { items: string },
      { prefixItems: [string, { type: "number" }, string] },
      "Schema.Tuple(Schema.optionalElement(Schema.String))"
    ],
    [{ type: "array" }, { prefixItems: [string], minItems: 1 }, "Schema.Tuple([Schema.String], Schema.Unknown)"]
  ]

  for (const [list, tuple, text] of tuples) {
    it.effect(`merges the list ${JSON.stringify(list)} with the tuple ${JSON.stringify(tuple)}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* merged(list, tuple), { text, notes: [] })
        assert.deepStrictEqual(yield* merged(tuple, list), { text, notes: [] })
      }))
  }

  it.effect("has a note on limits of a list that a tuple cannot express", () =>
    Effect.gen(function*() {
      const tuple = { prefixItems: [string, string] }
      for (const [keyword, value] of [["minItems", 3], ["maxItems", 5], ["uniqueItems", true]] as const) {
        const { notes, text } = yield* merged({ items: string, [keyword]: value }, tuple)
        assert.deepStrictEqual(notes, [{ pointer, message: `${keyword} is not checked, because the list is a tuple` }])
        assert.match(text ?? "", /Schema\.Tuple\(\[.*\].*Schema\.String/)
      }
    }))

  const impossible: ReadonlyArray<readonly [list: Json, tuple: Json]> = [
    [{ items: string }, { prefixItems: [{ type: "number" }], minItems: 1 }],
    [{ items: string, minItems: 3 }, { prefixItems: [string], items: false }],
    [{ items: string, minItems: 2 }, { prefixItems: [string, { type: "number" }] }],
    [{ items: string, minItems: 2 }, { prefixItems: [string], items: { type: "number" } }],
    [{ minItems: 2, maxItems: 1 }, { prefixItems: [string] }]
  ]
  it.effect("refuses a list with a tuple if no value matches both", () =>
    Effect.gen(function*() {
      for (const allOf of impossible) {
        const { message } = yield* failure(documentOf({ success: { allOf } }))
        assert.match(message, /^no value can match all of these schemas/)
      }
    }))

  it.effect("has no note on two alternatives that another pair expresses or that contradict each other", () =>
    Effect.gen(function*() {
      const [uri, email] = ["uri", "email"].map((format) => ({ ...string, format, maxLength: 9 }))
      assert.deepStrictEqual(yield* merged({ anyOf: [uri, email] }, { anyOf: [email, uri] }), {
        text: "Schema.Union(string({ max: 9, format: uri }), string({ max: 9, format: email }))",
        notes: []
      })
      const other = { prefixItems: [{ multipleOf: 2 }, string], minItems: 2 }
      assert.deepStrictEqual(
        yield* merged({ anyOf: [other, string] }, { anyOf: [{ items: { multipleOf: 3 } }, string] }),
        {
          text: "Schema.String",
          notes: []
        }
      )
      assert.deepStrictEqual((yield* merged({ anyOf: [uri, { type: "boolean" }] }, email ?? {})).notes, [
        { pointer, message: "of the values uri and email of format, only the first is used" }
      ])
    }))

  it.effect("merges a string with a file, which is sent as a file", () =>
    Effect.gen(function*() {
      for (const allOf of [[string, { format: "binary" }], [{ format: "binary" }, string]]) {
        const schema = { type: "object", required: ["a"], properties: { a: { allOf } } }
        const post = {
          operationId: "upload",
          requestBody: { content: { "multipart/form-data": { schema } } },
          responses: { 204: { description: "" } }
        }
        const all = yield* generated(documentOf({ paths: { "/files": { post } } }))
        assert.include(textOf(all, "upload.ts"), "multipart: { a: File }")
      }
    }))

  it.effect("leaves out the type of further fields beside fields with names, with a note", () =>
    Effect.gen(function*() {
      const fields = { type: "object", properties: { a: string, next: ref("Node") } }
      const numbers = { type: "object", additionalProperties: { type: "number" } }
      const message = "the types of fields without names are not checked, because other fields have names"
      for (const allOf of [[fields, numbers], [numbers, fields]]) {
        const all = yield* generated(documentOf({ success: ref("Node"), schemas: { Node: { allOf } } }))
        assert.include(
          textOf(all, "getThing.ts"),
          "interface Node { readonly a?: string readonly next?: Node }"
        )
        assert.deepStrictEqual(all.notes, [{ pointer: "#/components/schemas/Node", message }])
      }
      assert.deepStrictEqual(yield* merged(numbers, { additionalProperties: { minimum: 1 } }), {
        text: "Schema.Record({ key: Schema.String, value: number({ min: 1 }) })",
        notes: []
      })
    }))
})

describe("the type of a recursive schema", () => {
  it.effect("has the numbers and booleans beside a plain string, as the schema has", () =>
    Effect.gen(function*() {
      const v = { anyOf: [string, { enum: ["x"] }, { enum: [1, 2] }, { enum: ["a", true] }] }
      const schemas = { Node: { type: "object", required: ["v"], properties: { next: ref("Node"), v } } }
      const all = yield* generated(documentOf({ success: ref("Node"), body: ref("Node"), schemas }))
      assert.include(textOf(all, "getThing.ts"), "readonly v: string | number | string | boolean }")
      assert.include(textOf(all, "createThing.ts"), "readonly v: string | 1 | 2 | \"a\" | true }")
      assert.include(
        textOf(all, "getThing.ts"),
        "v: Schema.Union(oneOf(\"x\"), oneOf(1, 2), Schema.Union(oneOf(\"a\"), Schema.Boolean))"
      )
      assert.include(
        textOf(all, "createThing.ts"),
        "v: Schema.Union(oneOf(\"x\"), Schema.Literal(1, 2), Schema.Literal(\"a\", true))"
      )
    }))

  it.effect("has the type of further fields in those that are required only", () =>
    Effect.gen(function*() {
      const schemas = { Node: { type: "object", required: ["a"], additionalProperties: ref("Node") } }
      const all = yield* generated(documentOf({ body: { type: "array", items: ref("Node") }, schemas }))
      const text = textOf(all, "createThing.ts")
      assert.include(text, "interface Node { readonly a: Node readonly [name: string]: Node }")
      assert.include(text, "Schema.Struct({ a: Node }, { key: Schema.String, value: Node })")
    }))
})

describe("the name of a schema in requests", () => {
  /** The names in `createThing.ts` of schemas that differ in requests. */
  const namesOf = (...names: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const schemas = Object.fromEntries(
        names.map((name) => [name, { type: "object", properties: { [name]: { type: "integer" } } }])
      )
      const anyOf = [...names.map(ref), { type: "null" }]
      const all = yield* generated(documentOf({ success: { anyOf }, body: { anyOf }, schemas }))
      return [...textOf(all, "createThing.ts").matchAll(/export const (\w+): Schema/g)].map(([, name]) => name)
    })

  it.effect("is one that no other schema has", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* namesOf("Foo"), ["FooInput"])
      assert.deepStrictEqual(yield* namesOf("Foo", "FooInput"), ["FooRequestInput", "FooInputInput"])
      assert.deepStrictEqual(
        yield* namesOf("Foo", "FooInput", "FooRequestInput"),
        ["FooRequestRequestInput", "FooInputInput", "FooRequestInputInput"]
      )
      assert.deepStrictEqual(
        yield* namesOf("Foo", "FooInput", "FooRequest"),
        ["FooRequestInput", "FooInputInput", "FooRequestRequestInput"]
      )
      assert.deepStrictEqual(yield* namesOf("Foo", "FOOINPUT"), ["FooRequestInput", "FOOINPUTInput"])
    }))
})
