/** Tests of the conversion to JSON Schema: what is left out, and definitions with the same name. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { isJsonObject, type Json, make, referredName } from "../../../src/tenant/docs/jsonSchema.js"

const path = "#/components/schemas"

describe("isJsonObject", () => {
  const rows: ReadonlyArray<readonly [title: string, value: Json | undefined, expected: boolean]> = [
    ["an object", { a: 1 }, true],
    ["an empty object", {}, true],
    ["null", null, false],
    ["a list", [{}], false],
    ["text", "{}", false],
    ["a number", 1, false],
    ["nothing", undefined, false]
  ]
  it.each(rows)("is right about %s", (_, value, expected) => assert.strictEqual(isJsonObject(value), expected))
})

describe("referredName", () => {
  const rows: ReadonlyArray<readonly [name: string | undefined, $ref: Json]> = [
    ["User", `${path}/User`],
    ["a/b/~c~", `${path}/a~1b~1~0c~0`],
    ["~1", `${path}/~01`],
    [undefined, { type: "string" }]
  ]
  it.each(rows)("gives %s", (name, $ref) => assert.strictEqual(referredName({ $ref }), name))

  it("gives nothing without a reference", () => assert.isUndefined(referredName({ type: "string" })))
})

describe("a converted schema", () => {
  it("has no empty lists, not even in the types of a union", () => {
    const schema = Schema.Union(Schema.Struct({ a: Schema.optional(Schema.String) }), Schema.Array(Schema.Number))
    assert.deepStrictEqual(make().convert(schema, "request"), {
      anyOf: [
        { type: "object", properties: { a: { type: "string" } }, additionalProperties: false },
        { type: "array", items: { type: "number" } }
      ]
    })
  })

  it.each([
    ["a date", Schema.DateFromSelf],
    ["a large integer", Schema.BigIntFromSelf],
    ["an option", Schema.OptionFromSelf(Schema.String)]
  ])("allows anything where JSON Schema cannot express the type: %s", (_, field: Schema.Schema.Any) => {
    const { convert, definitions } = make()
    for (const type of [field, Schema.Struct({ field })]) assert.deepStrictEqual(convert(type, "request"), {})
    assert.deepStrictEqual(definitions, {})
  })

  it("describes a class by its fields", () => {
    class Person extends Schema.Class<Person>("Person")({ name: Schema.String }) {}
    const { convert, definitions } = make()
    assert.deepStrictEqual(convert(Schema.Array(Person), "response"), {
      type: "array",
      items: { $ref: `${path}/Person` }
    })
    assert.deepStrictEqual(definitions, {
      Person: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" } },
        additionalProperties: true
      }
    })
  })

  it("allows further fields in responses only", () => {
    const { convert } = make()
    const schema = Schema.Struct({ a: Schema.String })
    const expected = { type: "object", required: ["a"], properties: { a: { type: "string" } } }
    assert.deepStrictEqual(convert(schema, "request"), { ...expected, additionalProperties: false })
    assert.deepStrictEqual(convert(schema, "response"), { ...expected, additionalProperties: true })
  })

  it("numbers other types of the same name, and the references to them", () => {
    interface Tree {
      readonly $ref: string
      readonly parent: Tree | null
      readonly children: ReadonlyArray<Tree>
    }
    const tree: Schema.Schema<Tree> = Schema.Struct({
      $ref: Schema.String.annotations({ examples: ["a"], description: "a name" }),
      parent: Schema.NullOr(Schema.suspend(() => tree)),
      children: Schema.Array(Schema.suspend(() => tree))
    }).annotations({ identifier: "Node" })
    const text = Schema.String.annotations({ identifier: "Node", description: "text" })
    const number = Schema.Number.annotations({ identifier: "Node", description: "a size" })

    const { convert, definitions } = make()
    const types: ReadonlyArray<Schema.Schema.Any> = [text, tree, text, number, Schema.Array(tree)]
    assert.deepStrictEqual(types.map((type) => convert(type, "response")), [
      { $ref: `${path}/Node` },
      { $ref: `${path}/Node2` },
      { $ref: `${path}/Node` },
      { $ref: `${path}/Node3` },
      { type: "array", items: { $ref: `${path}/Node2` } }
    ])
    assert.deepStrictEqual(definitions, {
      Node: { type: "string", description: "text" },
      Node2: {
        type: "object",
        required: ["$ref", "parent", "children"],
        properties: {
          $ref: { type: "string", examples: ["a"], description: "a name" },
          parent: { anyOf: [{ $ref: `${path}/Node2` }, { type: "null" }] },
          children: { type: "array", items: { $ref: `${path}/Node2` } }
        },
        additionalProperties: true
      },
      Node3: { type: "number", description: "a size" }
    })
  })

  it("keeps the texts, numbers and nulls of a type that it numbers", () => {
    const example = { text: "a", number: 1, none: null, list: ["b", null, 2] }
    const Same = (description: string) =>
      Schema.Unknown.annotations({ identifier: "Same", jsonSchema: { description, example } })
    const { convert, definitions } = make()
    for (const name of ["one", "other"]) convert(Same(name), "response")
    assert.deepStrictEqual(definitions, {
      Same: { description: "one", example },
      Same2: { description: "other", example }
    })
  })
})
