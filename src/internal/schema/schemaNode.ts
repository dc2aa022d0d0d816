/** A schema as plain data. It describes the decoded type; transformations are left out. */
import type * as Schema from "effect/Schema"

interface Common {
  /** The schema's own `description`, for example `a string`. */
  readonly description: string | undefined
  /** The name of its definition in documents. */
  readonly identifier: string | undefined
  /** Keywords of JSON Schema that the type has, too. With a `type`, they say it all. */
  readonly keywords: { readonly type?: unknown } | undefined
  /** Effect's own name of the type, for example `string`. */
  readonly name: string
  /** This part of the schema as a schema of its own. */
  readonly schema: Schema.Schema.AnyNoContext
}

/** The type of a struct or, without fields, of a record. */
export interface Struct {
  readonly _tag: "Struct"
  readonly fields: ReadonlyArray<
    { readonly name: PropertyKey; readonly isOptional: boolean; readonly type: SchemaNode }
  >
  /** The types of all fields that have no name of their own, as in a record. */
  readonly indexes: ReadonlyArray<{ readonly keys: SchemaNode; readonly values: SchemaNode }>
  /** The struct with another type for one of its fields. */
  readonly withField: (name: PropertyKey, type: Schema.Schema.AnyNoContext) => Schema.Schema.AnyNoContext
}

export type Kind =
  | { readonly _tag: "String" | "Number" | "Boolean" | "Unknown" | "Undefined" }
  | { readonly _tag: "Literal"; readonly value: unknown }
  | { readonly _tag: "Union"; readonly types: ReadonlyArray<SchemaNode> }
  | { readonly _tag: "Refinement"; readonly from: SchemaNode; readonly predicate: (value: unknown) => boolean }
  | { readonly _tag: "Array"; readonly elements: ReadonlyArray<SchemaNode>; readonly rest: ReadonlyArray<SchemaNode> }
  | Struct
  // A schema that is built on demand, perhaps because it is recursive: `get` returns the node that it refers to.
  | { readonly _tag: "Lazy"; readonly get: () => SchemaNode }
  // Everything else, such as a class or a template literal: only `schema` can check it. A class has the fields of `struct`.
  | { readonly _tag: "Opaque"; readonly struct?: SchemaNode | undefined }

/** A schema as plain data. */
export type SchemaNode = Kind & Common

/** The type that a refinement refines, or that a schema built on demand refers to. */
export const unwrap = (node: SchemaNode): Exclude<SchemaNode, { readonly _tag: "Refinement" | "Lazy" }> => {
  switch (node._tag) {
    case "Refinement":
      return unwrap(node.from)
    case "Lazy":
      return unwrap(node.get())
    default:
      return node
  }
}

/** The types of a union, those of unions within it included; of any other type itself. Refinements stay. */
export const typesOf = (node: SchemaNode): ReadonlyArray<SchemaNode> =>
  node._tag === "Union" ? node.types.flatMap(typesOf) : node._tag === "Lazy" ? typesOf(node.get()) : [node]

/** Tells `undefined` from all other types. */
export const isUndefined = ({ _tag }: SchemaNode): boolean => _tag === "Undefined"

/** Descriptions that say no more than the type. */
export const builtInDescriptions: Readonly<Record<string, string>> = {
  String: "a string",
  Number: "a number",
  Boolean: "a boolean"
}

/** Makes a node. A name and a schema are made only when they are read: most nodes need neither. */
export const makeNode = (
  kind: Kind,
  annotations: Pick<Common, "description" | "identifier" | "keywords">,
  name: () => string,
  schema: () => Schema.Schema.AnyNoContext
): SchemaNode => ({
  ...kind,
  ...annotations,
  description: annotations.description ?? builtInDescriptions[kind._tag],
  get name() {
    return name()
  },
  get schema() {
    return schema()
  }
})
