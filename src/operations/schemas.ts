/** Schemas that several operations share. */
import * as Schema from "effect/Schema"

/** Counts code points. Only surrogates make the count differ from `length`. */
const codePoints = (value: string): number => /[\uD800-\uDFFF]/.test(value) ? Array.from(value).length : value.length

/** A well-formed string of `min` to `max` characters, counted in code points. */
export const string = (length: { readonly min?: number; readonly max: number }): Schema.Schema<string> => {
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

/** An integer of at least `min`. */
export const integer = (min: number): Schema.Schema<number> =>
  Schema.Number.pipe(Schema.filter(
    (value) => Number.isSafeInteger(value) && value >= min,
    { description: `an integer of at least ${min}`, jsonSchema: { type: "integer", minimum: min } }
  ))

/** The id of an event stream or of an event: exactly 26 characters (contract: Limits). */
export const EventId = /* @__PURE__ */ string({ min: 26, max: 26 })

/** An optional field of a response. */
export const omittable = <A>(schema: Schema.Schema<A>) => Schema.optionalWith(schema, { exact: true })

/** An optional list of a response. */
export const list = <A>(schema: Schema.Schema<A>) => omittable(Schema.Array(schema))

/** A string of a response with known values. Other values are accepted, and the drift metric counts them. */
export const oneOf = (...known: ReadonlyArray<string>): Schema.Schema<string> =>
  Schema.Union(Schema.String, Schema.Literal(...known)).annotations({ description: "a string" })
