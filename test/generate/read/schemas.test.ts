/** Tests the shapes that schemas are read into. */
import { assert, describe, it } from "@effect/vitest"
import { SchemaReader } from "../../../src/generate/read/schemaReader.js"
import type { Json } from "../support/documents.js"
import { number, object, plain, ref, refShape, string, text, unknown } from "../support/reading.js"

const schemas = {
  Text: string,
  Cat: { type: "object", properties: { lives: { const: 9 }, kind: string } },
  Dog: { type: "object", properties: { name: string, kind: { enum: ["dog"] } } },
  Bird: { type: "object", additionalProperties: false }
}

/** The shape of a schema, with the notes as places and messages. */
const read = (schema: unknown, openapi: string) => {
  const reader = new SchemaReader({ openapi, components: { schemas, others: { Flag: { type: "boolean" } } } })
  const shape = plain(reader.read(schema, "#/s"))
  return { shape, notes: reader.notes.map(({ message, pointer }) => `${pointer}: ${message}`) }
}

const list = (limits: Json = {}) => ({ _tag: "Array", items: unknown, unique: false, ...limits })
const tuple = (required: number, more: Json = {}) => ({ _tag: "Tuple", elements: [text(), unknown], required, ...more })
const literal = (...values: ReadonlyArray<unknown>) => ({ _tag: "Literal", values })
const union = (...branches: ReadonlyArray<unknown>) => ({ _tag: "Union", branches })
const boolean = { _tag: "Boolean" }
const integer = number({ integer: true })
const file = { _tag: "File" }
const nil = { _tag: "Null" }

/** An animal whose kind is given by a discriminator. */
const cat = (...kinds: ReadonlyArray<string>) =>
  object({ lives: literal(9), kind: literal(...kinds) }, { required: ["kind"] })
const bird = (...kinds: ReadonlyArray<string>) =>
  object({ kind: literal(...kinds) }, { required: ["kind"], additional: "closed" })
const animals = [ref("Cat"), ref("Dog"), ref("Bird"), ref("Text"), { type: "object", properties: { a: true } }]

type Row = readonly [schema: unknown, shape: unknown, notes?: ReadonlyArray<string>, openapi?: string]

const implied: ReadonlyArray<Row> = [
  [{ properties: { a: string } }, object({ a: text() })],
  [{ additionalProperties: string }, object({}, { additional: text() })],
  [{ required: ["a"] }, object({}, { required: ["a"] })],
  [{ minProperties: 1 }, object({}, { min: 1 })],
  [{ maxProperties: 1 }, object({}, { max: 1 })],
  [{ patternProperties: { "^x": string } }, object({}, { additional: unknown }), [
    "#/s/patternProperties: the patterns of names are not checked"
  ]],
  [{ items: string }, list({ items: text() })],
  [{ prefixItems: [string, true] }, tuple(0, { rest: unknown })],
  [{ minItems: 1 }, list({ min: 1 })],
  [{ maxItems: 1 }, list({ max: 1 })],
  [{ uniqueItems: true }, list({ unique: true })],
  [{ minLength: 1 }, text({ min: 1 })],
  [{ maxLength: 1 }, text({ max: 1 })],
  [{ pattern: "^a" }, text({ patterns: ["^a"] })],
  [{ format: "uri" }, text({ format: "uri" })],
  [{ contentMediaType: "image/png" }, file],
  [{ contentEncoding: "base64" }, text()],
  [{ minimum: 1 }, number({ min: 1 })],
  [{ maximum: 1 }, number({ max: 1 })],
  [{ exclusiveMinimum: 1 }, number({ above: 1 })],
  [{ exclusiveMaximum: 1 }, number({ below: 1 })],
  [{ multipleOf: 2 }, number({ multipleOf: 2 })],
  [{}, unknown]
]

const typed: ReadonlyArray<Row> = [
  [true, unknown],
  [false, { _tag: "Never" }],
  [{ type: ["string", "integer", "null"] }, union(text(), integer, nil)],
  [{ type: "boolean" }, boolean],
  [{ ...string, format: "binary" }, file],
  [{ ...string, contentMediaType: "image/png" }, file],
  [{ ...string, contentMediaType: "image/png", contentEncoding: "base64" }, text()],
  [{ ...string, minLength: 0, pattern: "(" }, text(), [
    "#/s/pattern: the pattern is no regular expression of JavaScript, so it is not checked"
  ]],
  [
    { minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: true },
    number({ above: 1, below: 9 }),
    [],
    "3.0.3"
  ],
  [
    { minimum: 1, exclusiveMinimum: false, maximum: 9, exclusiveMaximum: false },
    number({ min: 1, max: 9 }),
    [],
    "3.0.3"
  ],
  [{ ...string, nullable: true }, union(text(), nil), [], "3.0.3"],
  [{ prefixItems: [string, true], minItems: 1, maxItems: 3 }, tuple(1, { rest: unknown })],
  [{ prefixItems: [string, true], minItems: 3, items: { type: "boolean" } }, tuple(2, { rest: boolean })],
  [{ prefixItems: [string, true], maxItems: 2 }, tuple(0)],
  [{ prefixItems: [string, true], maxItems: 1 }, tuple(0)],
  [{ prefixItems: [string, true], items: false }, tuple(0)]
]

