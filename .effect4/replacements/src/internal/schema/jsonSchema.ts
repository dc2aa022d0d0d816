/** Makes the JSON Schema of a schema: the only module that knows how Effect does. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"

/** The path of definitions in OpenAPI documents. */
export const definitionPath = "#/components/schemas/"

/** A JSON Schema, and those of the types with an identifier that it refers to. */
export interface MadeSchema {
  readonly schema: object
  readonly definitions: Readonly<Record<string, object>>
}

const mapFields = (value: object, change: (value: unknown, name: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each, name)]))

const isUndefined = (value: unknown): boolean => Predicate.isTagged(value, "Undefined")

/** Describes a pattern, which Effect leaves out if it is not Unicode-aware. A type of its own, such as `integer`, says enough. */
const described = (check: SchemaRepresentation.Check): SchemaRepresentation.Check => {
  const payload = check.representation?.payload
  const toJsonSchema = check.annotations?.["toJsonSchema"]
  if (Predicate.isFunction(toJsonSchema) && "type" in toJsonSchema({ schemas: [] })) {
    return { ...check, annotations: { toJsonSchema } }
  }
  if (!Predicate.hasProperty(payload, "source")) return check
  const pattern = String(payload.source)
  const description = `a string matching the pattern ${pattern}`
  return { ...check, annotations: { description, ...check.annotations, toJsonSchema: () => ({ pattern }) } }
}

/** Types that JSON does not have. Effect's JSON has texts for many of them, which this library does not send. */
const isInexpressible = ({ _tag, literal }: Readonly<Record<string, unknown>>): boolean =>
  ["BigInt", "Declaration", "Symbol", "UniqueSymbol"].some((name) => name === _tag) || Predicate.isBigInt(literal)

/** Whether an annotation `jsonSchema` replaces the schema, as it does on Effect 3 if it has a type; else it adds to it. */
const isWhole = (annotation: unknown): boolean =>
  ["$ref", "anyOf", "oneOf", "type"].some((name) => Predicate.hasProperty(annotation, name))

/** Leaves `undefined` out of unions: Effect's JSON has `null` for it, that of this library has no field. A class becomes its fields. */
const withoutUndefined = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (!Predicate.isObject(value)) return value
  if (value["_tag"] === "Filter") return described(value as unknown as SchemaRepresentation.Check) // sound: by its tag
  const { annotations, checks, typeParameters, types } = value
  if (Predicate.hasProperty(annotations, "~constructor") && Array.isArray(typeParameters)) {
    return withoutUndefined({ ...typeParameters[0], annotations })
  }
  if (Predicate.hasProperty(annotations, "jsonSchema") && isWhole(annotations.jsonSchema)) return value
  if (isInexpressible(value)) throw new Error("JSON has no such type")
  const isOptional = value["_tag"] === "Union" && Array.isArray(types) && types.some(isUndefined)
  const left = isOptional ? types.filter((type) => !isUndefined(type)) : []
  return left.length === 1 && annotations === undefined && Array.isArray(checks) && checks.length === 0
    ? withoutUndefined(left[0])
    : mapFields(
      isOptional ? { ...value, types: left } : value,
      (each, name) => name === "annotations" ? each : withoutUndefined(each)
    )
}

/** Numbers that JSON cannot have are texts in Effect's JSON, which this library does not send. */
const isInfinite = (schema: { readonly enum?: ReadonlyArray<unknown> }): boolean =>
  schema.enum?.includes("NaN") ?? false

/** The alternatives of a schema, or the only one that is left. */
const alternatives = (anyOf: unknown): object => {
  if (!Array.isArray(anyOf)) return {}
  const left = anyOf.filter((schema) => !isInfinite(schema))
  return left.length === 1 && left.length < anyOf.length ? left[0] : { anyOf: left }
}

/** Parts of a schema that are values or names of the user's, and no schemas. */
const isNoSchema = (name: string): boolean => ["const", "default", "enum", "examples", "required"].includes(name)

/** Writes checks into the schema that they check. */
const flatten = (value: unknown, isCheck = false): unknown => {
  if (Array.isArray(value)) return value.map((each) => flatten(each, isCheck))
  if (!Predicate.isObject(value)) return value
  const { jsonSchema, ...others } = value
  if (isWhole(jsonSchema)) return jsonSchema
  if (Predicate.isObject(jsonSchema)) return Object.assign({}, flatten(others, isCheck), jsonSchema)
  const { $ref, allOf, anyOf, ...rest } = mapFields(
    others,
    (each, name) =>
      isNoSchema(name) ? each : name === "properties" && Predicate.isObject(each)
        ? mapFields(each, (schema) => flatten(schema))
        : flatten(each, name === "allOf")
  )
  const isOne = Array.isArray(allOf) && allOf.every((check) => !("$ref" in check))
  const fields: Record<string, unknown> = {
    ...rest,
    ...(Predicate.isString($ref) && { $ref: $ref.replace("#/$defs/", definitionPath) }),
    ...alternatives(anyOf),
    ...(isOne ? Object.assign({}, ...allOf) : { allOf })
  }
  const isOpen = !isCheck && fields["type"] === "object" && !("properties" in fields || "patternProperties" in fields)
  const open = isOpen && { properties: {}, additionalProperties: fields["additionalProperties"] ?? {} }
  return Object.fromEntries(Object.entries({ ...fields, ...open }).filter(([, each]) => each !== undefined))
}

/**
 * Makes the JSON Schema of a type without `undefined`; none if JSON Schema cannot express the type. `isStrict`: objects have no fields but the
 * declared ones.
 */
export const makeJsonSchema = (schema: Schema.Top, isStrict: boolean): MadeSchema | undefined =>
  Result.getOrUndefined(Result.try(() => {
    const document = Schema.toRepresentation(Schema.toType(schema))
    const { definitions, schema: made } = SchemaRepresentation.toJsonSchemaDocument(
      withoutUndefined(document) as SchemaRepresentation.Document, // sound: it has fewer types in its unions
      { onExcessProperty: isStrict ? "error" : "ignore", includeAnnotationKey: (key) => key === "jsonSchema" }
    )
    // Sound: flattening keeps objects.
    return { schema: flatten(made), definitions: mapFields(definitions, (each) => flatten(each)) } as MadeSchema
  }))
