/** Checks of schemas, as the keywords of JSON Schema describe them: Effect makes values by these keywords. */
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"

type Keywords = Readonly<Record<string, unknown>>

const defined = (keywords: Keywords): Keywords =>
  Object.fromEntries(Object.entries(keywords).filter(([, value]) => value !== undefined && value !== Infinity))

/** Patterns of formats that random strings hardly ever have. */
const formats: Keywords = { uri: "^[a-z]{3,5}://[a-z]{2,20}\\.example/[a-z0-9]{0,40}$" }

const constraintOf = (keywords: Keywords): Schema.Annotations.ToArbitrary.FilterConstraint<unknown> => {
  const { exclusiveMaximum, exclusiveMinimum, format, maxItems, maxLength, minItems, minLength, type } = keywords
  const { pattern: source = formats[String(format)], uniqueItems, ...others } = keywords
  return defined({
    ...others,
    minCodePoints: minLength,
    maxCodePoints: maxLength,
    minLength: minItems,
    maxLength: maxItems,
    patterns: source && [{ source, flags: "" }],
    uniqueBy: uniqueItems && JSON.stringify,
    ...("multipleOf" in keywords && { order: Order.Number, number: type === "integer" ? type : "finite" }),
    ...(exclusiveMinimum !== undefined && { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(exclusiveMaximum !== undefined && { maximum: exclusiveMaximum, exclusiveMaximum: true })
  })
}

/** Adds a check with its message and its JSON Schema. */
export const checked = <A>(
  schema: Schema.Codec<A>,
  description: string,
  jsonSchema: Keywords,
  test: (value: A) => boolean
): Schema.Codec<A> =>
  schema.pipe(
    Schema.check(Schema.makeFilter((value) => test(value), {
      description,
      expected: description,
      toJsonSchema: () => defined(jsonSchema),
      arbitraryConstraint: constraintOf(jsonSchema)
    }))
  )
