/** Where a member may be missing, a `null` means that it is. */
import * as Predicate from "effect/Predicate"
import type * as AST from "effect/SchemaAST"

/** A copy of a parsed JSON value without the nulls of members that the schema knows as optional, at any depth. */
export const withoutNulls = (ast: AST.AST, value: unknown): unknown => {
  switch (ast._tag) {
    case "Refinement":
      return withoutNulls(ast.from, value)
    case "Suspend":
      return withoutNulls(ast.f(), value)
    case "Union":
      return ast.types.reduce((value, type) => withoutNulls(type, value), value)
    case "TupleType":
      return Array.isArray(value) && ast.rest[0] !== undefined
        ? value.map((item) => withoutNulls(ast.rest[0]!.type, item)) // sound: it was just found to be there
        : value
    case "TypeLiteral": {
      if (!Predicate.isRecord(value)) return value
      const copy: Record<PropertyKey, unknown> = { ...value }
      for (const { isOptional, name, type } of ast.propertySignatures) {
        if (isOptional && copy[name] === null) delete copy[name]
        else if (Object.hasOwn(copy, name)) copy[name] = withoutNulls(type, copy[name])
      }
      return copy
    }
    default:
      return value
  }
}
