/** Converts a schema into plain data, once: the only module that reads Effect's syntax tree (`effect/SchemaAST`). */
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { getOrInsert } from "../runtime/memoize.js"
import { type Kind, makeNode, type SchemaNode, type Struct } from "./schemaNode.js"

export * from "./schemaNode.js"

const fieldOf = ({ name, type }: AST.PropertySignature): Struct["fields"][number] => ({
  name,
  isOptional: AST.isOptional(type),
  type: fromAST(type)
})

const kindOf = (ast: AST.AST): Kind => {
  switch (ast._tag) {
    case "String":
      return { _tag: "String" }
    case "Number":
      return { _tag: "Number" }
    case "Boolean":
      return { _tag: "Boolean" }
    case "Unknown":
      return { _tag: "Unknown" }
    case "Undefined":
      return { _tag: "Undefined" }
    case "Null":
      return { _tag: "Literal", value: null }
    case "Literal":
      return { _tag: "Literal", value: ast.literal }
    case "Union":
      return { _tag: "Union", types: ast.types.map(fromAST) }
    case "Arrays":
      return { _tag: "Array", elements: ast.elements.map(fromAST), rest: ast.rest.map(fromAST) }
    case "Objects":
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
              ? new AST.PropertySignature(name, AST.isOptional(field.type) ? Schema.optionalKey(type).ast : type.ast)
              : field
          )
          return Schema.make(new AST.Objects(fields, ast.indexSignatures))
        }
      }
    case "Suspend":
      return { _tag: "Lazy", get: () => fromAST(ast.thunk()) }
    case "Declaration": {
      const [struct] = ast.annotations?.identifier === undefined ? [] : ast.typeParameters
      return { _tag: "Opaque", struct: struct && fromAST(struct) }
    }
    default:
      return { _tag: "Opaque" }
  }
}

/** Keywords of JSON Schema, from annotations or from the function of a check. */
const keywordsOf = ({ _tag }: AST.AST, annotations: Schema.Annotations.Filter): SchemaNode["keywords"] => {
  const { format, jsonSchema = format && { format }, toJsonSchema } = annotations
  const type = _tag === "Arrays" ? "array" : _tag === "Objects" ? "object" : "string"
  return [toJsonSchema?.({ schemas: [], type }) ?? jsonSchema].flat()[0] as SchemaNode["keywords"] // sound: documents are made of it
}

const passes = (check: AST.Check<unknown>, value: unknown, ast: AST.AST): boolean =>
  check._tag === "Filter"
    ? check.run(value, ast, {}) === undefined
    : check.checks.every((each) => passes(each, value, ast))

const nodeWith = (ast: AST.AST, kind: Kind, annotations: Schema.Annotations.Filter = {}): SchemaNode =>
  makeNode(
    kind,
    {
      description: annotations.description,
      identifier: annotations.identifier,
      keywords: keywordsOf(ast, annotations)
    },
    () => nameOf(ast),
    () => Schema.make<Schema.Codec<unknown>>(ast)
  )

const nodes = new WeakMap<AST.AST, SchemaNode>()

/** The node of a part of Effect's syntax tree, as its parse issues carry them. The same part gives the same node. */
export const fromAST = (ast: AST.AST): SchemaNode => getOrInsert(nodes, ast, () => nodeOf(ast))

/** Each check of a type refines the type before it. */
const nodeOf = (ast: AST.AST): SchemaNode =>
  (ast.checks ?? []).reduce<SchemaNode>(
    (from, check) =>
      nodeWith(ast, { _tag: "Refinement", from, predicate: (value) => passes(check, value, ast) }, check.annotations),
    nodeWith(ast, kindOf(ast), ast.annotations)
  )

/** What messages call a type. */
const nameOf = (ast: AST.AST): string => {
  switch (ast._tag) {
    case "Literal":
      return typeof ast.literal === "bigint" ? `${ast.literal}n` : JSON.stringify(ast.literal)
    case "TemplateLiteral":
      return `\`${ast.parts.map((part) => AST.isLiteral(part) ? part.literal : `\${${nameOf(part)}}`).join("")}\``
    default:
      return SchemaIssue.defaultLeafHook(new SchemaIssue.InvalidType(ast)).replace(/^Expected /, "")
  }
}

export const fromSchema = (schema: Schema.Codec<unknown>): SchemaNode => fromAST(schema.ast)
