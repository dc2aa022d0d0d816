/** The check of an answer agrees with the schema's own, whatever the answer is. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, FastCheck, ParseResult, Schema } from "effect"
import { promised } from "../src/internal/promised.js"
import { operations } from "./support/operations.js"

/** A value, and perhaps some member of it, at any depth, replaced or gone. */
const damaged = (value: unknown, at: ReadonlyArray<number>, by: unknown): unknown => {
  const [first, ...rest] = at
  if (first === undefined) return by
  if (typeof value !== "object" || value === null) return value
  const keys = Object.keys(value)
  const key = keys[first % (keys.length + 1)] ?? "more"
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
  const inner = damaged(copy[key], rest, by)
  if (inner === gone) delete copy[key]
  else copy[key] = inner
  return copy
}

const gone = Symbol("gone")
const anything = FastCheck.oneof(
  FastCheck.constantFrom(gone, undefined, null, "", 0, NaN, [], {}),
  FastCheck.jsonValue()
)
const schemas: ReadonlyArray<readonly [string, Schema.Schema.AnyNoContext]> = [
  ...operations.flatMap(({ endpoint: { name, success } }) => success === undefined ? [] : [[name, success] as const]),
  [
    "other kinds",
    Schema.Struct({
      union: Schema.Union(Schema.String, Schema.Struct({ a: Schema.optional(Schema.Literal("b")) })),
      pair: Schema.Tuple(Schema.Number, Schema.optionalElement(Schema.String)),
      record: Schema.Record({ key: Schema.String, value: Schema.Number }),
      short: Schema.NonEmptyArray(Schema.String.pipe(Schema.maxLength(3))),
      none: Schema.Struct({}),
      more: Schema.Struct({ a: Schema.UndefinedOr(Schema.String) }, { key: Schema.String, value: Schema.Unknown })
    })
  ]
]

describe("a check", () => {
  for (const [name, schema] of schemas) {
    it(`agrees with the schema: ${name}`, () => {
      const [check, is] = [promised(schema), ParseResult.is(schema)]
      const verdicts = new Set<boolean>()
      FastCheck.assert(
        FastCheck.property(
          Arbitrary.make(Schema.typeSchema(schema)),
          FastCheck.array(FastCheck.nat(20), { maxLength: 5 }),
          anything,
          (good, at, by) => {
            assert.isTrue(check(good))
            const value = damaged(good, at, by)
            verdicts.add(is(value))
            assert.strictEqual(check(value), is(value))
          }
        ),
        { numRuns: 500 }
      )
      assert.strictEqual(verdicts.size, 2)
    })
  }
})
