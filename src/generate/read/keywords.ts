/** The keywords of schemas: those that say something about values, and those that only comment. */

/** Keywords that the generator expresses. */
const understood = [
  "$ref",
  "additionalProperties",
  "allOf",
  "anyOf",
  "const",
  "contentEncoding",
  "contentMediaType",
  "discriminator",
  "enum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "format",
  "items",
  "maxItems",
  "maxLength",
  "maxProperties",
  "maximum",
  "minItems",
  "minLength",
  "minProperties",
  "minimum",
  "multipleOf",
  "nullable",
  "oneOf",
  "pattern",
  "patternProperties",
  "prefixItems",
  "properties",
  "readOnly",
  "required",
  "type",
  "unevaluatedProperties",
  "uniqueItems",
  "writeOnly"
]

/** Keywords that say nothing about values. */
const annotations = [
  "$anchor",
  "$comment",
  "$defs",
  "$id",
  "$schema",
  "contentSchema",
  "default",
  "definitions",
  "deprecated",
  "description",
  "example",
  "examples",
  "externalDocs",
  "title",
  "xml"
]

/** Keywords that restrict values in a way that types and the library's checks do not express: the schema is weaker without them. */
const unchecked = [
  "contains",
  "dependentRequired",
  "dependentSchemas",
  "maxContains",
  "minContains",
  "propertyNames"
]

const known = new Set([...understood, ...annotations, ...unchecked])

/** The keywords of a schema that are not expressed. */
export const uncheckedKeywords = (schema: object): ReadonlyArray<string> =>
  Object.keys(schema).filter((name) => unchecked.includes(name))

/** The keywords of a schema that are neither understood nor comments. Names that begin with `x-` are extensions. */
export const unknownKeywords = (schema: object): ReadonlyArray<string> =>
  Object.keys(schema).filter((name) => !known.has(name) && !name.startsWith("x-"))

const types: ReadonlyArray<readonly [type: string, keywords: ReadonlyArray<string>]> = [
  ["object", ["properties", "additionalProperties", "required", "minProperties", "maxProperties", "patternProperties"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]],
  ["string", ["minLength", "maxLength", "pattern", "format", "contentMediaType", "contentEncoding"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]]
]

/** The type that the keywords of a schema imply. */
export const impliedType = (schema: object): string | undefined =>
  types.find(([, keywords]) => keywords.some((name) => name in schema))?.[0]
