/** Converts a schema into plain data, once: the only module that reads Effect's syntax tree (`effect/SchemaAST`). */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { getOrInsert } from "../runtime/memoize.js"
import type { Kind, SchemaNode } from "./schemaNode.js"

export * from "./schemaNode.js"

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
      get name() {
        return String(ast)
      },
      get schema() {
        return Schema.make(ast)
      }
    })

export const fromSchema = (schema: Schema.Schema.AnyNoContext): SchemaNode => fromAST(schema.ast)

/** Recognizes `Schema.Unknown`, which says nothing about a value. */
export const isUndescribed = (schema: Schema.Schema.AnyNoContext): boolean => fromSchema(schema)._tag === "Unknown"

/** The schema without `undefined`, its annotations kept. */
export const withoutUndefined = ({ ast }: Schema.Schema.AnyNoContext): Schema.Schema.AnyNoContext =>
  Schema.make(
    AST.isUnion(ast) ? AST.Union.make(ast.types.filter((type) => !AST.isUndefinedKeyword(type)), ast.annotations) : ast
  )
