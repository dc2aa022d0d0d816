/** Tests the errors of schemas that cannot be read, and what else is read of `components`. */
import { assert, describe, it } from "@effect/vitest"
import * as JsonValue from "../../../src/generate/read/json.js"
import { SchemaReader } from "../../../src/generate/read/schemaReader.js"
import { plain, ref, refusal, string, text } from "../support/reading.js"

const document = {
  openapi: "3.1.0",
  components: {
    schemas: {
      Text: string,
      Alias: ref("Text"),
      Described: { ...string, title: "Title", description: "Description" },
      Titled: { ...string, title: "Title" },
      Anything: true,
      A: { allOf: [ref("B")] },
      B: { allOf: [string, ref("A")] },
      Loop: { properties: { a: ref("Loop/properties/a") } }
    },
    parameters: {
      First: { $ref: "#/components/parameters/Second" },
      Second: { name: "a" },
      There: { $ref: "#/components/parameters/Back" },
      Back: { $ref: "#/components/parameters/There" }
    }
  }
}

const parameter = (name: string) => ({ $ref: `#/components/parameters/${name}` })

const newReader = () => new SchemaReader(document)

describe("a schema is refused, with the place,", () => {
  const kind = { propertyName: "kind" }
  const refused: ReadonlyArray<readonly [schema: unknown, message: string]> = [
    [5, "a schema must be an object or a boolean (at #/s)"],
    [{ maxLenght: 5 }, "the keyword maxLenght is not understood (at #/s/maxLenght)"],
    [{ "foo-x-": 5 }, "the keyword foo-x- is not understood (at #/s/foo-x-)"],
    [{ type: 5 }, "expected a name (at #/s/type)"],
    [{ type: ["string", "text"] }, "there is no type text (at #/s/type)"],
    [{ ...string, const: 5 }, "no value can match all of these schemas (at #/s/const)"],
    [{ ...string, enum: [5] }, "no value can match all of these schemas (at #/s/enum)"],
    [{ allOf: [string, { type: "number" }] }, "no value can match all of these schemas (at #/s)"],
    [{ enum: 5 }, "expected a list (at #/s/enum)"],
    [{ enum: [] }, "an enum without values accepts nothing (at #/s/enum)"],
    [{ allOf: [] }, "allOf has no schemas (at #/s/allOf)"],
    [{ oneOf: 5 }, "expected a list (at #/s/oneOf)"],
    [{ anyOf: [string, 5] }, "a schema must be an object or a boolean (at #/s/anyOf/1)"],
    [{ oneOf: [string], discriminator: 5 }, "expected an object (at #/s/discriminator)"],
    [{ anyOf: [string], discriminator: 5 }, "expected an object (at #/s/discriminator)"],
    [{ anyOf: [string], discriminator: {} }, "expected a propertyName (at #/s/discriminator)"],
    [
      { oneOf: [string], discriminator: { propertyName: "__proto__" } },
      "a field cannot be called __proto__ (at #/s/discriminator/propertyName)"
    ],
    [
      { oneOf: [string], discriminator: { ...kind, mapping: 5 } },
      "expected an object (at #/s/discriminator/mapping)"
    ],
    [{ properties: 5 }, "expected an object (at #/s/properties)"],
    [{ properties: { a: 5 } }, "a schema must be an object or a boolean (at #/s/properties/a)"],
    [{ required: 5 }, "expected a list (at #/s/required)"],
    [{ required: ["a", "__proto__"] }, "a field cannot be called __proto__ (at #/s/required/1)"],
    [{ additionalProperties: 5 }, "a schema must be an object or a boolean (at #/s/additionalProperties)"],
    [{ patternProperties: 5 }, "expected an object (at #/s/patternProperties)"],
    [{ patternProperties: { "^x": 5 } }, "a schema must be an object or a boolean (at #/s/patternProperties/^x)"],
    [
      { type: "object", unevaluatedProperties: {} },
      "only a boolean is understood here (at #/s/unevaluatedProperties)"
    ],
    [{ items: 5 }, "a schema must be an object or a boolean (at #/s/items)"],
    [{ items: [string] }, "a list of schemas is written as prefixItems (at #/s/items)"],
    [{ prefixItems: 5 }, "expected a list (at #/s/prefixItems)"],
    [{ prefixItems: [5] }, "a schema must be an object or a boolean (at #/s/prefixItems/0)"],
    [{ prefixItems: [string], items: 5 }, "a schema must be an object or a boolean (at #/s/items)"],
    [{ $ref: 5 }, "the reference 5 leads out of the document: bundle it first (at #/s/$ref)"],
    [
      { $ref: "other.yaml#/A" },
      "the reference other.yaml#/A leads out of the document: bundle it first (at #/s/$ref)"
    ],
    [ref("Nothing"), "the reference #/components/schemas/Nothing leads to nothing (at #/s/$ref)"],
    [
      ref("Loop/properties/a"),
      "the reference #/components/schemas/Loop/properties/a leads back to itself (at #/components/schemas/Loop/properties/a/$ref)"
    ]
  ]
  for (const [schema, message] of refused) {
    it(`as in ${JSON.stringify(schema)}`, () => {
      assert.strictEqual(refusal(() => newReader().read(schema, "#/s")), message)
    })
  }
})

