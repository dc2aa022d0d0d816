/** Issues name a path and the expected type, never the value: it may be secret. */
import { InvalidInput, type Issue } from "../../Errors.js"
import { isUndefined, type SchemaNode } from "./schemaNode.js"

/** Describes the type that a schema expects, for example `a string or an object`. */
export const describe = (node: SchemaNode): string => {
  if (node.description !== undefined) return node.description
  switch (node._tag) {
    case "Union":
      return node.types.filter((type) => !isUndefined(type)).map(describe).join(" or ")
    case "Refinement":
      return describe(node.from)
    case "Lazy":
      return describe(node.get())
    case "Array":
      return "a list"
    case "Struct":
      return "an object"
    default:
      return node.name
  }
}

/** Replaces characters that a terminal or a log obeys, such as line breaks and marks of direction, by a space. */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ")

/** Extends a path such as `fields[0]` by more keys. */
export const append = (path: string, keys: PropertyKey | ReadonlyArray<PropertyKey>): string =>
  [keys].flat().reduce<string>(
    (path, key) =>
      typeof key === "number" ? `${path}[${key}]` : `${path === "" ? "" : `${path}.`}${printable(String(key))}`,
    path
  )

/** Describes a response that does not match its schema. */
export const mismatch = ({ message, path }: Issue): string =>
  `unexpected response body${path === "" ? "" : ` at ${path}`}: ${message}`

/** Makes the error of a layer, or of another `operation`, whose setting is not valid. */
export const invalidSetting = (operation: string, setting: string, message: string): InvalidInput =>
  new InvalidInput({ operation, issues: [{ path: setting, message }] })

/** Lists the issue of a number that is no integer of at least `minimum`. */
export const integerIssues = (path: string, value: number, minimum: number): ReadonlyArray<Issue> =>
  Number.isSafeInteger(value) && value >= minimum
    ? []
    : [{ path, message: `expected an integer of at least ${minimum}` }]
