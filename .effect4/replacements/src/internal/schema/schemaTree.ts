/** Converts a schema into plain data, once: the only module that reads Effect's syntax tree (`effect/SchemaAST`). */
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { getOrInsert } from "../runtime/memoize.js"
import { builtInDescriptions, type Kind, type SchemaNode } from "./schemaNode.js"

export * from "./schemaNode.js"

const kindOf = (ast: AST.AST): Kind => {
  switch (ast._tag) {
    case "String":
    case "Number":
    case "Boolean":
    case "Unknown":
    case "Undefined":
      return { _tag: ast._tag }
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
        fields: ast.propertySignatures.map(({ name, type }) => ({
          name,
          isOptional: AST.isOptional(type),
          type: fromAST(type)
        })),
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

/** The types whose checks are those of JSON Schema's other types, too. */
const types: { readonly [tag: string]: "array" | "object" } = { Arrays: "array", Objects: "object" }

type Annotations = Schema.Annotations.Filter

/** Keywords of JSON Schema, from annotations or from the function of a check of a type. */
const keywordsOf = (
  { format, jsonSchema = format && { format }, toJsonSchema }: Annotations,
  type: "array" | "object" | "string"
): SchemaNode["keywords"] => [toJsonSchema?.({ schemas: [], type }) ?? jsonSchema].flat()[0] as SchemaNode["keywords"] // sound: documents are made of it

const passes = (check: AST.Check<unknown>, value: unknown, ast: AST.AST): boolean =>
  check._tag === "Filter"
    ? check.run(value, ast, {}) === undefined
    : check.checks.every((each) => passes(each, value, ast))

/** A name and a schema are made only when they are read: most nodes need neither. */
const nodeOf = (ast: AST.AST, kind: Kind, annotations: Annotations = {}): SchemaNode => ({
  ...kind,
  description: annotations.description ?? builtInDescriptions[kind._tag],
  identifier: annotations.identifier,
  keywords: keywordsOf(annotations, types[ast._tag] ?? "string"),
  get name() {
    return nameOf(ast)
  },
  get schema() {
    return Schema.make<Schema.Codec<unknown>>(ast)
  }
})

/** Each check of a type refines the type before it. */
const refined = (ast: AST.AST): SchemaNode =>
  (ast.checks ?? []).reduce<SchemaNode>(
    (from, check) =>
      nodeOf(ast, { _tag: "Refinement", from, predicate: (value) => passes(check, value, ast) }, check.annotations),
    nodeOf(ast, kindOf(ast), ast.annotations)
  )

const nodes = new WeakMap<AST.AST, SchemaNode>()

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

/** The node of a part of Effect's syntax tree, as its issues carry them. The same part gives the same node. */
export const fromAST = (ast: AST.AST): SchemaNode => getOrInsert(nodes, ast, () => refined(ast))

export const fromSchema = (schema: Schema.Codec<unknown>): SchemaNode => fromAST(schema.ast)
