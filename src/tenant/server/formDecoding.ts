/**
 * Decodes a form (`application/x-www-form-urlencoded`) into JSON. Nested fields are written in brackets,
 * `fields[0][name]=email`. The declaration decides which values are numbers or booleans, because a form holds only text.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { Fields } from "../../Endpoint.js"

/** An invalid field. */
export interface FieldError {
  /** `fields[0].name`; empty for the whole value. */
  readonly path: string
  readonly message: string
}

type Tree = string | Branch
interface Branch extends Map<string, Tree> {}

const maxDepth = 8
const bracketNotation = /^[^[\]]+(?:\[[^[\]]+\])*$/

const invalid = (path: string, message: string) => Either.left<FieldError>({ path, message })

/** Inserts one value into the tree, at the path that its name spells. */
const insert = (root: Branch, name: string, value: string): Either.Either<void, FieldError> => {
  const segments = name.split(/\]\[|\[|\]/).filter((segment) => segment !== "")
  if (!bracketNotation.test(name) || segments.length > maxDepth) {
    return invalid(name, "is not a name in bracket notation")
  }
  let branch = root
  for (const [index, segment] of segments.entries()) {
    const existing = branch.get(segment)
    if (index === segments.length - 1) {
      if (existing !== undefined) return invalid(name, "is given twice")
      branch.set(segment, value)
    } else if (typeof existing === "string") {
      return invalid(name, "is both a value and an object")
    } else {
      const next: Branch = existing ?? new Map()
      branch.set(segment, next)
      branch = next
    }
  }
  return Either.void
}

/** Removes filters and `undefined` from the declared type. */
const declaredType = (ast: AST.AST | undefined): AST.AST | undefined => {
  if (ast === undefined) return undefined
  if (AST.isRefinement(ast)) return declaredType(ast.from)
  if (AST.isUnion(ast)) {
    const types = ast.types.filter((type) => !AST.isUndefinedKeyword(type))
    return types.length === 1 ? declaredType(types[0]) : undefined
  }
  return ast
}

const scalar = (text: string, ast: AST.AST | undefined): unknown => {
  if (ast !== undefined && AST.isNumberKeyword(ast) && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text)
  if (ast !== undefined && AST.isBooleanKeyword(ast) && /^(?:true|false)$/.test(text)) return text === "true"
  return text
}

const toList = (branch: Branch, item: AST.AST | undefined, path: string): Either.Either<unknown, FieldError> => {
  const items: Array<unknown> = []
  for (let index = 0; index < branch.size; index++) {
    const tree = branch.get(String(index))
    if (tree === undefined) return invalid(path, "is not a list numbered from 0 without gaps")
    const value = toValue(tree, item, `${path}[${index}]`)
    if (Either.isLeft(value)) return value
    items.push(value.right)
  }
  return Either.right(items)
}

const toRecord = (branch: Branch, ast: AST.AST | undefined, path: string): Either.Either<unknown, FieldError> => {
  const fields = ast !== undefined && AST.isTypeLiteral(ast) ? ast.propertySignatures : []
  const entries: Array<readonly [string, unknown]> = []
  for (const [name, tree] of branch) {
    const field = fields.find((signature) => signature.name === name)
    const value = toValue(tree, field?.type, path === "" ? name : `${path}.${name}`)
    if (Either.isLeft(value)) return value
    entries.push([name, value.right])
  }
  return Either.right(Object.fromEntries(entries)) // unlike an assignment, it makes `__proto__` an ordinary field
}

const toValue = (tree: Tree, ast: AST.AST | undefined, path: string): Either.Either<unknown, FieldError> => {
  const type = declaredType(ast)
  if (typeof tree === "string") return Either.right(scalar(tree, type))
  if (type !== undefined && AST.isTupleType(type)) return toList(tree, type.rest[0]?.type, path)
  return toRecord(tree, type, path)
}

/**
 * Decodes a form. Keeps fields that are not declared, for the validation to refuse; fails for a name that is not in bracket
 * notation, a value given twice or a list with gaps.
 */
export const decodeForm = (
  fields: Fields,
  form: Iterable<readonly [string, string]>
): Either.Either<unknown, FieldError> => {
  const root: Branch = new Map()
  for (const [name, value] of form) {
    const inserted = insert(root, name, value)
    if (Either.isLeft(inserted)) return Either.left(inserted.left)
  }
  return toValue(root, Schema.typeSchema(Schema.Struct(fields)).ast, "")
}
