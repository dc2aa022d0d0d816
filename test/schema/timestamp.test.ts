/** Tests of timestamps: the exact string, its time, and its order to the ninth digit. */
import { assert, describe, it, vi } from "@effect/vitest"
import { DateTime, FastCheck, Option, ParseResult } from "effect"
import { Timestamp } from "../../src/index.js"
import { makeJsonSchema } from "../../src/internal/schema/jsonSchema.js"
import { effectMajor } from "../support/effectMajor.js"

const at = (text: string) => text as Timestamp.Timestamp

const time = FastCheck.tuple(
  FastCheck.date({ min: new Date("1960-01-01T00:00:00Z"), max: new Date("2100-01-01T00:00:00Z"), noInvalidDate: true }),
  FastCheck.array(FastCheck.integer({ min: 0, max: 9 }), { maxLength: 9 })
).map(([date, digits]) => at(`${date.toISOString().slice(0, 19)}${digits.length === 0 ? "" : `.${digits.join("")}`}Z`))

const anything = FastCheck.oneof(
  time,
  FastCheck.string({ maxLength: 4 }).map(at),
  FastCheck.constantFrom(
    at("not a time"),
    at(""),
    at("2023-13-01T00:00:00Z"),
    at("Status 5"),
    at("2023-02-30T00:00:00Z"),
    at("0001-01-01T00:00:00.000Z")
  )
)

/** The nanoseconds of a valid time, computed independently of the module. */
const nanos = (self: string): bigint =>
  BigInt(Date.parse(`${self.slice(0, 19)}Z`)) * 1_000_000n + BigInt((/\.(\d+)Z$/.exec(self)?.[1] ?? "").padEnd(9, "0"))

describe("Timestamp", () => {
  it("the schema accepts any string and nothing else", () => {
    const is = ParseResult.is(Timestamp.Timestamp)
    assert.deepStrictEqual(["2023-01-25T17:42:12.004394259Z", "", "x", 7, null, undefined].map((value) => is(value)), [
      true,
      true,
      true,
      false,
      false,
      false
    ])
  })

  it("the JSON Schema is a string of format date-time", () => {
    assert.deepInclude(makeJsonSchema(Timestamp.Timestamp, true)?.schema, { type: "string", format: "date-time" })
  })

  it.skipIf(effectMajor > 3)("the schema prints as a branded string", () => {
    assert.strictEqual(String(Timestamp.Timestamp), "string & Brand<\"Timestamp\">")
  })
})

describe("make", () => {
  it("keeps the string", () => {
    const text = "2023-01-25T17:42:12.004394259Z"
    assert.strictEqual<string>(Timestamp.make(text), text)
  })
})

const dateOf = (text: string) => Option.getOrUndefined(Option.map(Timestamp.toDateTime(at(text)), DateTime.formatIso))

describe("toDateTime", () => {
  it("has millisecond precision", () => {
    assert.deepStrictEqual(
      ["2023-01-25T17:42:12.004394259Z", "2023-01-25T17:42:12.004Z", "2023-01-25T17:42:12Z"].map((text) =>
        Option.getOrThrow(Option.map(Timestamp.toDateTime(at(text)), DateTime.formatIso))
      ),
      ["2023-01-25T17:42:12.004Z", "2023-01-25T17:42:12.004Z", "2023-01-25T17:42:12.000Z"]
    )
  })

  it("is None for an invalid time", () => {
    const found = [
      "",
      "soon",
      "2023-13-45T99:00:00Z",
      "Status 5",
      "12",
      "version 2.1",
      "2023-02-30T00:00:00Z",
      "2023-04-31",
      "2023-01-25T24:30:00Z",
      "2023-01-25T10:00:00+99:99",
      "2023-01-25T10:00:00Z and more",
      "Wed, 25 Jan 2023 10:00:00 GMT"
    ].map((text) => Timestamp.toDateTime(at(text)))
    assert.deepStrictEqual(found.filter(Option.isSome), [])
  })

  it("takes each form of ISO 8601 with a date; without an offset it is UTC", () => {
    const times = [
      "2023-01-25T17:42:12Z",
      "2023-01-25t17:42:12z",
      "2023-01-25 17:42:12,000Z",
      "2023-01-25T18:42:12+01:00",
      "2023-01-25T18:42:12+0100",
      "2023-01-25T17:42:12",
      "+002023-01-25T17:42:12Z"
    ]
    assert.deepStrictEqual(times.filter((text) => dateOf(text) !== "2023-01-25T17:42:12.000Z"), [])
    assert.deepStrictEqual(["2023-01-25", "2023-01-25T17:42Z", "2024-02-29T24:00:00Z"].map(dateOf), [
      "2023-01-25T00:00:00.000Z",
      "2023-01-25T17:42:00.000Z",
      "2024-03-01T00:00:00.000Z"
    ])
  })

  it("parses only texts of the standard's form, which each runtime reads alike, with an offset", () => {
    const { parse } = Date
    const standard = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/
    const spy = vi.spyOn(Date, "parse").mockImplementation((text) => standard.test(text) ? parse(text) : NaN)
    try {
      const rows = [
        ["2023-01-25", "2023-01-25T00:00:00.000Z"],
        ["2023-01-25T17:42", "2023-01-25T17:42:00.000Z"],
        ["2023-01-25t17:42:12,5z", "2023-01-25T17:42:12.500Z"],
        ["2023-01-25 18:42:12+0130", "2023-01-25T17:12:12.000Z"],
        ["+002023-01-25T17:42:12-01:30", "2023-01-25T19:12:12.000Z"]
      ] as const
      for (const [text, expected] of rows) assert.strictEqual(dateOf(text), expected, text)
    } finally {
      spy.mockRestore()
    }
  })
})

