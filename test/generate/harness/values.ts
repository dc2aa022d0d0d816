/** Makes values of a document's schemas: with every field, with the required ones, of each type of a union, at the limits. */
import { Ajv2020 } from "ajv/dist/2020.js"
import { textsOf } from "../../../src/tenant/api/pattern.js"
import { isObject, type Json, type JsonObject, listOf, objectOf, resolve } from "./document.js"

/** The part of a request or response that a value is for. Texts in a path or a header cannot be everything. */
export type Use = "path" | "query" | "header" | "body" | "response"

/** The greatest number of values of a schema within another, and of a whole one. */
const [inner, outer] = [8, 24]

/** A recursive schema is used in itself this often. */
const levels = 3

/** Within this many recursive schemas, what leads to a further one is left out where it can be: its values grow exponentially. */
const deepest = 4

/** The references in a schema. */
const refsIn = (value: Json): ReadonlyArray<string> =>
  Array.isArray(value)
    ? value.flatMap(refsIn)
    : !isObject(value)
    ? []
    : Object.entries(value).flatMap(([name, each]) => name === "$ref" ? [String(each)] : refsIn(each))

const formats: Readonly<Record<string, ReadonlyArray<string>>> = {
  "date-time": ["2026-06-25T08:00:00.123456789Z", "2026-06-25T08:00:00Z", "2026-06-25T10:00:00+02:00"],
  date: ["2026-06-25", "2024-02-29"],
  email: ["ada.lovelace+x@mail.example.com", "a@b.example"],
  uri: ["https://example.com/a%20b?c=d#e", "urn:example:a"],
  url: ["https://example.com/a?b=c"],
  uuid: ["0f8fad5b-d9cb-469f-a165-70867728950e"],
  hostname: ["a.example.com", "x"],
  ipv4: ["192.0.2.1"],
  ipv6: ["2001:db8::1"]
}

/** What tells a format from others, roughly: a string that is one of two formats fits exactly one. */
const formatPatterns: Record<string, RegExp> = {
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  email: /^[^@\s]+@[^@\s]+$/,
  uri: /^[a-z][a-z\d+.-]*:\S+$/i,
  uuid: /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i,
  hostname: /^[a-z\d-]+(?:\.[a-z\d-]+)*$/i,
  ipv4: /^\d+(?:\.\d+){3}$/,
  ipv6: /^[\da-f]*:[\da-f:]+$/i
}

const alphabets: Readonly<Record<Use, string>> = {
  path: "a b/é漢🙂%?#&=+;:@|~",
  query: "a b/é漢🙂%?#&=+;:@|~",
  header: "token/1; a=\"b\",c",
  body: "a b/é漢🙂\"\\\n%?&=+<>~",
  response: "a b/é漢🙂\"\\\n%?&=+<>~"
}

const numberOf = (value: Json | undefined): number | undefined => typeof value === "number" ? value : undefined

const uniqueBy = <A>(
  values: ReadonlyArray<A>
): ReadonlyArray<A> => [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]

/** Takes from each list in turn, so that the first of all lists come first. */
const interleave = <A>(lists: ReadonlyArray<ReadonlyArray<A>>): ReadonlyArray<A> => {
  const length = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length }, (_, index) => lists.flatMap((list) => index < list.length ? [list[index]!] : [])).flat()
}

/** A text of this many characters. */
const text = (length: number, use: Use): string => {
  const letters = [...alphabets[use]]
  const made = Array.from({ length }, (_, index) => letters[index % letters.length]).join("")
  return use === "header" ? made.replace(/[ ;,]$/, "x") : made
}

