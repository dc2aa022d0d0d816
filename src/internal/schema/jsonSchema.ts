/** Makes the JSON Schema of a schema. */
import type * as Schema from "effect/Schema"
import { builtInDescriptions, isUndefined, type SchemaNode, type Struct } from "./schemaNode.js"
import { fromAST } from "./schemaTree.js"

/** The path of definitions in OpenAPI documents. */
export const definitionPath = "#/components/schemas/"

type JsonSchema = Readonly<Record<string, unknown>>

/** A JSON Schema, and those of the types with an identifier that it refers to. */
export interface MadeSchema {
  readonly schema: JsonSchema
  readonly definitions: Readonly<Record<string, JsonSchema>>
}

/**
 * Makes the JSON Schema of a type without `undefined`. Parts that JSON Schema cannot express allow anything. `isStrict`: objects have no
 * fields but the declared ones.
 */
export const makeJsonSchema = (schema: Schema.Schema.Any, isStrict: boolean): MadeSchema => {
  const definitions: Record<string, JsonSchema> = {}

  const make = (node: SchemaNode): JsonSchema => {
    const { identifier } = node
    if (identifier === undefined) return described(node)
    if (!Object.hasOwn(definitions, identifier)) {
      definitions[identifier] = {}
      definitions[identifier] = described(node)
    }
    return { $ref: definitionPath + identifier.replaceAll("~", "~0").replaceAll("/", "~1") }
  }

  const described = (node: SchemaNode): JsonSchema => ({
    ...node.keywords?.type === undefined && {
      ...typed(node),
      ...(node.description !== builtInDescriptions[node._tag] && { description: node.description })
    },
    ...node.keywords
  })

  const typed = (node: SchemaNode): JsonSchema => {
    switch (node._tag) {
      case "String":
      case "Number":
      case "Boolean":
        return { type: node._tag.toLowerCase() }
      case "Literal":
        return node.value === null ? { type: "null" } : { type: typeof node.value, enum: [node.value] }
      case "Union":
        return union(node.types.filter((type) => !isUndefined(type)).map(make))
      case "Refinement":
        return make(node.from)
      case "Lazy":
        return make(node.get())
      case "Array":
        return list(node.elements.map(make), node.rest.map(make))
      case "Struct":
        return struct(node)
      case "Opaque":
        return node.struct === undefined ? {} : described(node.struct)
      default:
        return {}
    }
  }

  const struct = ({ fields, indexes: [index] }: Struct): JsonSchema => ({
    type: "object",
    required: fields.filter(({ isOptional, type }) => !isOptional && !mayBeUndefined(type)).map(({ name }) => name),
    properties: Object.fromEntries(fields.map(({ name, type }) => [name, make(type)])),
    additionalProperties: index === undefined ? !isStrict : make(index.values),
    ...(index !== undefined && index.keys._tag !== "String" && { propertyNames: make(index.keys) })
  })

  return { schema: make(fromAST(schema.ast)), definitions }
}

const mayBeUndefined = (node: SchemaNode): boolean => node._tag === "Union" && node.types.some(isUndefined)

/** The alternatives of a type; literals of one type are one of them. */
const union = (schemas: ReadonlyArray<JsonSchema>): JsonSchema => {
  const anyOf = schemas.reduce<ReadonlyArray<JsonSchema>>((before, next) => {
    const last = before.at(-1)
    return isLiteral(last) && isLiteral(next) && last.type === next.type
      ? [...before.slice(0, -1), { type: last.type, enum: [...last.enum, ...next.enum] }]
      : [...before, next]
  }, [])
  const [only, ...others] = anyOf
  return only !== undefined && others.length === 0 ? only : { anyOf }
}

const isLiteral = (
  schema: JsonSchema | undefined
): schema is { readonly type: string; readonly enum: ReadonlyArray<unknown> } =>
  Array.isArray(schema?.["enum"]) && Object.keys(schema).length === 2

const list = (elements: ReadonlyArray<JsonSchema>, [rest]: ReadonlyArray<JsonSchema>): JsonSchema =>
  elements.length === 0
    ? { type: "array", items: rest }
    : { type: "array", minItems: elements.length, prefixItems: elements, items: rest ?? false }
