/** Tests of decoders: valid values are not copied, `null` counts as absent for optional fields, and the first issue is named. */
import { assert, describe, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import * as Decode from "../../src/internal/schema/decode.js"
import { DriftDetector } from "../../src/internal/schema/drift.js"

const optional = <A>(schema: Schema.Schema<A>) => Schema.optionalWith(schema, { exact: true })

const One = Schema.Struct({ id: Schema.String, note: optional(Schema.String) })

const A = Schema.Struct({ kind: Schema.Literal("a"), x: optional(Schema.String), y: optional(Schema.String) })
const B = Schema.Struct({ kind: Schema.Literal("b"), x: Schema.NullOr(Schema.String), y: optional(Schema.String) })
const OptionalB = Schema.Struct({ ...B.fields, x: optional(Schema.NullOr(Schema.String)) })

interface Nested {
  readonly note?: string
  readonly inner?: Nested
}
const Nested: Schema.Schema<Nested> = Schema.Struct({
  note: optional(Schema.String),
  inner: optional(Schema.suspend(() => Nested))
})

describe("a decoder", () => {
  it("returns a valid value itself, fields that the schema does not name included", () => {
    const value = { id: "1", more: null }
    assert.strictEqual(Either.getOrThrow(Decode.make(One)(value)), value)
  })

  const rows: ReadonlyArray<
    readonly [title: string, schema: Schema.Schema.AnyNoContext, value: unknown, decoded: unknown]
  > = [
    ["a struct", One, { id: "1", note: null }, { id: "1" }],
    ["a list", Schema.Array(One), [{ id: "1", note: null }, { id: "2" }], [{ id: "1" }, { id: "2" }]],
    ["a struct in a struct", Schema.Struct({ one: One }), { one: { id: "1", note: null } }, { one: { id: "1" } }],
    ["a struct with a filter", One.pipe(Schema.filter(() => true)), { id: "1", note: null }, { id: "1" }],
    ["a union", Schema.Union(Schema.Number, One), { id: "1", note: null }, { id: "1" }],
    ["a recursive schema", Nested, { note: null, inner: { note: null, inner: null } }, { inner: {} }],
    ["a literal", Schema.Struct({ kind: optional(Schema.Literal("a")) }), { kind: null }, {}],
    ["an open enumeration", Schema.Struct({ kind: optional(Schema.Union(Schema.Literal("a"), Schema.String)) }), {
      kind: null
    }, {}],
    [
      "a struct, but not where null is a value",
      Schema.Struct({ a: optional(Schema.NullOr(Schema.String)), one: One }),
      {
        a: null,
        one: { id: "1", note: null }
      },
      { a: null, one: { id: "1" } }
    ],
    ["the type of a union that the value is of", Schema.Union(A, B), { kind: "b", x: null, y: null }, {
      kind: "b",
      x: null
    }],
    [
      "a list of a union in a union, as the types that the values are of",
      Schema.NullOr(Schema.Struct({ list: Schema.Array(Schema.Union(A, OptionalB, Schema.Null)) })),
      { list: [{ kind: "b", x: null, y: null }, { kind: "a", x: null, y: null }, null] },
      { list: [{ kind: "b", x: null }, { kind: "a" }, null] }
    ],
    ["the items of a tuple", Schema.Tuple([One], A), [{ id: "1", note: null }, { kind: "a", x: null }], [{ id: "1" }, {
      kind: "a"
    }]],
    ["a list that is not empty", Schema.NonEmptyArray(One), [{ id: "1", note: null }, { id: "2", note: null }], [
      { id: "1" },
      { id: "2" }
    ]],
    [
      "a field beside a union whose value is of one of its types",
      Schema.Struct({
        note: optional(Schema.String),
        one: Schema.Union(
          Schema.Struct({ email: optional(Schema.String) }),
          Schema.Struct({ email: Schema.NullOr(Schema.String), phone: Schema.String })
        )
      }),
      { note: null, one: { email: null, phone: "1" } },
      { one: { email: null, phone: "1" } }
    ],
    ["a struct, and keeps unknown fields", One, { id: "1", note: null, more: null }, { id: "1", more: null }]
  ]
  for (const [title, schema, value, decoded] of rows) {
    it(`removes the nulls of optional fields from ${title}`, () => {
      const before = JSON.stringify(value)
      assert.deepStrictEqual<unknown>(Decode.make(schema)(value), Either.right(decoded))
      assert.strictEqual(JSON.stringify(value), before)
    })
  }

  it("keeps what no type of a union changes", () => {
    const list = [{ kind: "b", x: null }]
    const schema = Schema.Struct({ list: Schema.Array(Schema.Union(A, B)), one: One })
    const decoded = Decode.make(schema)({ list, one: { id: "1", note: null } })
    assert.deepStrictEqual<unknown>(decoded, Either.right({ list, one: { id: "1" } }))
  })

  it("copies only what it changes", () => {
    const list = [{ id: "1" }]
    const schema = Schema.Struct({ list: Schema.Array(One), lists: Schema.Array(Schema.Array(One)), one: One })
    const value = { list, lists: [list, [{ id: "2", note: null }]], one: { id: "1", note: null } }
    const decoded = Either.getOrThrow(Decode.make(schema)(value)) as typeof value // sound: a copy has its shape
    assert.strictEqual(decoded.list, list)
    assert.strictEqual(decoded.lists[0], list)
    assert.deepStrictEqual<unknown>(decoded, { list, lists: [list, [{ id: "2" }]], one: { id: "1" } })
  })

  const failures: ReadonlyArray<
    readonly [title: string, schema: Schema.Schema.AnyNoContext, value: unknown, path: string, message: string]
  > = [
    ["null in a required field", One, { id: null, note: null }, "id", "expected a string"],
    ["a missing field", One, {}, "id", "is missing"],
    ["a wrong type in a list", Schema.Array(One), [{ id: "1" }, { id: 2 }], "[1].id", "expected a string"],
    ["an object instead of a list", Schema.Array(One), {}, "", "expected a list"],
    ["a list instead of an object", One, [], "", "expected an object"],
    ["a string instead of an object", One, "x", "", "expected an object"],
    ["the first of two issues", One, { id: 1, note: 2 }, "id", "expected a string"],
    ["no type of a union", Schema.Union(Schema.String, Schema.Undefined, One), 1, "", "expected a string or an object"],
    ["a field beside a null", Schema.Union(A, B), { kind: "b", x: 1, y: null }, "x", "expected a string or null"],
    ["a field in a type of a union", Schema.Union(Schema.String, One), { id: 1 }, "id", "expected a string"],
    [
      "a filter without a description",
      Schema.Struct({ id: Schema.String.pipe(Schema.filter((id) => id !== "")) }),
      {
        id: ""
      },
      "id",
      "expected a string"
    ],
    ["a literal", Schema.Literal("a"), "b", "", "expected \"a\""]
  ]
  for (const [title, schema, value, path, message] of failures) {
    it(`names the path and the expected type: ${title}`, () => {
      assert.deepStrictEqual(Decode.make(schema)(value), Either.left({ path, message }))
    })
  }
})

describe("a value nested 20,000 levels deep", () => {
  const deep = (end: string) => JSON.parse(`${"{\"inner\":".repeat(20_000)}${end}${"}".repeat(20_000)}`)
  const issue = { path: "", message: "could not be validated, perhaps because it is nested too deep" }

  for (const end of ["{}", "1", "{\"note\":null}"]) {
    it(`fails under a recursive schema: ${end}`, () => {
      assert.deepStrictEqual(Decode.make(Nested)(deep(end)), Either.left(issue))
      assert.deepStrictEqual(Decode.make(Schema.Array(Nested))([deep(end)]), Either.left(issue))
    })
  }

  it("is returned itself where the schema does not look into it", () => {
    const value = { id: "1", inner: deep("{}") }
    assert.strictEqual(Either.getOrThrow(Decode.make(One)(value)), value)
  })

  it("counts as no type of a union where drift is detected", () => {
    const reports: Array<string> = []
    const schema = Schema.Struct({ inner: Schema.Union(Schema.Number, Schema.suspend(() => Nested)) })
    new DriftDetector(schema, (path) => reports.push(path)).inspect({ inner: deep("{}"), more: 1 }, 0, () => [])
    assert.deepStrictEqual(reports, ["more"])
  })
})