const strings = ({ format, maxLength, minLength, pattern }: JsonObject, use: Use): ReadonlyArray<string> => {
  const least = Math.max(numberOf(minLength) ?? 0, use === "path" || use === "header" ? 1 : 0)
  const most = numberOf(maxLength) ?? Infinity
  const fits = (value: string) => {
    const count = [...value].length
    return count >= least && count <= most && !/\p{Cs}/u.test(value) &&
      (typeof pattern !== "string" || new RegExp(pattern).test(value)) &&
      (use !== "path" || !/^\.{1,2}$/.test(value)) && (use !== "header" || /^[!-~](?:[ -~]*[!-~])?$/.test(value))
  }
  const known = (formats[String(format)] ?? []).filter(fits)
  if (known.length > 0) return known
  if (typeof pattern === "string") {
    const lengths = [least, most].filter((length) => length < 500)
    const texts = [...lengths, 8].flatMap((length) => ["a", "A", "1"].map((letter) => letter.repeat(length)))
    return uniqueBy([...textsOf(pattern, fits, 300).slice(0, 3), ...texts.filter(fits)]).slice(0, 4)
  }
  const lengths = [Math.min(Math.max(least, 12), most), least, ...(most <= 3000 ? [most] : [])]
  return uniqueBy(lengths.map((length) => text(length, use)).filter(fits))
}

const numbers = (schema: JsonObject, isInteger: boolean): ReadonlyArray<number> => {
  const step = numberOf(schema["multipleOf"]) ?? (isInteger ? 1 : 0.5)
  const above = schema["exclusiveMinimum"] === true ? numberOf(schema["minimum"]) : numberOf(schema["exclusiveMinimum"])
  const below = schema["exclusiveMaximum"] === true ? numberOf(schema["maximum"]) : numberOf(schema["exclusiveMaximum"])
  const least = Math.max(numberOf(schema["minimum"]) ?? -Infinity, above === undefined ? -Infinity : above + step)
  const most = Math.min(numberOf(schema["maximum"]) ?? Infinity, below === undefined ? Infinity : below - step)
  const onStep = (value: number) => Math.round(value / step) * step
  return uniqueBy(
    [onStep(Math.min(Math.max(7 * step, least), most)), least, most, 0, -step]
      .filter((value) => Number.isFinite(value) && value >= least && value <= most)
  ).slice(0, 4)
}

/** Joins the parts of an `allOf`, or a schema with an alternative of its union. */
const merge = (a: JsonObject, b: JsonObject): JsonObject => {
  const properties: Record<string, Json> = { ...objectOf(a["properties"]) }
  for (const [name, property] of Object.entries(objectOf(b["properties"]))) {
    properties[name] = name in properties ? { allOf: [properties[name]!, property] } : property
  }
  const required = uniqueBy([...listOf(a["required"]), ...listOf(b["required"])])
  const both = (name: string, choose: (...values: ReadonlyArray<number>) => number) => {
    const values = [a[name], b[name]].filter((value) => typeof value === "number")
    return values.length === 0 ? {} : { [name]: choose(...values) }
  }
  const [enumA, enumB] = [a["enum"], b["enum"]]
  return {
    ...a,
    ...b,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(enumA !== undefined && enumB !== undefined && {
      enum: listOf(enumA).filter((value) =>
        listOf(enumB).some((other) => JSON.stringify(other) === JSON.stringify(value))
      )
    }),
    ...both("minLength", Math.max),
    ...both("minimum", Math.max),
    ...both("minItems", Math.max),
    ...both("minProperties", Math.max),
    ...both("maxLength", Math.min),
    ...both("maximum", Math.min),
    ...both("maxItems", Math.min),
    ...both("maxProperties", Math.min)
  }
}

const without = (schema: JsonObject, ...names: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)))

export class Values {
  private readonly checks = new Map<string, (value: unknown) => boolean>()
  private readonly ajv = new Ajv2020({ strict: false, formats: formatPatterns, logger: false })

  private readonly document: JsonObject
  private readonly recursive = new Map<string, boolean>()

  constructor(document: JsonObject) {
    this.document = document
  }

  /** Tells whether a schema contains itself, by way of others too. */
  private isRecursive($ref: string): boolean {
    const known = this.recursive.get($ref)
    if (known !== undefined) return known
    const reached = new Set<string>()
    const visit = (name: string): void => {
      for (const next of refsIn(resolve(this.document, { $ref: name })).filter((next) => !reached.has(next))) {
        reached.add(next)
        visit(next)
      }
    }
    visit($ref)
    this.recursive.set($ref, reached.has($ref))
    return reached.has($ref)
  }