const fields: ReadonlyArray<Row> = [
  [
    { properties: { a: { ...string, readOnly: true, writeOnly: true, deprecated: true, description: "An a." } } },
    object({}, {
      fields: [{ name: "a", shape: text(), readOnly: true, writeOnly: true, deprecated: true, description: "An a." }]
    })
  ],
  [{ properties: { $ref: string } }, object({ $ref: text() })],
  [{ properties: { a: string }, additionalProperties: true }, object({ a: text() }, { additional: "open" })],
  [{ properties: { a: string }, additionalProperties: false }, object({ a: text() }, { additional: "closed" })],
  [{ properties: { a: string }, unevaluatedProperties: false }, object({ a: text() }, { additional: "closed" })],
  [{ properties: { a: string }, unevaluatedProperties: true }, object({ a: text() })],
  [{ properties: { a: string }, additionalProperties: {} }, object({ a: text() }, { additional: unknown })],
  [
    { properties: { a: string }, additionalProperties: string },
    object({ a: text() }, { additional: unknown }),
    ["#/s/additionalProperties: the types of fields without names are not checked, because other fields have names"]
  ],
  [
    { patternProperties: { "^x": string, "^y": { type: "integer" } }, additionalProperties: false },
    object({}, { additional: union(text(), integer) }),
    ["#/s/patternProperties: the patterns of names are not checked"]
  ],
  [
    { properties: { a: string }, patternProperties: { "^x": string }, additionalProperties: false },
    object({ a: text() }, { additional: unknown }),
    ["#/s/patternProperties: the patterns of names are not checked"]
  ]
]

const values: ReadonlyArray<Row> = [
  [{ enum: ["a", null, 1, "a", true] }, union(literal("a", 1, true), nil)],
  [{ enum: [null] }, nil],
  [{ const: "a" }, literal("a")],
  [{ ...string, enum: ["a", 1] }, literal("a")],
  [{ type: "object", const: {} }, object({}), ["#/s/const: values that are lists or objects are not checked"]],
  [{ enum: ["a", []] }, unknown, ["#/s/enum: values that are lists or objects are not checked"]]
]

const references: ReadonlyArray<Row> = [
  [ref("Cat"), refShape("Cat")],
  [{ ...ref("Text"), maxLength: 3 }, text({ max: 3 })],
  [{ ...ref("Text"), maxLength: 3 }, refShape("Text"), [], "3.0.3"],
  [ref("Dog/properties/name"), text()],
  [{ $ref: "#/components/others/Flag" }, boolean]
]

const combined: ReadonlyArray<Row> = [
  [{ allOf: [{ ...string, maxLength: 3 }, ref("Text"), { minLength: 1 }] }, text({ max: 3, min: 1 })],
  [{ oneOf: [ref("Cat"), ref("Text")] }, union(refShape("Cat"), refShape("Text"))],
  [
    { oneOf: animals, discriminator: { propertyName: "kind" } },
    union(cat("Cat"), refShape("Dog"), bird("Bird"), refShape("Text"), object({ a: unknown }))
  ],
  [
    {
      anyOf: [ref("Cat"), ref("Bird")],
      discriminator: { propertyName: "kind", mapping: { tom: "Cat", tit: "#/components/schemas/Bird", tiger: "Cat" } }
    },
    union(cat("tom", "tiger"), bird("tit"))
  ]
]

const unchecked = ["contains", "dependentRequired", "dependentSchemas", "maxContains", "minContains", "propertyNames"]

const comments: ReadonlyArray<Row> = [
  [
    {
      ...string,
      $anchor: "a",
      $comment: "b",
      $defs: {},
      $id: "c",
      $schema: "d",
      contentSchema: {},
      default: "e",
      definitions: {},
      deprecated: true,
      description: "f",
      example: "g",
      examples: [],
      externalDocs: {},
      title: "h",
      xml: {},
      "x-other": true
    },
    text()
  ],
  [
    Object.fromEntries(unchecked.map((name) => [name, {}])),
    unknown,
    unchecked.map((name) => `#/s/${name}: the keyword ${name} is not checked`)
  ]
]

for (
  const [subject, rows] of Object.entries({
    "a type that keywords imply": implied,
    "a type": typed,
    "the fields of an object": fields,
    "a list of values": values,
    "a reference": references,
    "schemas together": combined,
    "keywords that say nothing of types": comments
  })
) {
  describe(`it reads ${subject}`, () => {
    for (const [schema, shape, notes = [], openapi = "3.1.0"] of rows) {
      it(`of ${openapi}, as in ${JSON.stringify(schema)}`, () => {
        assert.deepStrictEqual(read(schema, openapi), { shape, notes: [...notes] })
      })
    }
  })
}
