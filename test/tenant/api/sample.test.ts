/** Sample values fit their schemas, as another validator judges. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { sample } from "../../../src/tenant/api/sample.js"
import type { JsonObject } from "../../../src/tenant/docs/jsonSchema.js"

const string = { type: "string" }

const definitions: JsonObject = {
  Tree: {
    type: "object",
    required: ["name"],
    properties: {
      name: string,
      children: { type: "array", items: { $ref: "#/components/schemas/Tree" } },
      up: { $ref: "#/components/schemas/Tree" }
    }
  },
  Endless: { type: "object", required: ["next"], properties: { next: { $ref: "#/components/schemas/Endless" } } },
  List: { type: "array", minItems: 1, items: { $ref: "#/components/schemas/List" } }
}

const possible: ReadonlyArray<readonly [title: string, schema: JsonObject, value: unknown]> = [
  ["text", string, "string"],
  ["text of a length", { type: "string", minLength: 8, maxLength: 9 }, "stringst"],
  ["short text", { type: "string", maxLength: 2 }, "st"],
  ["text of a pattern that the usual text fits", { type: "string", pattern: "^[a-z]+$" }, "string"],
  ["text of a pattern that the usual text does not fit", { type: "string", pattern: "^a{2}$", maxLength: 2 }, "aa"],
  ...Object.entries({
    "date-time": "2026-01-01T00:00:00.000Z",
    date: "2026-01-01",
    email: "user@example.com",
    uri: "https://example.com/",
    url: "https://example.com/",
    uuid: "00000000-0000-4000-8000-000000000000",
    hostname: "example.com",
    ipv4: "192.0.2.1",
    ipv6: "2001:db8::1"
  }).map(([format, text]) => [`the format ${format}`, { type: "string", format }, text] as const),
  ["a number", { type: "number" }, 1],
  ["a number above a limit", { type: "number", minimum: 7.5 }, 8],
  ["a number above a limit that it must not have", { type: "number", exclusiveMinimum: 7 }, 8],
  ["a number below a limit", { type: "number", maximum: -3 }, -3],
  ["a number below a limit that it must not have", { type: "integer", exclusiveMaximum: 1 }, 0],
  ["a multiple", { type: "integer", multipleOf: 5, minimum: 6 }, 10],
  ["true", { type: "boolean" }, true],
  ["null", { type: "null" }, null],
  ["a constant", { const: "a" }, "a"],
  ["one of several values", { enum: ["b", "c"] }, "b"],
  ["a union, which is null last", { anyOf: [{ type: "null" }, string] }, "string"],
  ["a union: known values come first", { oneOf: [{ type: "number" }, { const: "x" }] }, "x"],
  [
    "a union: a definition comes first",
    { anyOf: [string, { $ref: "#/components/schemas/Tree" }] },
    { name: "string", children: [] }
  ],
  ["a union with an impossible type", { anyOf: [{ not: {} }, string] }, "string"],
  ["a union with one that allows anything", { anyOf: [true, { type: "number" }] }, 1],
  ["a list", { type: "array", items: string }, ["string"]],
  ["a list of a length", { type: "array", items: string, minItems: 2 }, ["string", "string"]],
  ["an empty list of nothing", { type: "array", items: { not: {} } }, []],
  ["a tuple", { type: "array", prefixItems: [string, { type: "number" }], minItems: 2, items: false }, ["string", 1]],
  [
    "a tuple with others behind it",
    { type: "array", prefixItems: [string], items: { type: "number" }, minItems: 2 },
    ["string", 1]
  ],
  [
    "a tuple that ends where a value is impossible",
    { type: "array", prefixItems: [string, { not: {} }, string], minItems: 1 },
    ["string"]
  ],
  ["an object", { type: "object", properties: { a: string, b: { not: {} } }, required: ["a"] }, { a: "string" }],
  ["an object whose type is not stated", { properties: { a: string } }, { a: "string" }],
  ["a tree", { $ref: "#/components/schemas/Tree" }, { name: "string", children: [] }]
]

const impossible: ReadonlyArray<readonly [title: string, schema: JsonObject]> = [
  ["nothing", { not: {} }],
  ["a union of nothing", { anyOf: [{ not: {} }] }],
  ["a field of nothing", { type: "object", properties: { a: { not: {} } }, required: ["a"] }],
  [
    "a field of nothing beside another",
    { type: "object", properties: { a: { not: {} }, b: string }, required: ["a"] }
  ],
  ["a list of something impossible", { type: "array", items: { not: {} }, minItems: 1 }],
  ["an object without end", { $ref: "#/components/schemas/Endless" }],
  ["a list without end", { $ref: "#/components/schemas/List" }],
  ["a schema that there is not", { $ref: "#/components/schemas/None" }],
  ["a pattern that no short text has", { type: "string", pattern: "^a{9}$", maxLength: 3 }]
]

describe("a sample of", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })

  for (const [title, schema, value] of possible) {
    it(title, () => {
      const made = sample(schema, definitions)
      assert.deepStrictEqual(made, value as never)
      const validate = ajv.compile({ ...schema, components: { schemas: definitions } })
      assert.isTrue(validate(made), ajv.errorsText(validate.errors))
    })
  }

  const patterns = [
    "^con_[0-9a-f]{4}(-x)?$",
    "^(?=.{1,1024}$).+\\|.+$",
    "^(?!a)[a-c(\\])]{9}(?<=[bc)])$",
    "^((?=x)x[)](?!y)|\\(z){9}$"
  ]

  for (const pattern of patterns) {
    it(`the pattern ${pattern} is the same each time, and fits`, () => {
      const schema = { type: "string", pattern, minLength: 9 }
      const made = sample(schema, definitions)
      assert.strictEqual(made, sample(schema, definitions))
      assert.isTrue(ajv.validate(schema, made), String(made))
    })
  }
})

describe("there is no sample of", () => {
  for (const [title, schema] of impossible) {
    it(title, () => assert.isUndefined(sample(schema, definitions)))
  }
})

it("leaves out optional fields deep within schemas that recur by way of others", () => {
  const names = Array.from({ length: 9 }, (_, index) => `S${index}`)
  const refer = (index: number) => ({ $ref: `#/components/schemas/S${index % names.length}` })
  const wide = Object.fromEntries(names.map((name, index) => [name, {
    type: "object",
    required: ["id"],
    properties: { id: string, a: refer(index + 1), b: refer(index + 3) }
  }]))
  const chain = Object.fromEntries(names.map((name, index) => [name, {
    type: "object",
    required: index === names.length - 1 ? [] : ["next"],
    properties: { next: refer(index + 1) }
  }]))
  const levels = (value: unknown): number =>
    typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levels)) : 0
  assert.strictEqual(levels(sample(refer(0), wide)), 6)
  assert.strictEqual(levels(sample(refer(0), chain)), 9, "required fields stay")
})
