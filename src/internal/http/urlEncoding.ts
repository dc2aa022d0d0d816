/** Percent-encodes strings, and fields of forms and queries, nested ones in brackets: `fields[0][name]=email`. */
import * as Either from "effect/Either"
import type { Issue } from "../../Errors.js"

/** Percent-encodes a string. Refuses a lone surrogate, which UTF-8 cannot express: it would arrive as another character. */
export const component = (value: string): string | undefined =>
  /\p{Cs}/u.test(value) ? undefined : encodeURIComponent(value)

/** Flattens a field to names and values. `undefined` means not set. */
const pairs = (name: string, value: unknown): ReadonlyArray<readonly [name: string, value: unknown]> => {
  if (value === undefined) return []
  if (typeof value !== "object" || value === null) return [[name, value]]
  const inner = Object.entries(value)
  return inner.length === 0 ? [[name, value]] : inner.flatMap(([key, value]) => pairs(`${name}[${key}]`, value))
}

/** Encodes a form or a query, in the order of its fields. Refuses what a form cannot express. */
export const encode = (fields: object): Either.Either<string, Issue> => {
  let form = ""
  for (const [field, value] of Object.entries(fields)) {
    for (const [name, inner] of pairs(field, value)) {
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
