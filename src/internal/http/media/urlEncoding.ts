/** Percent-encodes strings, and fields of forms and queries. */
import * as Either from "effect/Either"
import type { Issue } from "../../../Errors.js"
import { hasToJson, isComposite, notFiniteMessage } from "./composite.js"

/** Made once: esbuild writes it as `new RegExp` when it bundles for Node, which would run at each call. */
const loneSurrogate = /\p{Cs}/u

/** Percent-encodes a string. Refuses a lone surrogate, which UTF-8 cannot express: it would arrive as another character. */
export const component = (value: string): string | undefined =>
  loneSurrogate.test(value) ? undefined : encodeURIComponent(value)

type Path = ReadonlyArray<string>
type Pairs = ReadonlyArray<readonly [path: Path, value: unknown]>

/** Recognizes a value whose fields a form writes one by one. */
const hasFields = (value: unknown): value is object =>
  typeof value === "object" && value !== null && isComposite(value) && !hasToJson(value)

/** Flattens a field of a form to paths and values. `undefined` means not set. */
const formPairs = (path: Path, value: unknown): Pairs => {
  if (value === undefined) return []
  const inner = hasFields(value) ? Object.entries(value) : []
  return inner.length === 0 ? [[path, value]] : inner.flatMap(([key, value]) => formPairs([...path, key], value))
}

/** Flattens a field of a query: a list repeats the name, as OpenAPI documents mean it (`form`, `explode`). */
const queryPairs = (path: Path, value: unknown): Pairs =>
  Array.isArray(value) && value.length > 0 ? value.flatMap((item) => formPairs(path, item)) : formPairs(path, value)

/** Encodes a query, in the order of its fields. */
export const encodeQuery = (fields: object): Either.Either<string, Issue> => encodePairs(fields, queryPairs, 1)

/** Encodes declared fields as a form, in their order. */
export const encodeForm = (fields: object): Either.Either<string, Issue> => encodePairs(fields, formPairs, 1)

/** Encodes an object as a form. Its fields need not be declared. */
export const encodeObject = (fields: object): Either.Either<string, Issue> => encodePairs(fields, formPairs, 0)

/** Writes a path in brackets: `fields[0][name]`. */
const nameOf = ([field = "", ...keys]: Path): string => keys.reduce((name, key) => `${name}[${key}]`, field)

/** Recognizes a key that a service would not read from between brackets, or would read as several. */
const isOdd = (key: string): boolean => key === "" || /[[\]]/.test(key)

/** Says why a form or a query cannot express a value without fields. */
const messageOf = (value: unknown): string | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : notFiniteMessage
  if (value === null || hasFields(value)) return "a form cannot express null or an empty list"
  const isOther = typeof value === "object" || typeof value === "function" || typeof value === "symbol"
  return isOther ? "expected a value that a form or a query can express" : undefined
}

/** Refuses what a form or a query cannot express. The first `declared` keys of each path may have brackets of their own. */
const encodePairs = (
  fields: object,
  pairsOf: (path: Path, value: unknown) => Pairs,
  declared: number
): Either.Either<string, Issue> => {
  let form = ""
  for (const [field, value] of Object.entries(fields)) {
    for (const [path, inner] of pairsOf([field], value)) {
      const name = nameOf(path)
      if (path.slice(declared).some(isOdd)) {
        return Either.left({
          path: name,
          message: "a form or a query cannot express a key that is empty or has brackets"
        })
      }
      const message = messageOf(inner)
      if (message !== undefined) return Either.left({ path: name, message })
      const encodedName = component(name)
      const encodedValue = component(String(inner))
      if (encodedName === undefined || encodedValue === undefined) {
        return Either.left({ path: name, message: "expected well-formed Unicode" })
      }
      form += `${form === "" ? "" : "&"}${encodedName}=${encodedValue}`
    }
  }
  return Either.right(form)
}