  /** Tells whether a schema leads deeper than values should be. */
  private isTooDeep(schema: JsonObject, open: ReadonlyArray<string>): boolean {
    return open.filter((name) => this.isRecursive(name)).length >= deepest &&
      refsIn(schema).some((name) => this.isRecursive(name))
  }

  /** Checks a value with a validator of JSON Schema. Where that cannot read the schema, everything is valid. */
  isValid(schema: JsonObject, value: unknown): boolean {
    const key = JSON.stringify(schema)
    const compile = () => {
      try {
        return this.ajv.compile({ ...schema, components: this.document["components"] ?? {} })
      } catch {
        return () => true
      }
    }
    const check = this.checks.get(key) ?? compile()
    this.checks.set(key, check)
    return check(value)
  }

  /** Values that fit the schema: the first has every field, the second only what is required. */
  of(schema: JsonObject, use: Use): ReadonlyArray<Json> {
    return uniqueBy(this.make(schema, use, [], outer)).filter((value) => this.isValid(schema, value)).slice(0, outer)
  }

  private make(given: JsonObject, use: Use, open: ReadonlyArray<string>, limit: number): ReadonlyArray<Json> {
    const { $ref } = given
    if (typeof $ref === "string") {
      if (open.filter((name) => name === $ref).length >= levels) return []
      const target = resolve(this.document, { $ref })
      const siblings = without(given, "$ref", "description", "title", "x-release-lifecycle")
      return this.make(
        Object.keys(siblings).length === 0 ? target : merge(target, siblings),
        use,
        [...open, $ref],
        limit
      )
    }
    if (given["nullable"] === true) {
      const values = this.make(without(given, "nullable"), use, open, limit)
      return use === "query" || use === "path" || use === "header" ? values : [...values.slice(0, limit - 1), null]
    }
    if (given["allOf"] !== undefined) {
      const parts = listOf(given["allOf"]).map(objectOf)
      const refs = parts.flatMap((part) => typeof part["$ref"] === "string" ? [part["$ref"]] : [])
      if (refs.some((name) => open.filter((other) => other === name).length >= levels)) return []
      const whole = parts.map((part) => resolve(this.document, part)).reduce(merge, without(given, "allOf"))
      return this.make(whole, use, [...open, ...refs], limit)
    }
    if (given["const"] !== undefined) return [given["const"]]
    if (given["enum"] !== undefined) return listOf(given["enum"]).slice(0, limit)
    const alternatives = [...listOf(given["oneOf"]), ...listOf(given["anyOf"])].map(objectOf)
    if (alternatives.length > 0) {
      const rest = without(given, "oneOf", "anyOf", "discriminator")
      const joined = alternatives.map((each) =>
        Object.keys(rest).some((name) => name !== "description" && (name !== "type" || each["type"] === undefined))
          ? { allOf: [rest, each] }
          : each
      )
      return interleave(joined.map((each) => this.make(each, use, open, limit))).slice(0, limit)
    }
    const { type } = given
    if (Array.isArray(type)) {
      return interleave(type.map((each) => this.make({ ...given, type: each }, use, open, limit))).slice(0, limit)
    }
    return this.ofType(given, use, open, limit)
  }

  private ofType(schema: JsonObject, use: Use, open: ReadonlyArray<string>, limit: number): ReadonlyArray<Json> {
    const implied = schema["properties"] !== undefined || schema["additionalProperties"] !== undefined
      ? "object"
      : schema["items"] !== undefined || schema["prefixItems"] !== undefined
      ? "array"
      : schema["format"] !== undefined || schema["pattern"] !== undefined
      ? "string"
      : undefined
    switch (schema["type"] ?? implied) {
      case "null":
        return use === "query" || use === "path" || use === "header" ? [] : [null]
      case "boolean":
        return [true, false]
      case "integer":
        return numbers(schema, true)
      case "number":
        return numbers(schema, false)
      case "string":
        return strings(schema, use)
      case "array":
        return this.arrays(schema, use, open)
      case "object":
        return this.objects(schema, use, open, limit)
      default:
        return use === "response" || use === "body" ? [{ any: ["thing", 1, null] }, "text", 1.5] : ["text"]
    }
  }

