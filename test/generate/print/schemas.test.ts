/** Tests how schemas are written: strict in requests, lenient in responses. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { documentOf, type Json } from "../support/documents.js"
import { between, boolean, list, object, printed, string } from "../support/printed.js"

/** How a schema is written in the items of a list that is returned, and of a list that is sent. */
const written = (schema: unknown) =>
  Effect.map(
    printed(documentOf({ success: list(schema), body: list(schema) })),
    (files) => ({
      response: between(files["getThing.ts"], "success: Schema.Array(", "), scope:"),
      request: between(files["createThing.ts"], "body: Schema.Array(", "), success: Schema.Unknown")
    })
  )

type Row = readonly [schema: unknown, response: string, request: string]

/** A test for each schema. */
const check = (rows: ReadonlyArray<Row>) => {
  for (const [schema, response, request] of rows) {
    it.effect(JSON.stringify(schema), () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* written(schema), { response, request })
      }))
  }
}

describe("a schema of one value or of any", () => {
  check([
    [{ type: "null" }, "Schema.Null", "Schema.Null"],
    [{ const: true }, "Schema.Boolean", "Schema.Literal(true)"],
    [{}, "Schema.Unknown", "Schema.Unknown"]
  ])
})

describe("a schema of strings", () => {
  const withFormat = (format: string) => ({ type: "string", format })
  check([
    [string, "Schema.String", "Schema.String"],
    [{ ...string, minLength: 1, maxLength: 3 }, "Schema.String", "string({ min: 1, max: 3 })"],
    [{ pattern: "^\"a\"$" }, "Schema.String", "string({ pattern: \"^\\\"a\\\"$\" })"],
    [
      { allOf: [{ pattern: "a" }, { pattern: "b", maxLength: 3 }, { pattern: "c" }] },
      "Schema.String",
      "string({ max: 3, pattern: \"a\" }).pipe(Schema.filter(Schema.is(string({ pattern: \"b\" })))).pipe(Schema.filter(Schema.is(string({ pattern: \"c\" }))))"
    ],
    ...["uri", "email", "hostname", "uuid", "date", "ipv4", "ipv6"].map((
      format
    ): Row => [withFormat(format), "Schema.String", `string({ format: ${format} })`]),
    [withFormat("date-time"), "Timestamp", "string({ format: dateTime })"],
    [withFormat("password"), "Schema.String", "Schema.String"],
    [withFormat("constructor"), "Schema.String", "Schema.String"],
    [withFormat("binary"), "Schema.String", "Schema.String"]
  ])
})

describe("a schema of numbers", () => {
  check([
    [{ type: "number" }, "Schema.Number", "Schema.Finite"],
    [{ type: "integer" }, "Schema.Number", "integer()"],
    [
      { type: "integer", minimum: 1, maximum: 9, multipleOf: 2 },
      "Schema.Number",
      "integer({ min: 1, max: 9, multipleOf: 2 })"
    ],
    [{ exclusiveMinimum: 0.5, exclusiveMaximum: 1 }, "Schema.Number", "number({ above: 0.5, below: 1 })"]
  ])
})

describe("a schema of literals", () => {
  check([
    [{ enum: ["a", "b"] }, "oneOf(\"a\", \"b\")", "Schema.Literal(\"a\", \"b\")"],
    [{ enum: [2, 1] }, "oneOf(2, 1)", "Schema.Literal(2, 1)"],
    [
      { enum: [true, "a", 1, null] },
      "Schema.NullOr(Schema.Union(oneOf(\"a\"), oneOf(1), Schema.Boolean))",
      "Schema.NullOr(Schema.Literal(true, \"a\", 1))"
    ],
    [
      { anyOf: [string, { enum: ["a"] }, { enum: ["b"] }, boolean] },
      "Schema.Union(oneOf(\"a\", \"b\"), Schema.Boolean)",
      "Schema.Union(oneOf(\"a\", \"b\"), Schema.Boolean)"
    ]
  ])
})

