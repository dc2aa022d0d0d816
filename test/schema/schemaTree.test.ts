/** Tests of the schema tree: plain data that says the same as the schema. */
import { assert, describe, it } from "@effect/vitest"
import { ParseResult, Schema } from "effect"
import { fromSchema, type SchemaNode, withoutUndefined } from "../../src/internal/schema/schemaTree.js"

/** A node in short, with the nodes within it. */
const outline = (node: SchemaNode): unknown => {
  switch (node._tag) {
    case "Literal":
      return { literal: node.value }
    case "Union":
      return { union: node.types.map(outline) }
    case "Refinement":
      return { refinement: outline(node.from) }
    case "Array":
      return { elements: node.elements.map(outline), rest: node.rest.map(outline) }
    case "Struct":
      return {
        fields: node.fields.map(({ isOptional, name, type }) => [name, isOptional, outline(type)]),
        indexes: node.indexes.map(({ keys, values }) => [outline(keys), outline(values)])
      }
    default:
      return node._tag
  }
}

interface Nested {
  readonly inner?: Nested
}
const Nested: Schema.Schema<Nested> = Schema.Struct({
  inner: Schema.optionalWith(Schema.suspend(() => Nested), { exact: true })
})

describe("the schema tree", () => {
  const rows: ReadonlyArray<readonly [title: string, schema: Schema.Schema.AnyNoContext, outline: unknown]> = [
    ["a string", Schema.String, "String"],
    ["a number", Schema.Number, "Number"],
    ["a boolean", Schema.Boolean, "Boolean"],
    ["unknown", Schema.Unknown, "Unknown"],
    ["undefined", Schema.Undefined, "Undefined"],
    ["a literal", Schema.Literal("a"), { literal: "a" }],
    ["null", Schema.Null, { literal: null }],
    ["a union", Schema.Union(Schema.String, Schema.Number), { union: ["String", "Number"] }],
    ["a filter", Schema.String.pipe(Schema.minLength(1)), { refinement: "String" }],
    ["a list", Schema.Array(Schema.String), { elements: [], rest: ["String"] }],
    ["a tuple", Schema.Tuple(Schema.String, Schema.Number), { elements: ["String", "Number"], rest: [] }],
    ["a non-empty list", Schema.NonEmptyArray(Schema.String), { elements: ["String"], rest: ["String"] }],
    ["a struct", Schema.Struct({ a: Schema.String, b: Schema.optional(Schema.Number) }), {
      fields: [["a", false, "String"], ["b", true, { union: ["Number", "Undefined"] }]],
      indexes: []
    }],
    ["a record", Schema.Record({ key: Schema.String, value: Schema.Number }), {
      fields: [],
      indexes: [["String", "Number"]]
    }],
    ["a template literal", Schema.TemplateLiteral("a", Schema.Number), "Opaque"],
    ["a recursive part", Schema.suspend(() => Schema.String), "Lazy"],
    ["a transformation: its decoded type", Schema.Struct({ a: Schema.NumberFromString }), {
      fields: [["a", false, "Number"]],
      indexes: []
    }],
    [
      "a field with a default: its decoded type",
      Schema.Struct({ a: Schema.optionalWith(Schema.String, { default: () => "" }) }),
      {
        fields: [["a", false, "String"]],
        indexes: []
      }
    ]
  ]
  for (const [title, schema, expected] of rows) {
    it(`describes ${title}`, () => {
      assert.deepStrictEqual(outline(fromSchema(schema)), expected)
    })
  }

  it("is converted once, a recursive schema included", () => {
    const node = fromSchema(Nested)
    assert.strictEqual(fromSchema(Nested), node)
    const inner = node._tag === "Struct" ? node.fields[0]?.type : undefined
    assert.strictEqual(inner?._tag === "Lazy" ? inner.get() : undefined, node)
  })

  it("has the description of each part, and none where the schema has none", () => {
    const described = Schema.Struct({ a: Schema.String.annotations({ description: "a name" }) })
    const node = fromSchema(described)
    const [field] = node._tag === "Struct" ? node.fields : []
    assert.deepStrictEqual([node.description, field?.type.description], [undefined, "a name"])
    assert.strictEqual(fromSchema(Schema.String).description, "a string")
  })

  it("has the predicate of a filter", () => {
    const node = fromSchema(Schema.String.pipe(Schema.minLength(2)))
    if (node._tag !== "Refinement") return assert.fail(node._tag)
    assert.deepStrictEqual(["ab", "a"].map(node.predicate), [true, false])
  })

  it("gives each part back as a schema of the decoded type", () => {
    const node = fromSchema(Schema.Struct({ a: Schema.NumberFromString }))
    const is = ParseResult.is(node.schema)
    assert.deepStrictEqual([{ a: 1 }, { a: "1" }].map((value) => is(value)), [true, false])
  })

  it("gives a struct back with another type for one field", () => {
    const struct = Schema.Struct({ a: Schema.String, b: Schema.optionalWith(Schema.String, { exact: true }) })
    const node = fromSchema(struct)
    if (node._tag !== "Struct") return assert.fail(node._tag)
    const is = ParseResult.is(node.withField("b", Schema.Number))
    const values = [{ a: "x", b: 1 }, { a: "x" }, { a: "x", b: "y" }, { a: 1, b: 1 }]
    assert.deepStrictEqual(values.map((value) => is(value)), [true, true, false, false])
  })

  it("gives a schema back without undefined, with its annotations", () => {
    const schema = withoutUndefined(Schema.UndefinedOr(Schema.String).annotations({ identifier: "Name" }))
    assert.deepStrictEqual(["a", undefined].map((value) => ParseResult.is(schema)(value)), [true, false])
    const union = Schema.Union(Schema.String, Schema.Number, Schema.Undefined).annotations({ identifier: "Id" })
    assert.strictEqual(fromSchema(withoutUndefined(union)).name, "Id")
    assert.strictEqual(withoutUndefined(Schema.String).ast, Schema.String.ast)
  })
})
