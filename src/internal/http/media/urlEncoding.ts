/** Percent-encodes strings, and fields of forms and queries. */
import * as Either from "effect/Either"
import type { Issue } from "../../../Errors.js"

/** Percent-encodes a string. Refuses a lone surrogate, which UTF-8 cannot express: it would arrive as another character. */
export const component = (value: string): string | undefined =>
  /\p{Cs}/u.test(value) ? undefined : encodeURIComponent(value)

type Pairs = ReadonlyArray<readonly [name: string, value: unknown]>

/** Flattens a field of a form to names and values, in brackets: `fields[0][name]=email`. `undefined` means not set. */
const formPairs = (name: string, value: unknown): Pairs => {
  if (value === undefined) return []
  if (typeof value !== "object" || value === null) return [[name, value]]
  const inner = Object.entries(value)
  return inner.length === 0 ? [[name, value]] : inner.flatMap(([key, value]) => formPairs(`${name}[${key}]`, value))
}

/** Flattens a field of a query: a list repeats the name, as OpenAPI documents mean it (`form`, `explode`). */
const queryPairs = (name: string, value: unknown): Pairs =>
  Array.isArray(value) && value.length > 0 ? value.flatMap((item) => formPairs(name, item)) : formPairs(name, value)

/** Encodes a query, in the order of its fields. */
export const encodeQuery = (fields: object): Either.Either<string, Issue> => encodePairs(fields, queryPairs)

/** Encodes a form, in the order of its fields. */
export const encodeForm = (fields: object): Either.Either<string, Issue> => encodePairs(fields, formPairs)

/** Refuses what a form cannot express. */
const encodePairs = (
  fields: object,
  pairsOf: (name: string, value: unknown) => Pairs
): Either.Either<string, Issue> => {
  let form = ""
  for (const [field, value] of Object.entries(fields)) {
    for (const [name, inner] of pairsOf(field, value)) {
      if (typeof inner === "object") {
        return Either.left({ path: name, message: "a form cannot express null or an empty list" })
      }
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