describe("a schema of lists", () => {
  check([
    [{ items: string }, "Schema.Array(Schema.String)", "Schema.Array(Schema.String)"],
    [{ items: string, minItems: 1 }, "Schema.Array(Schema.String)", "array(Schema.String, { min: 1 })"],
    [
      { items: string, maxItems: 3, uniqueItems: true },
      "Schema.Array(Schema.String)",
      "array(Schema.String, { max: 3, unique: true })"
    ],
    [{ items: false, maxItems: 3 }, "array(Schema.Never, { max: 0 })", "array(Schema.Never, { max: 0 })"],
    [
      { prefixItems: [string, { type: "integer" }], minItems: 1, items: boolean },
      "Schema.Tuple([Schema.String, Schema.optionalElement(Schema.Number)], Schema.Boolean)",
      "Schema.Tuple([Schema.String, Schema.optionalElement(integer())], Schema.Boolean)"
    ]
  ])
})

describe("a schema of objects", () => {
  const any = "Schema.Record({ key: Schema.String, value: Schema.Unknown })"
  const open = { ...object({ a: boolean }), additionalProperties: true }
  check([
    [{ type: "object" }, any, any],
    [
      { type: "object", additionalProperties: false },
      any,
      "Schema.Record({ key: Schema.String, value: Schema.Never })"
    ],
    [
      { additionalProperties: { type: "integer" } },
      "Schema.Record({ key: Schema.String, value: Schema.Number })",
      "Schema.Record({ key: Schema.String, value: integer() })"
    ],
    [
      open,
      "Schema.Struct({ a: omittable(Schema.Boolean) })",
      "Schema.Struct({ a: Schema.optional(Schema.Boolean) }, { key: Schema.String, value: Schema.Unknown })"
    ],
    [
      { ...open, additionalProperties: {} },
      "open({ a: omittable(Schema.Boolean) })",
      "Schema.Struct({ a: Schema.optional(Schema.Boolean) }, { key: Schema.String, value: Schema.Unknown })"
    ],
    [
      { ...open, additionalProperties: false, minProperties: 1, maxProperties: 2 },
      "Schema.Struct({ a: omittable(Schema.Boolean) })",
      "sized(Schema.Struct({ a: Schema.optional(Schema.Boolean) }), { min: 1, max: 2 })"
    ],
    [{ required: ["b"] }, any, "Schema.Struct({ b: Schema.Unknown })"],
    [
      object({ a: boolean }, "b", "a"),
      "Schema.Struct({ a: Schema.Boolean })",
      "Schema.Struct({ a: Schema.Boolean, b: Schema.Unknown })"
    ],
    [
      { required: ["b"], additionalProperties: string },
      "Schema.Record({ key: Schema.String, value: Schema.String })",
      "Schema.Struct({ b: Schema.String }, { key: Schema.String, value: Schema.String })"
    ],
    [
      object({
        any: {},
        never: false,
        list: { items: string, minItems: 1 },
        read: { ...boolean, readOnly: true },
        write: { ...boolean, writeOnly: true }
      }),
      "Schema.Struct({ any: omittable(nonNull), never: omittable(Schema.Never), list: list(Schema.String), read: omittable(Schema.Boolean) })",
      "Schema.Struct({ any: Schema.optional(Schema.Unknown), never: Schema.optional(Schema.Never), list: Schema.optional(array(Schema.String, { min: 1 })), write: Schema.optional(Schema.Boolean) })"
    ]
  ])

  it.effect("has a line for each field if one has a comment or if they are longer than 90 characters", () =>
    Effect.gen(function*() {
      const structOf = (schema: Json) =>
        Effect.map(
          printed(documentOf({ body: list(schema) })),
          (files) => /body: Schema.Array\(Schema.Struct\((.*)\)\),\nsuccess:/s.exec(files["createThing.ts"] ?? "")?.[1]
        )
      const fields = (name: string) => object({ a: boolean, [name]: boolean }, "a", name)
      const [fits, long] = ["b".repeat(51), "b".repeat(52)]
      const line = `{ a: Schema.Boolean, ${fits}: Schema.Boolean }`
      assert.strictEqual(line.length, 90)
      assert.strictEqual(yield* structOf(fields(fits)), line)
      assert.strictEqual(yield* structOf(fields(long)), `{\na: Schema.Boolean,\n${long}: Schema.Boolean\n}`)
      const described = { ...boolean, description: "Tells.", deprecated: true }
      assert.strictEqual(
        yield* structOf(object({ a: described, b: { ...boolean, deprecated: true }, "c-d": boolean }, "a", "b", "c-d")),
        "{\n/**\n * Tells.\n * @deprecated\n */\na: Schema.Boolean,\n/** @deprecated */\nb: Schema.Boolean,\n\"c-d\": Schema.Boolean\n}"
      )
    }))
})

