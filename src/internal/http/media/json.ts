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

/** A value, and where it is. */
interface Place {
  readonly value: unknown
  readonly key: PropertyKey
  /** The value that has it; none for the whole body. */
  readonly parent: Place | undefined
}

const pathOf = ({ key, parent }: Place, path: string): string =>
  parent === undefined ? path : append(pathOf(parent, path), key)

/** Recognizes a value that JSON writes as it is, and that has no others within it. Most are of this kind. */
const isPlain = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "boolean" || value === null || Number.isFinite(value)

/** Finds a value that JSON cannot express, those closest to the root first. Goes as deep as JSON does: it does not recurse. */
const issueIn = (value: unknown, path: string): Issue | undefined => {
  const places: Array<Place> = [{ value, key: "", parent: undefined }] // it grows while it is visited
  for (const place of places) {
    const content = contentOf(place.value)
    const message = messageOf(place.value, content)
    if (message !== undefined) return { path: pathOf(place, path), message }
    if (Array.isArray(content)) {
      for (const [key, item] of content.entries()) {
        if (!isPlain(item)) places.push({ value: item, key, parent: place })
      }
    } else if (Predicate.isReadonlyRecord(content)) {
      for (const key of Object.keys(content)) {
        const field = content[key]
        // A field that is `undefined` is absent; an item of a list is not.
        if (field !== undefined && !isPlain(field)) places.push({ value: field, key, parent: place })
      }
    }
  }
  return undefined
}

/** Encodes a value. The paths of its parts begin with `path`. Throws if it is cyclic or nested too deep. */
export const encode = (value: unknown, path: string): Either.Either<string, Issue> => {
  const text = JSON.stringify(value) // first: it recognizes a cycle
  const issue = issueIn(value, path)
  return issue === undefined ? Either.right(text) : Either.left(issue)
}
