/** Tests of the limits of strings, numbers, lists and objects: how each is described, its JSON Schema, and the values at its edges. */
import { assert, describe, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import { makeJsonSchema } from "../../src/internal/schema/jsonSchema.js"
import { issuesOf } from "../../src/internal/schema/parseIssues.js"
import * as Schemas from "../../src/Schemas.js"

const fields = Schema.Record({ key: Schema.String, value: Schema.UndefinedOr(Schema.Number) })

/** The JSON Schema without its description. */
const jsonOf = (schema: Schema.Schema.AnyNoContext): object => {
  const { description: _, ...rest } = { ...makeJsonSchema(schema, true)?.schema } as Record<string, unknown> // sound: an object
  return rest
}

interface Row {
  readonly schema: Schema.Schema.AnyNoContext
  readonly json: object
  readonly accepted: ReadonlyArray<unknown>
  readonly refused: ReadonlyArray<unknown>
}

const rows: Readonly<Record<string, Row>> = {
  "a string of at most 2 characters": {
    schema: Schemas.string({ max: 2 }),
    json: { type: "string", minLength: 0, maxLength: 2 },
    accepted: ["", "ab", "\u{1F600}b"],
    refused: ["abc", "\uD800"]
  },
  "a string of at least 1 character": {
    schema: Schemas.string({ min: 1 }),
    json: { type: "string", minLength: 1 },
    accepted: ["a", "abc"],
    refused: [""]
  },
  "a string of exactly 1 character": {
    schema: Schemas.string({ min: 1, max: 1 }),
    json: { type: "string", minLength: 1, maxLength: 1 },
    accepted: ["a"],
    refused: ["", "ab"]
  },
  "a well-formed string": {
    schema: Schemas.string({}),
    json: { type: "string" },
    accepted: ["", "ab"],
    refused: ["\uDC00"]
  },
  "a date": {
    schema: Schemas.string({ format: Schemas.date }),
    json: { type: "string", format: "date" },
    accepted: ["2026-06-25"],
    refused: ["12026-06-25", "2026-06-25Z", "2026-02-30"]
  },
  "an IPv6 address": {
    schema: Schemas.string({ format: Schemas.ipv6 }),
    json: { type: "string", format: "ipv6" },
    accepted: ["::1", "::ffff:192.0.2.1"],
    refused: ["1::%eth0", "x@[::1", "::1]:8/[::1"]
  },
  "an integer": {
    schema: Schemas.integer(),
    json: { type: "integer" },
    accepted: [0, -1, 2 ** 53 - 1],
    refused: [0.5, 2 ** 53, Infinity]
  },
  "an integer of at least -1 and at most 2": {
    schema: Schemas.integer({ min: -1, max: 2 }),
    json: { type: "integer", minimum: -1, maximum: 2 },
    accepted: [-1, 2],
    refused: [-2, 3]
  },
  "a number of more than 0 and less than 1": {
    schema: Schemas.number({ above: 0, below: 1 }),
    json: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
    accepted: [0.5],
    refused: [0, 1]
  },
  "a number that is a multiple of 0.1": {
    schema: Schemas.number({ multipleOf: 0.1 }),
    json: { type: "number", multipleOf: 0.1 },
    accepted: [0, 0.3, 1, -0.7],
    refused: [0.35, 1.01, Infinity]
  },
  "a number that is a multiple of 3": {
    schema: Schemas.number({ multipleOf: 3 }),
    json: { type: "number", multipleOf: 3 },
    accepted: [0, 3, 9007199254740990],
    refused: [1, 1.5, 9007199254740991]
  },
  "a list of at least 1 item": {
    schema: Schemas.array(Schema.Number, { min: 1 }),
    json: { type: "array", items: { type: "number" }, minItems: 1 },
    accepted: [[1], [1, 1]],
    refused: [[]]
  },
  "a list of at most 2 items": {
    schema: Schemas.array(Schema.Number, { max: 2 }),
    json: { type: "array", items: { type: "number" }, minItems: 0, maxItems: 2 },
    accepted: [[], [1, 1]],
    refused: [[1, 2, 3]]
  },
  "a list of 1 to 2 items without repetition": {
    schema: Schemas.array(Schema.Number, { min: 1, max: 2, unique: true }),
    json: { type: "array", items: { type: "number" }, minItems: 1, maxItems: 2, uniqueItems: true },
    accepted: [[1], [1, 2]],
    refused: [[], [1, 1], [1, 2, 3]]
  },
  "a list without repetition": {
    schema: Schemas.array(Schema.Number, { unique: true }),
    json: { type: "array", items: { type: "number" }, minItems: 0, uniqueItems: true },
    accepted: [[], [1, 2, 3]],
    refused: [[1, 2, 1]]
  },
  "an object of at least 1 field": {
    schema: Schemas.sized(fields, { min: 1 }),
    json: { ...jsonOf(fields), minProperties: 1 },
    accepted: [{ a: 1 }, { a: 1, b: 2 }],
    refused: [{}, { a: undefined }]
  },
  "an object of at most 1 field": {
    schema: Schemas.sized(fields, { max: 1 }),
    json: { ...jsonOf(fields), minProperties: 0, maxProperties: 1 },
    accepted: [{}, { a: 1, b: undefined }],
    refused: [{ a: 1, b: 2 }]
  }
}

const accepts = (schema: Schema.Schema.AnyNoContext, values: ReadonlyArray<unknown>) => values.filter(Schema.is(schema))

describe.each(Object.entries(rows))("%s", (description, { accepted, json, refused, schema }) => {
  it("has a JSON Schema of its limits and no others", () => {
    assert.deepStrictEqual(jsonOf(schema), json)
  })

  it("accepts the values within its limits only", () => {
    assert.deepStrictEqual(accepts(schema, [...accepted, ...refused]), accepted)
  })

  it("is named where a value is refused", () => {
    const messages = refused.map((value) => {
      const result = Schema.decodeUnknownEither(schema)(value)
      return issuesOf(Either.getOrThrow(Either.flip(result)).issue).map(({ message }) => message)
    })
    assert.deepStrictEqual(messages, refused.map(() => [`expected ${description}`]))
  })
})
