/** Checks of schemas, as the keywords of JSON Schema describe them: Effect makes values by constraints like these keywords. */
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"

/** The keywords of checks. */
interface Keywords {
  readonly type?: unknown
  readonly format?: string
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
  readonly pattern?: string | undefined
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
  readonly uniqueItems?: boolean
  readonly minProperties?: number | undefined
  readonly maxProperties?: number | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly exclusiveMinimum?: number | undefined
  readonly exclusiveMaximum?: number | undefined
  readonly multipleOf?: number | undefined
}

const defined = <A extends object>(fields: A): { readonly [x: string]: unknown } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== Infinity))

/** Patterns of formats that random strings hardly ever have. */
const formats: { readonly [format: string]: string } = { uri: "^[a-z]{3,5}://[a-z]{2,20}\\.example/[a-z0-9]{0,40}$" }

const constraintOf = (keywords: Keywords): Schema.Annotations.ToArbitrary.FilterConstraint<unknown> => {
  const { exclusiveMaximum, exclusiveMinimum, format, pattern } = keywords
  const source = pattern ?? formats[format ?? ""]
  const isNumber = format === undefined && pattern === undefined && "multipleOf" in keywords
  return defined({
    minCodePoints: keywords.minLength,
    maxCodePoints: keywords.maxLength,
    minLength: keywords.minItems,
    maxLength: keywords.maxItems,
    minProperties: keywords.minProperties,
    maxProperties: keywords.maxProperties,
    patterns: source === undefined ? undefined : [{ source, flags: "" }],
    uniqueBy: keywords.uniqueItems === true ? JSON.stringify : undefined,
    ...isNumber && {
      order: Order.Number,
      number: keywords.type === "integer" ? "integer" : "finite",
      minimum: exclusiveMinimum ?? keywords.minimum,
      exclusiveMinimum: exclusiveMinimum === undefined ? undefined : true,
      maximum: exclusiveMaximum ?? keywords.maximum,
      exclusiveMaximum: exclusiveMaximum === undefined ? undefined : true
    }
  })
}

/** Adds a check with its message, its JSON Schema and its constraint. */
export const checked = <A>(
  schema: Schema.Codec<A>,
  description: string,
  jsonSchema: Keywords,
  test: (value: A) => boolean
): Schema.Codec<A> =>
  schema.check(Schema.makeFilter((value) => test(value), {
    description,
    expected: description,
    toJsonSchema: () => defined(jsonSchema),
    arbitraryConstraint: constraintOf(jsonSchema)
  }))
