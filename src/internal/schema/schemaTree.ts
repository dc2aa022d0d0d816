/** Converts a schema into plain data, once: the only module that reads Effect's syntax tree (`effect/SchemaAST`). */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { getOrInsert } from "../runtime/memoize.js"
import { type Kind, makeNode, type SchemaNode, type Struct } from "./schemaNode.js"

export * from "./schemaNode.js"

const typeOf = ({ type }: AST.Type): SchemaNode => fromAST(type)

const fieldOf = ({ isOptional, name, type }: AST.PropertySignature): Struct["fields"][number] => ({
  name,
  isOptional,
  type: fromAST(type)
})

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
        fields: ast.propertySignatures.map(fieldOf),
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
      return { _tag: "Opaque", struct: Option.getOrUndefined(Option.map(AST.getSurrogateAnnotation(ast), fromAST)) }
  }
}

const keywordsOf = (ast: AST.AST): object | undefined =>
  AST.isTemplateLiteral(ast)
    ? { type: "string", pattern: AST.getTemplateLiteralRegExp(ast).source }
    : Option.getOrUndefined(AST.getJSONSchemaAnnotation(ast))

const nodes = new WeakMap<AST.AST, SchemaNode>()

/** The node of a part of Effect's syntax tree, as its parse issues carry them. The same part gives the same node. */
export const fromAST = (ast: AST.AST): SchemaNode => getOrInsert(nodes, ast, () => nodeOf(ast))

const nodeOf = (ast: AST.AST): SchemaNode =>
  AST.isTransformation(ast) ? fromAST(ast.to) : makeNode(
    kindOf(ast),
    {
      description: Option.getOrUndefined(AST.getDescriptionAnnotation(ast)),
      identifier: Option.getOrUndefined(AST.getIdentifierAnnotation(ast)),
      keywords: keywordsOf(ast)
    },
    () => String(ast),
    () => Schema.make(ast)
  )

export const fromSchema = (schema: Schema.Schema.AnyNoContext): SchemaNode => fromAST(schema.ast)
