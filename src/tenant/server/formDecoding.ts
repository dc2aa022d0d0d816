/**
 * Reads a form (`application/x-www-form-urlencoded`) as the JSON it stands for. Nested members are written in brackets,
 * `fields[0][name]=email`; what is a number or a boolean is decided by the declaration, because a form knows only text.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { Fields } from "../../Endpoint.js"

/** What is wrong, and where. */
export interface Problem {
  readonly path: string
  readonly message: string
}

type Tree = string | Branch
interface Branch extends Map<string, Tree> {}

const depth = 8
const key = /^[^[\]]+(?:\[[^[\]]+\])*$/

const problem = (path: string, message: string) => Either.left<Problem>({ path, message })

/** Hangs one value into the tree; the segments of its key are the way there. */
const insert = (root: Branch, name: string, value: string): Either.Either<void, Problem> => {
  const segments = name.split(/\]\[|\[|\]/).filter((segment) => segment !== "")
  if (!key.test(name) || segments.length > depth) return problem(name, "is no name in bracket notation")
  let branch = root
  for (const [index, segment] of segments.entries()) {
    const there = branch.get(segment)
    if (index === segments.length - 1) {
      if (there !== undefined) return problem(name, "is given twice")
      branch.set(segment, value)
    } else if (typeof there === "string") {
      return problem(name, "is both a value and a group of values")
    } else {
      const next: Branch = there ?? new Map()
      branch.set(segment, next)
      branch = next
    }
  }
  return Either.void
}

/** The type behind filters and `undefined`: what the declaration wants here. */
const wanted = (ast: AST.AST | undefined): AST.AST | undefined => {
  if (ast === undefined) return undefined
  if (AST.isRefinement(ast)) return wanted(ast.from)
  if (AST.isUnion(ast)) {
    const types = ast.types.filter((type) => !AST.isUndefinedKeyword(type))
    return types.length === 1 ? wanted(types[0]) : undefined
  }
  return ast
}

const scalar = (text: string, ast: AST.AST | undefined): unknown => {
  if (ast !== undefined && AST.isNumberKeyword(ast) && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text)
  if (ast !== undefined && AST.isBooleanKeyword(ast) && /^(?:true|false)$/.test(text)) return text === "true"
  return text
}

const toList = (branch: Branch, item: AST.AST | undefined, path: string): Either.Either<unknown, Problem> => {
  const items: Array<unknown> = []
  for (let index = 0; index < branch.size; index++) {
    const tree = branch.get(String(index))
    if (tree === undefined) return problem(path, "is no list that is numbered from 0 without a gap")
    const value = toValue(tree, item, `${path}[${index}]`)
    if (Either.isLeft(value)) return value
    items.push(value.right)
  }
  return Either.right(items)
}

const toRecord = (branch: Branch, ast: AST.AST | undefined, path: string): Either.Either<unknown, Problem> => {
  const members = ast !== undefined && AST.isTypeLiteral(ast) ? ast.propertySignatures : []
  const entries: Array<readonly [string, unknown]> = []
  for (const [name, tree] of branch) {
    const member = members.find((signature) => signature.name === name)
    const value = toValue(tree, member?.type, path === "" ? name : `${path}.${name}`)
    if (Either.isLeft(value)) return value
    entries.push([name, value.right])
  }
  return Either.right(Object.fromEntries(entries)) // defines `__proto__` as a member like any other
}

const toValue = (tree: Tree, ast: AST.AST | undefined, path: string): Either.Either<unknown, Problem> => {
  const type = wanted(ast)
  if (typeof tree === "string") return Either.right(scalar(tree, type))
  if (type !== undefined && AST.isTupleType(type)) return toList(tree, type.rest[0]?.type, path)
  return toRecord(tree, type, path)
}

/**
 * The JSON that the form stands for. Members that the declaration does not know stay as they are, for the validation to
 * refuse; a name that is no bracket notation, a value given twice or a list with gaps is a problem here.
 */
export const toJson = (
  fields: Fields,
  form: Iterable<readonly [string, string]>
): Either.Either<unknown, Problem> => {
  const root: Branch = new Map()
  for (const [name, value] of form) {
    const inserted = insert(root, name, value)
    if (Either.isLeft(inserted)) return Either.left(inserted.left)
  }
  return toValue(root, Schema.typeSchema(Schema.Struct(fields)).ast, "")
}
