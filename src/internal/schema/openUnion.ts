/** Unions of objects that a later version of the service may extend: an object of a kind that the schema does not know is a value. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { fromSchema, type SchemaNode, typesOf, unwrap } from "./schemaTree.js"

declare const unknownTag: unique symbol

/**
 * The tag, if there is only one, of an object of a kind that a union does not know. Comparing it with the tag of a branch leaves the object out.
 * @since 0.1.0 @category models
 */
export interface UnknownTag {
  readonly [unknownTag]: never
}

/**
 * An object of a kind that a union does not know, with every field sent. If there are several tags, each alone may be known.
 * @since 0.1.0 @category models
 */
export type Unrecognized<Tag extends string> =
  & { readonly [Name in Tag]: [Tag] extends [Name] ? UnknownTag : string }
  & { readonly [field: string]: unknown }

type Names = ReadonlyArray<string>

/** The values that a struct knows of each tag. */
type Known = ReadonlyArray<ReadonlyArray<string>>

/** The strings among the literals of a type. */
const literalsOf = (node: SchemaNode): ReadonlyArray<string> =>
  typesOf(unwrap(node)).map(unwrap).flatMap((type) =>
    type._tag === "Literal" && Predicate.isString(type.value) ? [type.value] : []
  )

/** The known tags of each struct among these types. */
const knownTags = (node: SchemaNode, names: Names): ReadonlyArray<Known> => {
  const type = unwrap(node)
  if (type._tag === "Union") return type.types.flatMap((each) => knownTags(each, names))
  if (type._tag !== "Struct") return []
  const { fields } = type
  return [names.map((name) => fields.flatMap((field) => field.name === name ? literalsOf(field.type) : []))]
}

/**
 * Objects of a response that differ in tags, which are fields with one known value in each of the schemas. An object with other tags is a
 * value, too, and the drift metric counts them; an object with known tags must match its schema.
 * @since 0.1.0 @category responses @example `openUnion(["method"], BasicAuth, BearerAuth)`
 */
export const openUnion = <
  const Tags extends readonly [string, ...Array<string>],
  const Types extends ReadonlyArray<Schema.Schema.AnyNoContext>
>(
  tags: Tags,
  ...types: Types
): Schema.Schema<Schema.Schema.Type<Types[number]> | Unrecognized<Tags[number]>> => {
  const known = types.flatMap((type) => knownTags(fromSchema(type), tags))
  const isUnknown = (value: Readonly<Record<string, unknown>>) =>
    !known.some((struct) => tags.every((tag, index) => struct[index]?.some((each) => each === value[tag])))
  const fields = Object.fromEntries(tags.map((tag, index) => {
    const values = known.flatMap((struct) => struct[index] ?? [])
    return [tag, Schema.Union(Schema.String, Schema.Literal(...Array.from(new Set(values))))]
  }))
  const unrecognized = Schema.Struct(fields, { key: Schema.String, value: Schema.Unknown }).pipe(
    Schema.filter(isUnknown, { description: "an object of another kind", jsonSchema: {} })
  )
  // Sound: the last type accepts objects with unknown tags, which is the meaning of `Unrecognized`.
  return Schema.Union(...types, unrecognized) as never
}
