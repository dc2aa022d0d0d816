/**
 * Schemas that declarations of operations are made of. Those of requests are strict: they check lengths, patterns, formats and
 * limits before a request is sent. Those of responses are lenient: `omittable`, `list`, `oneOf`, `openUnion` and `nonNull`.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Fields } from "./Endpoint.js"
import { beginsWithDate } from "./internal/runtime/calendar.js"
import { checked } from "./internal/schema/checked.js"
import { dateTimes, type StringGenerator, withGenerator } from "./internal/schema/generators.js"

export { File } from "./internal/schema/file.js"
export { openUnion } from "./internal/schema/openUnion.js"
export type { UnknownTag, Unrecognized } from "./internal/schema/openUnion.js"
export type { StringGenerator } from "./internal/schema/generators.js"

/** A format of strings: a name for messages, and a check. @since 0.1.0 @category models */
export interface Format {
  /** The name after `format` in JSON Schema, for example `uri`. */
  readonly name: string
  /** The words that begin a message, for example `a URI`. */
  readonly description: string
  /** Tells whether a string has the format. */
  readonly test: (value: string) => boolean
  /** Makes strings of the format for `Arbitrary.make`. Default: those among random strings, if they are not too rare. */
  readonly arbitrary?: StringGenerator
}

/** The limits of a string. @since 0.1.0 @category models */
export interface StringLimits {
  /** The least number of characters, counted in code points (default 0). */
  readonly min?: number
  /** The greatest number of characters, counted in code points (default: no limit). */
  readonly max?: number
  /** A regular expression that matches somewhere in the string. */
  readonly pattern?: string
  readonly format?: Format
}

/** Counts code points. Only surrogates make the count differ from `length`. */
const codePoints = (value: string): number => /[\uD800-\uDFFF]/.test(value) ? Array.from(value).length : value.length

/** Made once: esbuild writes it as `new RegExp` when it bundles for Node, which would run at each call. */
const loneSurrogate = /\p{Cs}/u

const words = (min: number, max: number): string =>
  min === max
    ? `exactly ${max}`
    : min === 0
    ? `at most ${max}`
    : max === Infinity
    ? `at least ${min}`
    : `${min} to ${max}`

const plural = (count: string, unit: string): string => `${count} ${unit}${/\b1$/.test(count) ? "" : "s"}`

/** Patterns of JSON Schema are Unicode-aware; some in use are valid only without that. */
const regex = (pattern: string): RegExp =>
  Either.getOrElse(Either.try(() => new RegExp(pattern, "u")), () => new RegExp(pattern))

/**
 * A string of well-formed Unicode within limits. Issues name the limit that is not met: `a string of 3 to 50 characters`.
 * @since 0.1.0 @category requests
 */
export const string = ({ format, max = Infinity, min = 0, pattern }: StringLimits): Schema.Schema<string> => {
  const size = ` of ${plural(words(min, max), "character")}`
  const isSized = min > 0 || max < Infinity
  const description = isSized ? `a string${size}` : "a well-formed string"
  const keywords = isSized ? { minLength: min, maxLength: max } : {}
  let schema: Schema.Schema<string> = checked(Schema.String, description, keywords, (value) => {
    const count = codePoints(value)
    return count >= min && count <= max && !loneSurrogate.test(value)
  })
  if (pattern !== undefined) {
    const expression = regex(pattern)
    schema = checked(schema, `a string that matches ${pattern}`, { pattern }, (value) => expression.test(value))
  }
  if (format === undefined) return schema
  const formatted = checked(
    schema,
    `${format.description}${isSized ? size : ""}`,
    { format: format.name },
    format.test
  )
  return format.arbitrary === undefined ? formatted : withGenerator(formatted, format.arbitrary)
}

/** The limits of a number. @since 0.1.0 @category models */
export interface NumberLimits {
  /** The least value. */
  readonly min?: number
  /** The greatest value. */
  readonly max?: number
  /** The value must be greater than this. */
  readonly above?: number
  /** The value must be less than this. */
  readonly below?: number
  /** The value must be a multiple of this. */
  readonly multipleOf?: number
}

