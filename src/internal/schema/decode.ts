/**
 * Decodes parsed JSON: a valid value is returned as it is, without a copy; `null` counts as absent for optional fields. Unknown fields stay in
 * the value; `drift.ts` finds them for the logs.
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Issue } from "../../Errors.js"
import { getOrInsert } from "../runtime/memoize.js"
import { isLostNumber } from "../runtime/parseJson.js"
import { issuesOf } from "./parseIssues.js"
import { fromSchema, type SchemaNode, type Struct, typesOf, unwrap } from "./schemaTree.js"
import * as Validator from "./validator.js"

/** Returns the value itself if it is valid, else a copy without nulls if that is valid, else the first issue. */
export type Decoder = (value: unknown) => Either.Either<unknown, Issue>

/** The decoder of a schema that transforms nothing. */
export const make = (schema: Schema.Schema.AnyNoContext): Decoder => {
  const isValid = Validator.loose(schema)
  const validate = ParseResult.validateEither(schema)
  const node = fromSchema(schema)
  const validators = new Map<SchemaNode, Validator.Validator>()
  const clean: Decoder = (value) => {
    const cleaned = withoutNulls(node, value, { known: new Map(), validators })
    return isValid(cleaned)
      ? Either.right(cleaned) // Effect's own result is a copy that lacks fields the schema does not name
      : Either.mapBoth(validate(cleaned), { onLeft: (error) => issuesOf(error)[0], onRight: () => cleaned })
  }
  return (value) =>
    isValid(value) ? Either.right(value) : Either.getOrElse(Either.try(() => clean(value)), () => Either.left(tooDeep))
}

/** Checks that a value is an object or a list where the schema expects one. */
const isOfKind = (node: SchemaNode, value: unknown): boolean =>
  typesOf(unwrap(node)).map(unwrap).some(({ _tag }) =>
    (_tag === "Struct" && Predicate.isReadonlyRecord(value)) ||
    (_tag === "Array" && Array.isArray(value))
  )

/**
 * A decoder that accepts objects and lists with fields of other types or without required ones. A page must have its list, in the field
 * `items` or as a whole: without it a listing would end too early.
 */
export const makeLenient = (schema: Schema.Schema.AnyNoContext, items: string | undefined): Decoder => {
  const decode = make(schema)
  const node = fromSchema(schema)
  const clean = (value: unknown) => withoutNulls(node, value, { known: new Map(), validators: new Map() })
  const isUsable = (value: unknown): boolean =>
    isOfKind(node, value) &&
    (items === undefined || Array.isArray(value) || (Predicate.isReadonlyRecord(value) && Array.isArray(value[items])))
  return (value) =>
    Either.orElse(
      decode(value),
      (issue) => isUsable(value) ? Either.mapLeft(Either.try(() => clean(value)), () => tooDeep) : Either.left(issue)
    )
}

/** The issue of a value that exhausts the stack. */
const tooDeep: Issue = { path: "", message: "could not be validated, perhaps because it is nested too deep" }

interface Context {
  /** The values that are cleaned already, by the type that they are cleaned as: each type of a union may come back to them. */
  readonly known: Map<SchemaNode, Map<unknown, unknown>>
  /** The validators of the types of unions, which are compiled when a null within one is first met. */
  readonly validators: Map<SchemaNode, Validator.Validator>
}

/**
 * A copy of parsed JSON without the nulls of optional fields, at any depth; the value itself if it has none. A number that arrives as its digits, because
 * JavaScript cannot hold it, is rounded where the type is a number: drift detection reports it.
 */
const withoutNulls = (node: SchemaNode, value: unknown, context: Context): unknown => {
  switch (node._tag) {
    case "Refinement":
      return withoutNulls(node.from, value, context)
    case "Lazy": {
      const target = node.get()
      const known = getOrInsert(context.known, target, () => new Map<unknown, unknown>())
      if (known.has(value)) return known.get(value)
      const clean = withoutNulls(target, value, context)
      known.set(value, clean).set(clean, clean)
      return clean
    }
    case "Union":
      return withoutNullsOfUnion(node.types, value, context)
    case "Array": {
      if (!Array.isArray(value)) return value
      const cleaned = value.map((each, index) => {
        const type = node.elements[index] ?? node.rest[0]
        return type === undefined ? each : withoutNulls(type, each, context)
      })
      return replaced(value, cleaned)
    }
    case "Struct":
      return Predicate.isRecord(value) ? withoutNullFields(node, value, context) : value
    case "Number":
      return Predicate.isString(value) && isLostNumber(value) ? Number(value) : value
    default:
      return value
  }
}

/** Keeps a value that a type accepts, else cleans it as the first type that is then valid: what one accepts as null, another may not. */
const withoutNullsOfUnion = (types: ReadonlyArray<SchemaNode>, value: unknown, context: Context): unknown => {
  const candidates = types.map((type) => ({ type, cleaned: withoutNulls(type, value, context) }))
  const [first, ...others] = Arr.dropWhile(candidates, ({ cleaned }) => cleaned === value)
  if (first === undefined) return value // no type changes it: without a validation, which visits all of it
  const fits = (type: SchemaNode, value: unknown) => getOrInsert(context.validators, type, Validator.looseNode)(value)
  if (types.some((type) => fits(type, value))) return value
  const valid = candidates.find(({ cleaned, type }) => fits(type, cleaned))
  return valid === undefined
    ? others.reduce((value, { type }) => withoutNulls(type, value, context), first.cleaned)
    : valid.cleaned
}

/** The old list if the new one is no different. */
const replaced = (before: ReadonlyArray<unknown>, after: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  after.every((each, index) => each === before[index]) ? before : after

const withoutNullFields = ({ fields, indexes: [index] }: Struct, value: InputObject, context: Context): InputObject => {
  let copy: Record<PropertyKey, unknown> | undefined
  const clean = (name: PropertyKey, type: SchemaNode) => {
    const before = (copy ?? value)[name]
    const after = withoutNulls(type, before, context)
    if (after !== before) (copy ??= { ...value })[name] = after
  }
  if (index !== undefined) { for (const name of Object.keys(value)) clean(name, index.values) }
  for (const { isOptional, name, type } of fields) {
    if (!Object.hasOwn(value, name)) continue
    if (isOptional && value[name] === null && !acceptsNull(type)) delete (copy ??= { ...value })[name]
    else clean(name, type)
  }
  return copy ?? value
}

type InputObject = Readonly<Record<PropertyKey, unknown>>

/** Checks that `null` is a value of its own there, which means more than that the field is absent. */
const acceptsNull = (node: SchemaNode): boolean =>
  typesOf(node).some((type) => type._tag === "Unknown" || (type._tag === "Literal" && type.value === null))
