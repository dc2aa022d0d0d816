/** Converts a schema into plain data, once: the only module that reads Effect's syntax tree (`effect/SchemaAST`). */
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { getOrInsert } from "../runtime/memoize.js"
import type { Kind, SchemaNode } from "./schemaNode.js"

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
    default:
      return { _tag: "Opaque" }
  }
}

/** How messages name the types of JSON, which have no description of their own. */
const descriptions = new Map([["String", "a string"], ["Number", "a number"], ["Boolean", "a boolean"]])

const descriptionOf = (annotations: Schema.Annotations.Filter | undefined): string | undefined =>
  annotations?.description

const passes = (check: AST.Check<unknown>, value: unknown, ast: AST.AST): boolean =>
  check._tag === "Filter"
    ? check.run(value, ast, {}) === undefined
    : check.checks.every((each) => passes(each, value, ast))

/** A name and a schema are made only when they are read: most nodes need neither. */
const nodeOf = (ast: AST.AST, kind: Kind, description: string | undefined): SchemaNode => ({
  ...kind,
  description,
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
      nodeOf(
        ast,
        { _tag: "Refinement", from, predicate: (value) => passes(check, value, ast) },
        descriptionOf(check.annotations)
      ),
    nodeOf(ast, kindOf(ast), descriptionOf(ast.annotations) ?? descriptions.get(ast._tag))
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

/** Recognizes `Schema.Unknown`, which says nothing about a value. */
export const isUndescribed = (schema: Schema.Codec<unknown>): boolean => fromSchema(schema)._tag === "Unknown"

/** The schema without `undefined`, its annotations kept. */
export const withoutUndefined = ({ ast }: Schema.Top): Schema.Codec<unknown> => {
  if (!AST.isUnion(ast)) return Schema.make(ast)
  const types = ast.types.filter((type) => !AST.isUndefined(type))
  const [first, ...others] = types
  return Schema.make(
    first !== undefined && others.length === 0
      ? first
      : new AST.Union(types, ast.options, ast.annotations, ast.checks, ast.encoding, ast.context)
  )
}
