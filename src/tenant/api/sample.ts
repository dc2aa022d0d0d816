/** Makes a value that fits a JSON Schema. The same schema always gives the same value. */
import * as Arr from "effect/Array"
import * as Predicate from "effect/Predicate"
import { isJsonObject, type Json, type JsonObject, referredName } from "../docs/jsonSchema.js"
import { textsOf } from "./pattern.js"

const formats: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T00:00:00.000Z",
  date: "2026-01-01",
  email: "user@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1"
}

const numberOf = (value: Json | undefined): number | undefined => Predicate.isNumber(value) ? value : undefined

const sampleString = ({ format, maxLength, minLength, pattern }: JsonObject): string | undefined => {
  const [min, max] = [numberOf(minLength) ?? 0, numberOf(maxLength) ?? Infinity]
  const fits = (text: string) => text.length >= min && text.length <= max
  const text = formats[String(format)] ?? "string"
  if (Predicate.isString(pattern)) {
    return new RegExp(pattern).test(text) && fits(text)
      ? text
      : textsOf(pattern, fits)[0]
  }
  return fits(text) ? text : text.padEnd(min, text).slice(0, max)
}

const sampleNumber = ({ exclusiveMaximum, exclusiveMinimum, maximum, minimum, multipleOf }: JsonObject): number => {
  const step = numberOf(multipleOf) ?? 1
  const least = numberOf(minimum) ?? (numberOf(exclusiveMinimum) ?? -Infinity) + step
  const most = numberOf(maximum) ?? (numberOf(exclusiveMaximum) ?? Infinity) - step
  return Math.min(Math.max(step, Math.ceil(least / step) * step), most)
}

/** Prefers types with known values to those with any, and everything to null. */
const rank = (schema: JsonObject): number =>
  schema.type === "null" ? 2 : "enum" in schema || "const" in schema || "$ref" in schema ? 0 : 1

const listOf = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isJsonObject) : []

/** Within this many schemas of `definitions`, optional fields are left out: those that recur by way of others grow exponentially. */
const deepest = 6

/**
 * Makes a value with every field, and one item in each list. Where a schema recurs in itself, or deep within others, optional fields
 * are left out and lists are empty. `undefined` if no value can be made.
 */
export const sample = (
  schema: JsonObject,
  definitions: JsonObject,
  open: ReadonlyArray<string> = []
): Json | undefined => {
  const of = (inner: JsonObject) => sample(inner, definitions, open)
  const name = referredName(schema)
  if (name !== undefined) {
    const definition = definitions[name]
    return open.includes(name) || !isJsonObject(definition)
      ? undefined
      : sample(definition, definitions, [...open, name])
  }
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const alternatives = [...listOf(schema.anyOf), ...listOf(schema.oneOf)]
  for (const alternative of alternatives.toSorted((a, b) => rank(a) - rank(b))) {
    const made = of(alternative)
    if (made !== undefined) return made
  }
  if (alternatives.length > 0) return undefined
  switch (schema.type ?? (isJsonObject(schema.properties) ? "object" : undefined)) {
    case "null":
      return null
    case "boolean":
      return true
    case "number":
    case "integer":
      return sampleNumber(schema)
    case "array":
      return sampleArray(schema, of)
    case "object":
      return sampleObject(schema, of, open.length >= deepest)
    default:
      return schema.not === undefined ? sampleString(schema) : undefined
  }
}

type Sample = (schema: JsonObject) => Json | undefined

const sampleArray = ({ items, minItems, prefixItems }: JsonObject, of: Sample): Json | undefined => {
  const first = [...listOf(prefixItems), ...listOf(items)].map(of)
  const rest = isJsonObject(items) ? of(items) : undefined
  const least = numberOf(minItems) ?? 0
  const more = Array.from({ length: Math.max(0, Math.max(least, 1) - first.length) }, () => rest)
  const made = Arr.takeWhile([...first, ...more], Predicate.isNotUndefined)
  return made.length < least ? undefined : made
}

const sampleObject = (
  { properties, required }: JsonObject,
  of: Sample,
  isDeep: boolean
): Json | undefined => {
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  const fields = Object.entries(isJsonObject(properties) ? properties : {})
    .filter(([name]) => !isDeep || isRequired(name))
    .map(([name, property]) => [name, isJsonObject(property) ? of(property) : undefined] as const)
  if (fields.some(([name, value]) => value === undefined && isRequired(name))) return undefined
  return Object.fromEntries(
    fields.flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const])
  )
}
