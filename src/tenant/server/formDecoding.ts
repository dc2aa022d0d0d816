/**
 * Decodes a form (`application/x-www-form-urlencoded`) into JSON. Nested fields are written in brackets,
 * `fields[0][name]=email`. The declaration decides which values are numbers or booleans, because a form holds only text.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { Fields } from "../../Endpoint.js"
import { fromSchema, isUndefined, type SchemaNode } from "../../internal/schema/schemaTree.js"

export interface FieldError {
  /** For example `fields[0].name`; empty for the whole value. */
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

/** Removes filters and `undefined` from the declared type; a union of several types remains. */
const declaredType = (node: SchemaNode | undefined): SchemaNode | undefined => {
  if (node?._tag === "Refinement") return declaredType(node.from)
  if (node?._tag !== "Union") return node
  const [type, ...others] = node.types.filter((type) => !isUndefined(type))
  return others.length === 0 ? declaredType(type) : node
}

const decodeScalar = (text: string, type: SchemaNode | undefined): unknown => {
  if (type?._tag === "Number" && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text)
  if (type?._tag === "Boolean" && /^(?:true|false)$/.test(text)) return text === "true"
  return text
}

const decodeArray = (branch: Branch, item: SchemaNode | undefined, path: string) =>
  Either.all(Array.from(branch.keys(), (_, index) => {
    const tree = branch.get(String(index))
    return tree === undefined
      ? invalid(path, "is not a list numbered from 0 without gaps")
      : decodeTree(tree, item, `${path}[${index}]`)
  }))

const decodeObject = (branch: Branch, type: SchemaNode | undefined, path: string) =>
  Either.map(
    Either.all(Array.from(branch, ([name, tree]) => {
      const field = type?._tag === "Struct" ? type.fields.find((field) => field.name === name) : undefined
      return Either.map(
        decodeTree(tree, field?.type, path === "" ? name : `${path}.${name}`),
        (value) => [name, value] as const
      )
    })),
    Object.fromEntries // unlike an assignment, it makes `__proto__` an ordinary field
  )

const decodeTree = (tree: Tree, node: SchemaNode | undefined, path: string): Either.Either<unknown, FieldError> => {
  const type = declaredType(node)
  if (typeof tree === "string") return Either.right(decodeScalar(tree, type))
  return type?._tag === "Array" ? decodeArray(tree, type.rest[0], path) : decodeObject(tree, type, path)
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
  return decodeTree(root, fromSchema(Schema.typeSchema(Schema.Struct(fields))), "")
}