/** Recognizes a multiple, as exactly as floating-point numbers allow: 0.3 is one of 0.1. Integers are exact. */
const isMultiple = (value: number, step: number): boolean => {
  if (Number.isInteger(value) && Number.isInteger(step)) return value % step === 0
  const times = value / step
  return Math.abs(times - Math.round(times)) <= Math.abs(times) * 2 ** -50
}

const limited = (
  noun: string,
  type: object,
  { above, below, max, min, multipleOf }: NumberLimits,
  test: (value: number) => boolean
): Schema.Schema<number> => {
  const limits = [
    ...min === undefined ? [] : [`at least ${min}`],
    ...max === undefined ? [] : [`at most ${max}`],
    ...above === undefined ? [] : [`more than ${above}`],
    ...below === undefined ? [] : [`less than ${below}`]
  ]
  const multiple = multipleOf === undefined ? "" : ` that is a multiple of ${multipleOf}`
  return checked(
    Schema.Number,
    `${noun}${limits.length === 0 ? "" : ` of ${limits.join(" and ")}`}${multiple}`,
    { ...type, minimum: min, maximum: max, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf },
    (value) =>
      test(value) && !(value < (min ?? value)) && !(value > (max ?? value)) &&
      (above === undefined || value > above) && (below === undefined || value < below) &&
      (multipleOf === undefined || isMultiple(value, multipleOf))
  )
}

/** A safe integer within limits. @since 0.1.0 @category requests */
export const integer = (limits: NumberLimits = {}): Schema.Schema<number> =>
  limited("an integer", { type: "integer" }, limits, Number.isSafeInteger)

/** A finite number within limits. @since 0.1.0 @category requests */
export const number = (limits: NumberLimits = {}): Schema.Schema<number> =>
  limited("a number", {}, limits, Number.isFinite)

/** The limits of a list or of an object's number of fields. @since 0.1.0 @category models */
export interface SizeLimits {
  /** The least number (default 0). */
  readonly min?: number
  /** The greatest number (default: no limit). */
  readonly max?: number
}

/** Writes JSON with the fields of objects in the order of their names. */
const canonicalJson = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, inner: unknown) =>
      Predicate.isReadonlyRecord(inner)
        ? Object.fromEntries(Object.keys(inner).sort().map((name) => [name, inner[name]]))
        : inner
  )

/** A list within limits; `unique`: no two items are equal as JSON. @since 0.1.0 @category requests */
export const array = <A>(
  item: Schema.Schema<A>,
  { max = Infinity, min = 0, unique = false }: SizeLimits & { readonly unique?: boolean }
): Schema.Schema<ReadonlyArray<A>> => {
  const size = min > 0 || max < Infinity ? ` of ${plural(words(min, max), "item")}` : ""
  return checked(
    Schema.Array(item),
    `a list${size}${unique ? " without repetition" : ""}`,
    { minItems: min, maxItems: max, ...unique && { uniqueItems: true } },
    (items) =>
      items.length >= min && items.length <= max &&
      (!unique || new Set(items.map(canonicalJson)).size === items.length)
  )
}

/** An object with a limited number of fields that are not `undefined`. @since 0.1.0 @category requests */
export const sized = <A extends object>(
  schema: Schema.Schema<A>,
  { max = Infinity, min = 0 }: SizeLimits
): Schema.Schema<A> =>
  checked(
    schema,
    `an object of ${plural(words(min, max), "field")}`,
    { minProperties: min, maxProperties: max },
    (value) => {
      const count = Object.values(value).filter((each) => each !== undefined).length
      return count >= min && count <= max
    }
  )

/** An optional field of a response. If it is `null` and its schema does not accept that, it counts as absent. @since 0.1.0 @category responses */
export const omittable = <A>(schema: Schema.Schema<A>) => Schema.optionalWith(schema, { exact: true })

/**
 * An object of a response that keeps the fields that are not declared. Its type has only those that are.
 * @since 0.1.0 @category responses
 */
