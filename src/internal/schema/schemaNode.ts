/** A schema as plain data. It describes the decoded type; transformations are left out. */
import type * as Schema from "effect/Schema"

interface Common {
  /** The schema's own `description`, for example `a string`. */
  readonly description: string | undefined
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
  // Everything else, such as a class or a template literal: only `schema` can check it.
  | { readonly _tag: "Opaque" }

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
