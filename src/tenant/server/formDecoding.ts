/**
 * Decodes forms (`application/x-www-form-urlencoded`, queries and `multipart/form-data`) into JSON. Nested fields are written in brackets,
 * `fields[0][name]=email`. The declaration decides which values are numbers or booleans, because a form holds only text.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { Fields } from "../../Endpoint.js"
import { getOrInsert } from "../../internal/runtime/memoize.js"
import { fromSchema, isUndefined, type SchemaNode, type Struct, unwrap } from "../../internal/schema/schemaTree.js"

export interface FieldError {
  /** For example `fields[0].name`; empty for the whole value. */
  readonly path: string
  readonly message: string
}

type List = Extract<SchemaNode, { readonly _tag: "Array" }>
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

/** The types that a declared type consists of, without filters. A form cannot express `undefined` and `null`. */
const typesOf = (node: SchemaNode | undefined): ReadonlyArray<SchemaNode> => {
  if (node === undefined || isUndefined(node)) return []
  const type = unwrap(node)
  return type._tag === "Union" ? type.types.flatMap(typesOf) : [type]
}

const accepts = (types: ReadonlyArray<SchemaNode>, tag: SchemaNode["_tag"], value: unknown): boolean =>
  types.some((type) => type._tag === tag || (type._tag === "Literal" && type.value === value))

/** Keeps the text if the declared type allows it. */
const decodeScalar = (text: string, types: ReadonlyArray<SchemaNode>): unknown => {
  if (accepts(types, "String", text)) return text
  if (/^-?\d+(?:\.\d+)?$/.test(text) && accepts(types, "Number", Number(text))) return Number(text)
  if (/^(?:true|false)$/.test(text) && accepts(types, "Boolean", text === "true")) return text === "true"
  return text
}

const decodeArray = (branch: Branch, { elements, rest }: List, path: string) =>
  Either.all(Array.from(branch.keys(), (_, index) => {
    const tree = branch.get(String(index))
    return tree === undefined
      ? invalid(path, "is not a list numbered from 0 without gaps")
      : decodeTree(tree, elements[index] ?? rest[0], `${path}[${index}]`)
  }))

const decodeObject = (branch: Branch, structs: ReadonlyArray<Struct>, path: string) =>
  Either.map(
    Either.all(Array.from(branch, ([name, tree]) => {
      const fields = structs.flatMap((struct) => struct.fields).filter((field) => field.name === name)
      const [type] = [
        ...fields.map(({ type }) => type),
        ...structs.flatMap(({ indexes }) => indexes.map(({ values }) => values))
      ]
      return Either.map(
        decodeTree(tree, type, path === "" ? name : `${path}.${name}`),
        (value) => [name, value] as const
      )
    })),
    Object.fromEntries // unlike an assignment, it makes `__proto__` an ordinary field
  )

const decodeTree = (tree: Tree, node: SchemaNode | undefined, path: string): Either.Either<unknown, FieldError> => {
  const types = typesOf(node)
  if (typeof tree === "string") return Either.right(decodeScalar(tree, types))
  const structs = types.filter((type) => type._tag === "Struct")
  const list = types.find((type) => type._tag === "Array")
  return list !== undefined && (structs.length === 0 || tree.has("0"))
    ? decodeArray(tree, list, path)
    : decodeObject(tree, structs, path)
}

/**
 * Decodes a form. Keeps fields that are not declared, for the validation to refuse; fails for a name that is not in bracket
 * notation, a value given twice or a list with gaps.
 */
export const decodeForm = (
  schema: Schema.Schema.AnyNoContext,
  form: Iterable<readonly [string, string]>
): Either.Either<unknown, FieldError> => {
  const root: Branch = new Map()
  for (const [name, value] of form) {
    const inserted = insert(root, name, value)
    if (Either.isLeft(inserted)) return Either.left(inserted.left)
  }
  return decodeTree(root, fromSchema(schema), "")
}

const structs = new WeakMap<Fields, Schema.Schema.AnyNoContext>()

/** The schema of decoded fields. Its compiled validator is kept with it. */
export const structOf = (fields: Fields): Schema.Schema.AnyNoContext =>
  getOrInsert(structs, fields, () => Schema.typeSchema(Schema.Struct(fields)))

/** The fields of a struct as nodes. */
const fieldsOf = (fields: Fields): Struct["fields"] => {
  const node = fromSchema(structOf(fields))
  return node._tag === "Struct" ? node.fields : []
}

/** Decodes a query, where a declared list is written as a repeated name: `id=a&id=b`. What may be a list or not is one if it repeats. */
export const decodeQuery = (fields: Fields, query: URLSearchParams): Either.Either<unknown, FieldError> => {
  const declared = fieldsOf(fields)
  const isList = (name: string) => {
    const types = typesOf(declared.find((field) => field.name === name)?.type)
    const lists = types.filter(({ _tag }) => _tag === "Array")
    return lists.length > 0 && (lists.length === types.length || query.getAll(name).length > 1)
  }
  const count = new Map<string, number>()
  const numbered = Array.from(query, ([name, value]): readonly [string, string] => {
    if (!isList(name)) return [name, value]
    const index = count.get(name) ?? 0
    count.set(name, index + 1)
    return [`${name}[${index}]`, value]
  })
  return decodeForm(structOf(fields), numbered)
}

/** Decodes a part of a multipart body: a file has a name, everything else is text. */
const decodePart = (value: FormDataEntryValue, type: SchemaNode | undefined): Effect.Effect<unknown> =>
  typeof value === "string"
    ? Effect.succeed(decodeScalar(value, typesOf(type)))
    : Effect.map(Effect.promise(() => value.arrayBuffer()), (content) => ({
      name: value.name,
      ...(value.type !== "" && { contentType: value.type }),
      content: new Uint8Array(content)
    }))

/** Decodes a body of the type `multipart/form-data`. */
export const decodeMultipart = (
  fields: Fields,
  contentType: string,
  content: Uint8Array | string
): Effect.Effect<Either.Either<unknown, FieldError>> =>
  Effect.gen(function*() {
    const declared = fieldsOf(fields)
    const body = new Response(content as BodyInit, { headers: { "content-type": contentType } }) // sound: no chunk of a server shares its memory
    const form = yield* Effect.tryPromise({
      try: () => body.formData(),
      catch: (): FieldError => ({ path: "", message: "The body is not valid multipart/form-data" })
    })
    const decoded: Array<readonly [string, unknown]> = []
    for (const [name, value] of form) {
      if (form.getAll(name).length > 1) return yield* Effect.fail<FieldError>({ path: name, message: "is given twice" })
      decoded.push([name, yield* decodePart(value, declared.find((field) => field.name === name)?.type)])
    }
    return Object.fromEntries(decoded)
  }).pipe(Effect.either)