describe("a union", () => {
  check([
    [
      { anyOf: [{ ...string, maxLength: 3 }, { ...string, minLength: 5 }, { items: string }] },
      "Schema.Union(Schema.String, Schema.Array(Schema.String))",
      "Schema.Union(string({ max: 3 }), string({ min: 5 }), Schema.Array(Schema.String))"
    ],
    [
      { anyOf: [{ ...string, format: "binary" }, { ...string, maxLength: 3 }, { type: "null" }] },
      "Schema.NullOr(Schema.String)",
      "Schema.NullOr(Schema.Union(Schema.String, string({ max: 3 })))"
    ],
    [
      {
        anyOf: [{ type: "integer" }, { type: "number", minimum: 1 }, { items: boolean, minItems: 1 }, {
          items: boolean
        }]
      },
      "Schema.Union(Schema.Number, Schema.Array(Schema.Boolean))",
      "Schema.Union(integer(), number({ min: 1 }), array(Schema.Boolean, { min: 1 }), Schema.Array(Schema.Boolean))"
    ]
  ])
})

describe("the tag of an object", () => {
  const tagged = (kind: string) => object({ kind: { const: kind } }, "kind")
  const union = { oneOf: [tagged("a"), tagged("b")] }

  const responses: ReadonlyArray<readonly [title: string, schema: unknown, response: string]> = [
    [
      "is closed in a union of objects",
      union,
      "openUnion([\"kind\"], Schema.Struct({ kind: Schema.Literal(\"a\") }), Schema.Struct({ kind: Schema.Literal(\"b\") }))"
    ],
    [
      "is closed in the items of a list",
      { items: union },
      "Schema.Array(openUnion([\"kind\"], Schema.Struct({ kind: Schema.Literal(\"a\") }), Schema.Struct({ kind: Schema.Literal(\"b\") })))"
    ],
    [
      "is closed in the elements of a tuple",
      { prefixItems: [union], items: union },
      "Schema.Tuple([Schema.optionalElement(openUnion([\"kind\"], Schema.Struct({ kind: Schema.Literal(\"a\") }), Schema.Struct({ kind: Schema.Literal(\"b\") })))], openUnion([\"kind\"], Schema.Struct({ kind: Schema.Literal(\"a\") }), Schema.Struct({ kind: Schema.Literal(\"b\") })))"
    ],
    [
      "is closed in a field",
      object({ x: union }, "x"),
      "Schema.Struct({ x: openUnion([\"kind\"], Schema.Struct({ kind: Schema.Literal(\"a\") }), Schema.Struct({ kind: Schema.Literal(\"b\") })) })"
    ],
    [
      "is closed in fields without names",
      { additionalProperties: union },
      "Schema.Record({ key: Schema.String, value: openUnion([\"kind\"], Schema.Struct({ kind: Schema.Literal(\"a\") }), Schema.Struct({ kind: Schema.Literal(\"b\") })) })"
    ],
    ["stays open in an object that stands alone", tagged("a"), "Schema.Struct({ kind: oneOf(\"a\") })"],
    [
      "stays open beside null",
      { oneOf: [tagged("a"), { type: "null" }] },
      "Schema.NullOr(Schema.Struct({ kind: oneOf(\"a\") }))"
    ],
    [
      "stays open beside a string",
      { oneOf: [tagged("a"), string] },
      "Schema.Union(Schema.Struct({ kind: oneOf(\"a\") }), Schema.String)"
    ],
    [
      "is a required field with one value only",
      {
        oneOf: [
          object({ kind: { const: "a" }, two: { enum: ["x", "y"] }, text: string }, "kind", "two", "text"),
          object({ kind: { const: "b" }, maybe: { const: "z" } }, "kind"),
          boolean
        ]
      },
      "openUnion([\"kind\"], Schema.Struct({ kind: Schema.Literal(\"a\"), two: oneOf(\"x\", \"y\"), text: Schema.String }), Schema.Struct({ kind: Schema.Literal(\"b\"), maybe: omittable(oneOf(\"z\")) }), Schema.Boolean)"
    ]
  ]
  for (const [title, schema, response] of responses) {
    it.effect(title, () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* written(schema)).response, response)
      }))
  }
})
