/** What members of several operations have in common. */
import * as Schema from "effect/Schema"

/** Only surrogates make code points and code units differ. */
const codePoints = (value: string): number => /[\uD800-\uDFFF]/.test(value) ? Array.from(value).length : value.length

/** Well-formed text of so many characters (code points). */
export const text = (length: { readonly min?: number; readonly max: number }): Schema.Schema<string> => {
  const { max, min = 0 } = length
  const size = min === max ? `exactly ${max}` : min === 0 ? `at most ${max}` : `${min} to ${max}`
  return Schema.String.pipe(Schema.filter(
    (value) => {
      const count = codePoints(value)
      return count >= min && count <= max && !/\p{Cs}/u.test(value)
    },
    { description: `a string of ${size} characters`, jsonSchema: { minLength: min, maxLength: max } }
  ))
}

/** An integer that is not below `min`. */
export const integer = (min: number): Schema.Schema<number> =>
  Schema.Number.pipe(Schema.filter(
    (value) => Number.isSafeInteger(value) && value >= min,
    { description: `an integer of at least ${min}`, jsonSchema: { type: "integer", minimum: min } }
  ))

/** The identifier of an event stream or of an event: exactly 26 characters (contract: Limits). */
export const EventId = /* @__PURE__ */ text({ min: 26, max: 26 })

/** A member of an answer that may be missing. */
export const omittable = <A>(schema: Schema.Schema<A>) => Schema.optionalWith(schema, { exact: true })

/** A list in an answer. */
export const list = <A>(schema: Schema.Schema<A>) => omittable(Schema.Array(schema))

/** Text of an answer that is one of these, as far as is known. Others may come, are accepted, and show in the metric of drift. */
export const oneOf = (...known: ReadonlyArray<string>): Schema.Schema<string> =>
  Schema.Union(Schema.String, Schema.Literal(...known)).annotations({ description: "a string" })
