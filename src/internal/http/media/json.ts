/** Encodes JSON, and refuses what it would silently change: a `Set` becomes `{}`, a secret its mark, `NaN` and a function in a list `null`. */
import * as Either from "effect/Either"
import * as Inspectable from "effect/Inspectable"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { Issue } from "../../../Errors.js"
import { append } from "../../schema/issues.js"
import { hasToJson, isComposite, notFiniteMessage } from "./composite.js"

const inexpressible = "expected a value that JSON can express"

/** The content that JSON writes: what `toJSON` gives, if there is one. */
const contentOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && hasToJson(value) ? value.toJSON() : value

/** Recognizes the data types of Effect, such as `Option`. Their `toJSON` gives a description. */
const isDescribed = (value: object, content: object): boolean =>
  Inspectable.NodeInspectSymbol in value && Predicate.hasProperty(content, "_id") && Predicate.isString(content._id)

/** Says why JSON cannot express a value, apart from the values within it. */
const messageOf = (value: unknown, content: unknown): string | undefined => {
  if (Redacted.isRedacted(value)) return inexpressible
  switch (typeof content) {
    case "number":
      return Number.isFinite(content) ? undefined : notFiniteMessage
    case "object":
      if (content === null) return value instanceof Date ? "expected a valid date" : undefined
      return isComposite(content) && !isDescribed(Object(value), content) ? undefined : inexpressible
    case "function":
    case "symbol":
    case "undefined":
      return inexpressible
    default:
      return undefined
  }
}

type Entries = ReadonlyArray<readonly [key: PropertyKey, value: unknown]>

/** The values within a value. A field that is `undefined` is absent; an item of a list is not. */
const entriesOf = (content: unknown): Entries =>
  typeof content !== "object" || content === null
    ? []
    : Array.isArray(content)
    ? Array.from(content, (item: unknown, index) => [index, item] as const)
    : Object.entries(content).filter(([, field]) => field !== undefined)

/** Checks a value and all within it. Makes no paths, and goes as deep as JSON does: it does not recurse. */
const isExpressible = (value: unknown): boolean => {
  const pending = [value] // it grows while it is visited
  for (const each of pending) {
    const content = contentOf(each)
    if (messageOf(each, content) !== undefined) return false
    if (typeof content !== "object" || content === null) continue
    const isList = Array.isArray(content)
    for (const inner of isList ? content : Object.values(content)) {
      if (typeof inner !== "string" && (isList || inner !== undefined)) pending.push(inner)
    }
  }
  return true
}

/** Lists what JSON cannot express. */
const issuesIn = (value: unknown, path: string): ReadonlyArray<Issue> => {
  const content = contentOf(value)
  const message = messageOf(value, content)
  return message === undefined
    ? entriesOf(content).flatMap(([key, inner]) => issuesIn(inner, append(path, key)))
    : [{ path, message }]
}

/** Encodes a value. The paths of its parts begin with `path`. Throws if it is cyclic or nested too deep. */
export const encode = (value: unknown, path: string): Either.Either<string, Issue> => {
  const text = JSON.stringify(value) // first: it recognizes a cycle
  const [issue] = isExpressible(value) ? [] : issuesIn(value, path)
  return issue === undefined ? Either.right(text) : Either.left(issue)
}