describe("Order", () => {
  it("orders times by their nanoseconds", () => {
    FastCheck.assert(FastCheck.property(time, time, (a, b) => {
      const [x, y] = [nanos(a), nanos(b)]
      assert.strictEqual(Timestamp.Order(a, b), x < y ? -1 : x > y ? 1 : 0)
    }))
  })

  it("compares the ninth digit, and treats missing digits as zeros", () => {
    const second = "2023-01-25T17:42:12"
    assert.deepStrictEqual(
      [
        Timestamp.Order(at(`${second}.004394258Z`), at(`${second}.004394259Z`)),
        Timestamp.Order(at(`${second}.5Z`), at(`${second}.123456789Z`)),
        Timestamp.Order(at(`${second}.5Z`), at(`${second}.500000000Z`)),
        Timestamp.Order(at(`${second}Z`), at(`${second}.000000001Z`))
      ],
      [-1, 1, 0, -1]
    )
  })

  it("compares times of different zones", () => {
    assert.deepStrictEqual(
      [
        Timestamp.Order(at("2023-01-25T17:42:12.000000001Z"), at("2023-01-25T18:42:12.000000002+01:00")),
        Timestamp.Order(at("2023-01-25T17:42:12Z"), at("2023-01-25T18:42:12+01:00"))
      ],
      [-1, 0]
    )
  })

  it("puts invalid times first, in the order of their characters", () => {
    const now = "2023-01-25T17:42:12Z"
    const sorted = [now, "b?", "a?", "1960-01-01T00:00:00Z", ""].map(at).sort(Timestamp.Order)
    assert.deepStrictEqual<ReadonlyArray<string>>(sorted, ["", "a?", "b?", "1960-01-01T00:00:00Z", now])
  })

  it("agrees with toDateTime on what is a valid time, and on its zone", () => {
    const sorted = ["2023-02-27T00:00:00Z", "Status 5", "2023-02-30T00:00:00Z", "12"].map(at).sort(Timestamp.Order)
    assert.deepStrictEqual<ReadonlyArray<string>>(sorted, [
      "12",
      "2023-02-30T00:00:00Z",
      "Status 5",
      "2023-02-27T00:00:00Z"
    ])
    const times = ["2023-01-25T17:42:12", "2023-01-25t17:42:12z", "2023-01-25T17:42:12.0Z"].map(at)
    assert.deepStrictEqual(times.flatMap((a) => times.map((b) => Timestamp.Order(a, b))), Array(9).fill(0))
    assert.strictEqual(Timestamp.Order(at("2023-01-25t17:42:12.5z"), at("2023-01-25T17:42:12.4Z")), 1)
  })

  it("is antisymmetric", () => {
    FastCheck.assert(FastCheck.property(anything, anything, (a, b) => {
      assert.strictEqual(Timestamp.Order(a, b) + Timestamp.Order(b, a), 0)
    }))
  })

  it("is transitive", () => {
    FastCheck.assert(FastCheck.property(anything, anything, anything, (a, b, c) => {
      const [first, second, third] = [a, b, c].sort(Timestamp.Order) as [typeof a, typeof a, typeof a]
      assert.isAtMost(Timestamp.Order(first, second), 0)
      assert.isAtMost(Timestamp.Order(second, third), 0)
      assert.isAtMost(Timestamp.Order(first, third), 0)
    }))
  })
})
