/**
 * Converts a schema into plain data, once: the only module that reads Effect's syntax tree (`effect/SchemaAST`). It describes
 * the decoded type; transformations are left out.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { getOrInsert } from "../runtime/memoize.js"

interface Common {
  /** The schema's own `description`, for example `a string`. */
  readonly description: string | undefined
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
  readonly withField: (name: string, type: Schema.Schema.AnyNoContext) => Schema.Schema.AnyNoContext
}

type Kind =
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

const typeOf = ({ type }: AST.Type): SchemaNode => fromAST(type)

const kindOf = (ast: AST.AST): Kind => {
  switch (ast._tag) {
    case "StringKeyword":
      return { _tag: "String" }
    case "NumberKeyword":
      return { _tag: "Number" }
    case "BooleanKeyword":
      return { _tag: "Boolean" }
    case "UnknownKeyword":
      return { _tag: "Unknown" }
    case "UndefinedKeyword":
      return { _tag: "Undefined" }
    case "Literal":
      return { _tag: "Literal", value: ast.literal }
    case "Union":
      return { _tag: "Union", types: ast.types.map(fromAST) }
    case "Refinement":
      return {
        _tag: "Refinement",
        from: fromAST(ast.from),
        predicate: (value) => Option.isNone(ast.filter(value, AST.defaultParseOption, ast))
      }
    case "TupleType":
      return { _tag: "Array", elements: ast.elements.map(typeOf), rest: ast.rest.map(typeOf) }
    case "TypeLiteral":
      return {
        _tag: "Struct",
        fields: ast.propertySignatures.map(({ isOptional, name, type }) => ({ name, isOptional, type: fromAST(type) })),
        indexes: ast.indexSignatures.map(({ parameter, type }) => ({
          keys: fromAST(parameter),
          values: fromAST(type)
        })),
        withField: (name, type) => {
          const fields = ast.propertySignatures.map((field) =>
            field.name === name
              ? new AST.PropertySignature(name, type.ast, field.isOptional, field.isReadonly)
              : field
          )
          return Schema.make(new AST.TypeLiteral(fields, ast.indexSignatures))
        }
      }
    case "Suspend":
      return { _tag: "Lazy", get: () => fromAST(ast.f()) }
    default:
      return { _tag: "Opaque" }
  }
}

const nodes = new WeakMap<AST.AST, SchemaNode>()

/** The node of a part of Effect's syntax tree, as its parse issues carry them. The same part gives the same node. */
export const fromAST = (ast: AST.AST): SchemaNode =>
  getOrInsert(nodes, ast, () =>
    AST.isTransformation(ast) ? fromAST(ast.to) : {
      ...kindOf(ast),
      description: Option.getOrUndefined(AST.getDescriptionAnnotation(ast)),
      get schema() {
        return Schema.make(ast)
      }
    })

export const fromSchema = (schema: Schema.Schema.AnyNoContext): SchemaNode => fromAST(schema.ast)

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

/** The schema without `undefined`, its annotations kept. */
export const withoutUndefined = ({ ast }: Schema.Schema.AnyNoContext): Schema.Schema.AnyNoContext =>
  Schema.make(
    AST.isUnion(ast) ? AST.Union.make(ast.types.filter((type) => !AST.isUndefinedKeyword(type)), ast.annotations) : ast
  )
