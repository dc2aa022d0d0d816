/** Checks values, and names the first invalid field, in the words of the service. */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { append } from "../../internal/schema/issues.js"
import { fromSchema, isUndefined, type SchemaNode, type Struct } from "../../internal/schema/schemaTree.js"
import { looseNode } from "../../internal/schema/validator.js"
import type { FieldError } from "./formDecoding.js"

type Errors = ReadonlyArray<FieldError>

const expected = (path: string, what: string): Errors => [{ path, message: `Expected ${what}` }]

const errorsOf = (node: SchemaNode, value: unknown, path: string): Errors => {
  switch (node._tag) {
    case "Union": {
      const types = node.types.filter((type) => !isUndefined(type) || value === undefined)
      const meant = types.filter((type) => hasLiterals(type, value))
      const errors = (meant.length > 0 ? meant : types).map((type) => errorsOf(type, value, path))
      return errors.some((each) => each.length === 0) ? [] : errors.flat()
    }
    case "Refinement": {
      const errors = errorsOf(node.from, value, path)
      if (errors.length > 0 || node.predicate(value)) return errors
      return expected(path, node.description ?? node.name)
    }
    case "Lazy":
      return errorsOf(node.get(), value, path)
    case "Array": {
      const [rest] = node.rest
      if (!Array.isArray(value) || value.length < node.elements.length) return expected(path, node.name)
      return value.flatMap((item, index) => {
        const type = node.elements[index] ?? rest
        return type === undefined ? unexpected(append(path, index)) : errorsOf(type, item, append(path, index))
      })
    }
    case "Struct":
      if (Predicate.isRecord(value) && !isEmpty(node)) return ofFields(node, value, path)
      return isEmpty(node) && looseNode(node)(value) ? [] : expected(path, node.name)
    default:
      return looseNode(node)(value) ? [] : expected(path, node.name)
  }
}

/** Tells by the literals of a struct if a value of a union is meant for it. */
const hasLiterals = (node: SchemaNode, value: unknown): boolean =>
  node._tag !== "Struct" || !Predicate.isRecord(value) ||
  node.fields.every(({ name, type }) => type._tag !== "Literal" || type.value === value[name])

/** A struct without fields, which allows any. */
const isEmpty = ({ fields, indexes }: Struct): boolean => fields.length === 0 && indexes.length === 0

const unexpected = (path: string): Errors => [{ path, message: "is unexpected" }]

/** The errors of an object's fields. Those that are not declared come first. */
const ofFields = (
  { fields, indexes: [index] }: Struct,
  value: { readonly [name: PropertyKey]: unknown },
  path: string
): Errors => {
  const others = Object.keys(value).filter((key) => fields.every(({ name }) => name !== key))
  const isExpected = (name: string) => index !== undefined && errorsOf(index.keys, name, path).length === 0
  return [
    ...others.flatMap((name) => isExpected(name) ? [] : unexpected(append(path, name))),
    ...fields.flatMap(({ isOptional, name, type }): Errors =>
      Object.hasOwn(value, name)
        ? errorsOf(type, value[name], append(path, name))
        : isOptional
        ? []
        : [{ path: append(path, name), message: "is missing" }]
    ),
    ...others.flatMap((name) => index === undefined ? [] : errorsOf(index.values, value[name], append(path, name)))
  ]
}

/** Checks a value; fields that are not declared are refused by name. The first invalid field is reported, with all that it may be. */
export const check = (schema: Schema.Schema.AnyNoContext, value: unknown): Either.Either<unknown, FieldError> => {
  const [first, ...others] = errorsOf(fromSchema(schema), value, "")
  if (first === undefined) return Either.right(value)
  const alternatives = others.filter(({ path }) => path === first.path).map(({ message }) =>
    message.replace("Expected ", "")
  )
  return Either.left({ path: first.path, message: [...new Set([first.message, ...alternatives])].join(" or ") })
}
