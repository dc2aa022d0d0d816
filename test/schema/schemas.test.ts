/** Tests the schemas that declarations are made of. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { makeJsonSchema } from "../../src/internal/schema/jsonSchema.js"
import * as Schemas from "../../src/Schemas.js"

const accepts = (schema: Schema.Schema.AnyNoContext, values: ReadonlyArray<unknown>) =>
  values.filter((value) => Schema.is(schema)(value))

const jsonSchemaOf = (schema: Schema.Schema.AnyNoContext): object => makeJsonSchema(schema, true)?.schema ?? {}

describe("a string", () => {
  it("has limits that count code points", () => {
    const schema = Schemas.string({ min: 2, max: 3 })
    assert.deepStrictEqual(accepts(schema, ["a", "ab", "😀😀😀", "abcd", "a\ud800", 5]), ["ab", "😀😀😀"])
    assert.deepStrictEqual(accepts(Schemas.string({ min: 1 }), ["", "a"]), ["a"])
  })

  it("is well-formed, whatever limits it has", () => {
    const [text, odd] = ["https://a.b", "https://a.b/\ud800"]
    const format: Schemas.Format = { name: "any", description: "any string", test: () => true }
    for (const limits of [{}, { min: 1 }, { pattern: "a" }, { format }, { max: 20, pattern: "a", format }]) {
      assert.deepStrictEqual(accepts(Schemas.string(limits), [text, odd, 5]), [text])
    }
    assert.deepInclude(jsonSchemaOf(Schemas.string({})), { type: "string", description: "a well-formed string" })
    assert.notProperty(jsonSchemaOf(Schemas.string({})), "minLength")
  })

  it("has a pattern, with Unicode if it is valid so", () => {
    assert.deepStrictEqual(accepts(Schemas.string({ pattern: "^.$" }), ["a", "😀", "ab"]), ["a", "😀"])
    assert.deepStrictEqual(accepts(Schemas.string({ pattern: "^[\\w-_]+$" }), ["a-b_", "a b"]), ["a-b_"])
  })

  it("names the limit that is not met, and has a JSON Schema", () => {
    const schema = Schemas.string({ min: 8, max: 100, pattern: "^u", format: Schemas.uri })
    assert.deepInclude(jsonSchemaOf(schema), {
      type: "string",
      minLength: 8,
      maxLength: 100,
      pattern: "^u",
      format: "uri",
      description: "a URI of 8 to 100 characters"
    })
    assert.deepInclude(jsonSchemaOf(Schemas.string({ max: 1 })), { description: "a string of at most 1 character" })
    assert.notProperty(jsonSchemaOf(Schemas.string({ min: 1 })), "maxLength")
  })

  const formats: ReadonlyArray<
    readonly [Schemas.Format, valid: ReadonlyArray<string>, invalid: ReadonlyArray<string>]
  > = [
    [Schemas.uri, ["urn:a:b", "https://a.b/c@d?e#f", "https://[::1]:8/", "https://a:b@c:8", "mailto:a@b"], [
      "a",
      "https://a b",
      "://x",
      "http://[::1/"
    ]],
    [Schemas.email, ["a@b", "a+b@c.d"], ["a", "a@b@c", "a b@c", "@b"]],
    [Schemas.hostname, ["a", "a-b.example"], ["-a", "a..b", "a_b", ""]],
    [Schemas.uuid, ["01234567-89ab-CDEF-0123-456789abcdef"], ["0123456789abcdef0123456789abcdef", "x"]],
    [
      Schemas.dateTime,
      ["2026-06-25T08:00:00Z", "2026-06-25T08:00:00.123456789+02:00", "2024-02-29t23:59:60z", "0000-02-29 00:00:00Z"],
      [
        "2026-06-25",
        "2026-13-25T08:00:00Z",
        "2026-06-25T08:00:00",
        "2026-02-30T08:00:00Z",
        "2026-06-25T24:00:00Z",
        "2026-06-25T08:60:00Z",
        "2026-06-25T08:00:61Z",
        "2026-06-25T08:00:00+24:00",
        "2026-06-25T08:00:00+02:60"
      ]
    ],
    [
      Schemas.date,
      ["2026-06-25", "2026-01-31", "2026-04-30", "2024-02-29", "2000-02-29", "0004-02-29"],
      [
        "2026-13-01",
        "2026-00-01",
        "2026-06-00",
        "2026-06-25T08:00:00Z",
        "2026-02-29",
        "2026-02-30",
        "2026-04-31",
        "2026-01-32",
        "1900-02-29"
      ]
    ],
    [Schemas.ipv4, ["0.0.0.0", "255.10.1.9", "199.249.250.99"], [
      "256.1.1.1",
      "1.1.1",
      "1.1.1.1.",
      "01.1.1.1.1",
      "01.02.03.04",
      "1.1.1.00"
    ]],
    [Schemas.ipv6, ["::", "2001:db8::1", "::ffff:1.2.3.4"], ["1::2::3", "g::", "1.2.3.4", "::1]/"]]
  ]

  for (const [format, valid, invalid] of formats) {
    it(`may be ${format.description}`, () => {
      assert.deepStrictEqual(accepts(Schemas.string({ format }), [...valid, ...invalid]), [...valid])
    })
  }
})

it("a string of any length is no URI in linear time", () => {
  for (const char of ["@", "a", ":", "%41", "/", "a@"]) {
    assert.isFalse(Schemas.uri.test(`a://${char.repeat(200_000)} `))
  }
})

describe("a number", () => {
  it("is a multiple but for what floating-point numbers cannot express", () => {
    const rows: ReadonlyArray<
      readonly [step: number, multiples: ReadonlyArray<number>, others: ReadonlyArray<number>]
    > = [
      [10_000_000_000, [0, 10_000_000_000, -30_000_000_000], [5, 10_000_000_001]],
      [1, [0, -3, 1e15], [1e-10, 0.5, 3 + 1e-12]],
      [2, [2 ** 53 - 2], [2 ** 53 - 1]],
      [0.1, [0.3, 0.7, 1.1, 1e9 + 0.3], [0.35, 1e9 + 0.35]],
      [0.01, [0.07, 4.35, 123_456_789_012.34], [0.075, 123_456_789_012.345]],
      [0.5, [1.5, 2 ** 40 + 0.5], [1.25, 2 ** 40 + 0.25]]
    ]
    for (const [multipleOf, multiples, others] of rows) {
      assert.deepStrictEqual(accepts(Schemas.number({ multipleOf }), [...multiples, ...others]), [...multiples])
    }
  })

  it("has limits", () => {
    assert.deepStrictEqual(accepts(Schemas.integer({ min: 1, max: 3 }), [0, 1, 1.5, 3, 4, 2 ** 53, "1"]), [1, 3])
    assert.deepStrictEqual(accepts(Schemas.number({ above: 1, below: 2 }), [1, 1.5, 2, Number.NaN, Infinity]), [1.5])
    assert.deepStrictEqual(accepts(Schemas.number({ multipleOf: 0.1 }), [0.3, 0.35]), [0.3])
    assert.deepInclude(jsonSchemaOf(Schemas.integer({ min: 1, max: 3 })), {
      type: "integer",
      minimum: 1,
      maximum: 3
    })
  })
})

describe("a list and an object", () => {
  it("have limits", () => {
    assert.deepStrictEqual(accepts(Schemas.array(Schema.String, { min: 1, max: 2 }), [[], ["a"], ["a", "b", "c"]]), [[
      "a"
    ]])
    assert.deepStrictEqual(accepts(Schemas.array(Schema.Unknown, { unique: true }), [[{ a: 1 }, { a: 1 }], [1, "1"]]), [
      [1, "1"]
    ])
    const same: ReadonlyArray<readonly [unknown, unknown]> = [
      [{ a: 1, b: 2 }, { b: 2, a: 1 }],
      [{ a: [{ b: 1, c: 2 }] }, { a: [{ c: 2, b: 1 }] }],
      [{ a: 1, b: undefined }, { a: 1 }]
    ]
    const different: ReadonlyArray<readonly [unknown, unknown]> = [[{ a: 1, b: 2 }, { a: 2, b: 1 }], [[1, 2], [2, 1]], [
      [{ 0: "a" }],
      [["a"]]
    ]]
    assert.deepStrictEqual(accepts(Schemas.array(Schema.Unknown, { unique: true }), [...same, ...different]), [
      ...different
    ])
    const record = Schema.Record({ key: Schema.String, value: Schema.UndefinedOr(Schema.Number) })
    assert.deepStrictEqual(
      accepts(Schemas.sized(record, { min: 1, max: 1 }), [{}, { a: 1, b: undefined }, { a: 1, b: 2 }]),
      [
        { a: 1, b: undefined }
      ]
    )
  })
})

describe("of responses", () => {
  it("known values leave others possible", () => {
    assert.deepStrictEqual(accepts(Schemas.oneOf("a", "b"), ["a", "c", 1]), ["a", "c"])
    assert.deepStrictEqual(accepts(Schemas.oneOf(1, 2), [1, 3, "1"]), [1, 3])
  })

  it("anything is possible but null", () => {
    assert.deepStrictEqual(accepts(Schemas.nonNull, [null, undefined, 0]), [undefined, 0])
  })
})