  private arrays(schema: JsonObject, use: Use, open: ReadonlyArray<string>): ReadonlyArray<Json> {
    const first = listOf(schema["prefixItems"]).map((each) => this.make(objectOf(each), use, open, 1).slice(0, 1))
    if (first.some((values) => values.length === 0)) return []
    const prefix = first.flat()
    const { items } = schema
    const isNone = items === false || (!(Number(schema["minItems"]) > 0) && this.isTooDeep(objectOf(items), open))
    const of = isNone ? [] : this.make(objectOf(items), use, open, inner)
    const least = Math.max(numberOf(schema["minItems"]) ?? 0, use === "query" ? 1 : 0)
    const most = numberOf(schema["maxItems"]) ?? Infinity
    const sized = (count: number) => [
      ...prefix,
      ...Array.from({ length: Math.max(0, count - prefix.length) }, (_, index) => of[index % of.length]!)
    ]
    if (of.length === 0) return prefix.length >= least ? [prefix] : []
    const some = Math.min(Math.max(least, prefix.length + 2), most)
    const counts = [
      some,
      least,
      Math.min(Math.max(least, prefix.length + of.length), most),
      ...(most <= 60 ? [most] : [])
    ]
    return uniqueBy(
      counts.map(sized).filter((list) => schema["uniqueItems"] !== true || uniqueBy(list).length === list.length)
    )
  }

  private objects(schema: JsonObject, use: Use, open: ReadonlyArray<string>, limit: number): ReadonlyArray<Json> {
    const required = listOf(schema["required"]).map(String)
    const hidden = use === "response" ? "writeOnly" : "readOnly"
    const properties = Object.entries(objectOf(schema["properties"])).map(([name, value]) =>
      [name, objectOf(value)] as const
    )
      .filter(([, property]) => resolve(this.document, property)[hidden] !== true && property[hidden] !== true)
    const fields = properties.map(([name, property]) => ({
      name,
      values: !required.includes(name) && this.isTooDeep(property, open) ? [] : this.make(property, use, open, inner),
      isRequired: required.includes(name)
    }))
    if (fields.some(({ isRequired, values }) => isRequired && values.length === 0)) return []
    const extra = this.extra(schema, use, open)
    const present = fields.filter(({ values }) => values.length > 0)
    const full: JsonObject = Object.fromEntries([
      ...present.map(({ name, values }) => [name, values[0]!] as const),
      ...extra
    ])
    const minimal: JsonObject = Object.fromEntries(
      present.filter(({ isRequired }) => isRequired).map(({ name, values }) => [name, values[1] ?? values[0]!] as const)
    )
    const least = numberOf(schema["minProperties"]) ?? 0
    const filled = Object.entries(full).reduce<JsonObject>(
      (made, [name, value]) => Object.keys(made).length < least ? { [name]: value, ...made } : made,
      minimal
    )
    const replaced = interleave(
      present.map(({ name, values }) => values.slice(1).map((value): JsonObject => ({ ...full, [name]: value })))
    )
    const most = numberOf(schema["maxProperties"]) ?? Infinity
    const single = Object.entries(full).slice(0, 3).map(([name, value]): JsonObject => ({ ...minimal, [name]: value }))
    const all = [full, filled, ...(most < Infinity ? single : []), ...replaced]
    return all.filter((value) => Object.keys(value).length <= most).slice(0, limit)
  }

  /** Fields without a name of their own, where the document describes them. */
  private extra(schema: JsonObject, use: Use, open: ReadonlyArray<string>): ReadonlyArray<readonly [string, Json]> {
    const { additionalProperties } = schema
    const isRecord = isObject(additionalProperties) ||
      (additionalProperties === true && Object.keys(objectOf(schema["properties"])).length === 0)
    if (!isRecord) return []
    const [value] = this.make(objectOf(additionalProperties), use, open, 1)
    return value === undefined ? [] : [["a-key", value], ["b é", value]]
  }
}
