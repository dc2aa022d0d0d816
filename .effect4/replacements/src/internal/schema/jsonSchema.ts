/** Makes the JSON Schema of a schema: the only module that knows how Effect does. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { withoutUndefined } from "./schemaTree.js"

/** The path of definitions in OpenAPI documents. */
export const definitionPath = "#/components/schemas/"

/** A JSON Schema, and those of the types with an identifier that it refers to. */
export interface MadeSchema {
  readonly schema: object
  readonly definitions: Readonly<Record<string, object>>
}

/** Numbers that JSON cannot have are texts in Effect's own JSON, which this library does not use. */
const isNumber = (alternatives: unknown): boolean => JSON.stringify(alternatives)?.includes("\"-Infinity\"") ?? false

/** Writes checks into the schema that they check, as one schema. */
const flatten = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(flatten)
  if (!Predicate.isObject(value)) return value
  const { allOf, anyOf, ...rest } = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, flatten(each)])
  )
  const checks = Array.isArray(allOf) && !allOf.some((check) => "$ref" in check)
    ? Object.assign({}, ...allOf)
    : { allOf }
  const type = isNumber(anyOf) ? { type: "number" } : { anyOf }
  const { $ref } = rest
  const all = Object.entries({
    ...rest,
    ...type,
    ...checks,
    ...Predicate.isString($ref) && { $ref: toComponent($ref) }
  })
  return Object.fromEntries(all.filter(([, each]) => each !== undefined))
}

const toComponent = (reference: string): string => reference.replace("#/$defs/", definitionPath)

/**
 * Makes the JSON Schema of a type without `undefined`; none if JSON Schema cannot express the type. `isStrict`: objects have no fields but the
 * declared ones.
 */
export const makeJsonSchema = (schema: Schema.Top, isStrict: boolean): MadeSchema | undefined =>
  Result.getOrUndefined(Result.try(() => {
    const { definitions, schema: made } = Schema.toJsonSchemaDocument(
      withoutUndefined(Schema.toType(schema)),
      { onExcessProperty: isStrict ? "error" : "ignore" }
    )
    return { schema: flatten(made), definitions: flatten(definitions) } as MadeSchema // sound: flattening keeps objects
  }))