export const open = <F extends Fields>(
  fields: F
): Schema.Schema<Schema.Struct.Type<F>, Schema.Struct.Encoded<F>> =>
  // Sound: an object with more fields has the type of one with fewer.
  Schema.make(Schema.Struct(fields, { key: Schema.String, value: Schema.Unknown }).ast)

/** An optional list of a response. @since 0.1.0 @category responses */
export const list = <A>(schema: Schema.Schema<A>) => omittable(Schema.Array(schema))

/**
 * A string or a number of a response with known values. Other values are accepted, and the drift metric counts them.
 * @since 0.1.0 @category responses
 */
export const oneOf = <A extends string | number>(
  ...known: ReadonlyArray<A>
): Schema.Schema<A | (A extends string ? string & {} : number & {})> => {
  const isText = typeof known[0] === "string"
  // Sound: the type is that of the known values.
  return Schema.Union(isText ? Schema.String : Schema.Number, Schema.Literal(...known))
    .annotations({ description: isText ? "a string" : "a number" }) as never
}

/** Any value of a response but `null`, which counts as absent in an optional field. @since 0.1.0 @category responses */
export const nonNull: Schema.Schema<unknown> = /* @__PURE__ */ Schema.Unknown.pipe(
  /* @__PURE__ */ Schema.filter((value): boolean => value !== null)
)

/** A URI by RFC 3986: scheme, optional authority, path, query, fragment. */
const isUri = (value: string): boolean => {
  const free = "[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2}"
  const char = `(?:${free}|@)`
  // An authority has one `@` at most.
  const host = `(?:\\[[0-9A-Fa-f:.]+\\](?::[0-9]*)?|(?:${free})*)`
  const authority = `(?://(?:(?:${free})*@)?${host}(?=[/?#]|$)|(?!//))`
  const uri = `^[A-Za-z][A-Za-z0-9+.-]*:${authority}(?:${char}|/)*(?:\\?(?:${char}|[/?])*)?(?:#(?:${char}|[/?])*)?$`
  return new RegExp(uri).test(value) && URL.canParse(value)
}

const matching = (name: string, description: string, expression: RegExp): Format => ({
  name,
  description,
  test: (value) => expression.test(value)
})

/** A URI with a scheme (RFC 3986). @since 0.1.0 @category formats */
export const uri: Format = { name: "uri", description: "a URI", test: isUri }

/** An e-mail address: two parts with an `@` between them, without spaces. @since 0.1.0 @category formats */
export const email: Format = /* @__PURE__ */ matching("email", "an e-mail address", /^[^\s@]+@[^\s@]+$/)

/** A host's name (RFC 1123). @since 0.1.0 @category formats */
export const hostname: Format = /* @__PURE__ */ matching(
  "hostname",
  "a host name",
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/
)

/** A UUID (RFC 9562), in lower or upper case. @since 0.1.0 @category formats */
export const uuid: Format = /* @__PURE__ */ matching(
  "uuid",
  "a UUID",
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
)

/** A second may be a leap second. */
const dateTimePattern =
  /^\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** A time with a date and an offset (RFC 3339), for example `2026-06-25T08:00:00Z`. @since 0.1.0 @category formats */
export const dateTime: Format = {
  name: "date-time",
  description: "a date and time",
  test: (value) => dateTimePattern.test(value) && beginsWithDate(value),
  arbitrary: dateTimes
}

/** A date (RFC 3339), for example `2026-06-25`. @since 0.1.0 @category formats */
export const date: Format = {
  name: "date",
  description: "a date",
  test: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && beginsWithDate(value)
}

/** An IPv4 address in four decimal parts without leading zeros. @since 0.1.0 @category formats */
export const ipv4: Format = /* @__PURE__ */ matching(
  "ipv4",
  "an IPv4 address",
  /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}(?<!\.)$/
)

/** An IPv6 address, without a zone. @since 0.1.0 @category formats */
export const ipv6: Format = {
  name: "ipv6",
  description: "an IPv6 address",
  test: (value) => /^[0-9A-Fa-f:.]+$/.test(value) && URL.canParse(`http://[${value}]/`)
}