describe("a schema of components", () => {
  it("is read once, by way of a reference, too", () => {
    const reader = newReader()
    assert.deepStrictEqual(plain(reader.component("Alias")), text())
    assert.strictEqual(reader.component("Alias"), reader.component("Text"))
    assert.strictEqual(reader.dereference({ _tag: "Ref", name: "Alias" }), reader.component("Text"))
  })

  it("is refused, with the way, if it contains itself, however often it is asked for", () => {
    const reader = newReader()
    const [a, b] = ["A", "B"].map((name) => `#/components/schemas/${name}`)
    for (const _ of ["first", "second"]) {
      assert.strictEqual(
        refusal(() => reader.component("A")),
        `the schema contains itself by way of allOf or $ref: ${a} → ${b} → ${a} (at ${a})`
      )
    }
  })

  it("has its description as comment, or else its title", () => {
    assert.deepStrictEqual(
      ["Described", "Titled", "Text", "Anything", "Nothing"].map((name) => newReader().description(name)),
      ["Description", "Title", undefined, undefined, undefined]
    )
  })
})

describe("a reference to another part", () => {
  it("leads to what is no reference, with the place of that", () => {
    assert.deepStrictEqual(newReader().resolve({ name: "a" }, "#/p"), [{ name: "a" }, "#/p"])
    assert.deepStrictEqual(newReader().resolve(parameter("First"), "#/p"), [
      { name: "a" },
      "#/components/parameters/Second"
    ])
  })

  it("is refused, with the place, if it leads to no object", () => {
    const refused: ReadonlyArray<readonly [value: unknown, message: string]> = [
      [5, "expected an object (at #/p)"],
      [parameter("Third"), "the reference #/components/parameters/Third leads to nothing (at #/p/$ref)"],
      [
        parameter("There"),
        "the reference #/components/parameters/There leads back to itself (at #/components/parameters/Back/$ref)"
      ]
    ]
    for (const [value, message] of refused) {
      assert.strictEqual(refusal(() => newReader().resolve(value, "#/p")), message)
    }
  })
})

describe("a note", () => {
  it("is kept once for each place and message", () => {
    const reader = newReader()
    for (const [pointer, message] of [["#/a", "x"], ["#/a", "y"], ["#/b", "x"], ["#/a", "x"]] as const) {
      reader.note(pointer, message)
    }
    assert.deepStrictEqual(reader.notes, [
      { pointer: "#/a", message: "x" },
      { pointer: "#/a", message: "y" },
      { pointer: "#/b", message: "x" }
    ])
  })
})

describe("parsed JSON", () => {
  it("has the keys of a pointer unescaped, if it is one within the document", () => {
    assert.deepStrictEqual(JsonValue.keysOf("#/paths/~1a~0b~01/%7Bid%7D/50%"), ["paths", "/a~b~1", "{id}", "50%"])
    assert.isUndefined(JsonValue.keysOf("other.yaml#/A"))
    assert.isUndefined(JsonValue.keysOf("#anchor"))
  })

  it("has a value at a pointer, which may go through a list, but not through a prototype", () => {
    const value = { "a/b": [{ c: 5 }] }
    assert.strictEqual(JsonValue.lookUp(value, "#/a~1b/0/c"), 5)
    for (const pointer of ["#/a~1b/1/c", "#/constructor", "#/a~1b/0/c/d", "other.yaml#/a~1b"]) {
      assert.isUndefined(JsonValue.lookUp(value, pointer))
    }
  })

  it("gives text and finite numbers, and nothing instead of anything else", () => {
    assert.deepStrictEqual(["a", 5, true].map(JsonValue.string), ["a", undefined, undefined])
    assert.deepStrictEqual([5, 0, Infinity, "5"].map(JsonValue.number), [5, 0, undefined, undefined])
  })
})
