/** Converts schemas to JSON Schema, with a definition for each type that has an identifier. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { definitionPath, makeJsonSchema } from "../../internal/schema/jsonSchema.js"

/** A JSON value. @since 0.1.0 @category models */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json }
export type JsonObject = { readonly [name: string]: Json }

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Removes empty lists, and the names of types that JSON Schema cannot express. */
const clean = (value: unknown): Json => {
  if (Array.isArray(value)) return value.map(clean)
  if (!Predicate.isRecord(value)) return value as Json // sound: JSON Schema consists of JSON values
  const entries = Object.entries("$id" in value ? Struct.omit(value, "$id", "title") : value)
  return Object.fromEntries(
    entries.filter(([, value]) => JSON.stringify(value) !== "[]").map(([name, value]) => [name, clean(value)])
  )
}

/** The name of the definition that a schema refers to. */
export const referredName = ({ $ref }: JsonObject): string | undefined =>
  Predicate.isString($ref) ? $ref.slice(definitionPath.length).replaceAll("~1", "/").replaceAll("~0", "~") : undefined

/** Appends a suffix to every reference. */
const withSuffix = (value: Json, suffix: string): Json => {
  if (Array.isArray(value)) return value.map((item) => withSuffix(item, suffix))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === "$ref" && Predicate.isString(inner) ? `${inner}${suffix}` : withSuffix(inner, suffix)
    ])
  )
}

/** Converts schemas that share their definitions. */
export interface Converter {
  /** The definitions so far, by name. */
  readonly definitions: JsonObject
  /**
   * The JSON Schema of a type without `undefined`; one that allows anything if JSON Schema cannot express the type. In requests,
   * objects have no fields but the declared ones; in responses they may.
   */
  readonly convert: (schema: Schema.Schema.Any, use: "request" | "response") => JsonObject
}

export const make = (): Converter => {
  const definitions: Record<string, Json> = {}

  const convert: Converter["convert"] = (schema, use) => {
    const made = makeJsonSchema(schema, use === "request")
    if (made === undefined) return {}
    // Another type may have the same identifier, or the same type another use: then these definitions get a number.
    for (let number = 1;; number++) {
      const suffix = number === 1 ? "" : String(number)
      const named = Object.entries(made.definitions).map(([name, value]) =>
        [`${name}${suffix}`, withSuffix(clean(value), suffix)] as const
      )
      const differs = ([name, value]: readonly [string, Json]) =>
        Object.hasOwn(definitions, name) && JSON.stringify(definitions[name]) !== JSON.stringify(value)
      if (named.some(differs)) continue
      Object.assign(definitions, Object.fromEntries(named))
      return withSuffix(clean(made.schema), suffix) as JsonObject // sound: every JSON Schema made here is an object
    }
  }

  return { definitions, convert }
}
