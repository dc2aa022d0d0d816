/** Decodes parsed JSON: a valid value is returned as it is, without a copy; `null` counts as absent for optional fields. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Issue } from "../../Errors.js"
import * as Issues from "./issues.js"
import { fromSchema, type SchemaNode, unwrap } from "./schemaTree.js"
import * as Validator from "./validator.js"

/** Returns the value itself if it is valid, else a copy without nulls if that is valid, else the first issue. */
export type Decoder = (value: unknown) => Either.Either<unknown, Issue>

/** The decoder of a schema that transforms nothing. */
export const make = (schema: Schema.Schema.AnyNoContext): Decoder => {
  const isValid = Validator.loose(schema)
  const validate = ParseResult.validateEither(schema)
  const node = fromSchema(schema)
  const clean: Decoder = (value) => {
    const cleaned = withoutNulls(node, value)
    return Either.mapBoth(validate(cleaned), {
      onLeft: (error) => Issues.of(error)[0],
      onRight: () => cleaned // Effect's own result is a copy that lacks fields the schema does not name
    })
  }
  return (value) =>
    isValid(value) ? Either.right(value) : Either.getOrElse(Either.try(() => clean(value)), () => Either.left(tooDeep))
}

/** The issue of a value that exhausts the stack. */
const tooDeep: Issue = { path: "", message: "could not be validated, perhaps because it is nested too deep" }

/** A copy of parsed JSON without the nulls of optional fields, at any depth. */
const withoutNulls = (node: SchemaNode, value: unknown): unknown => {
  const target = unwrap(node)
  switch (target._tag) {
    case "Union":
      return target.types.reduce((value, type) => withoutNulls(type, value), value)
    case "Array": {
      const [item] = target.rest
      return Array.isArray(value) && item !== undefined ? value.map((each) => withoutNulls(item, each)) : value
    }
    case "Struct": {
      if (!Predicate.isRecord(value)) return value
      const copy: Record<PropertyKey, unknown> = { ...value }
      for (const { isOptional, name, type } of target.fields) {
        if (isOptional && copy[name] === null) delete copy[name]
        else if (Object.hasOwn(copy, name)) copy[name] = withoutNulls(type, copy[name])
      }
      return copy
    }
    default:
      return value
  }
}
