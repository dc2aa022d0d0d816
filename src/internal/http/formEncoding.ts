/** Writes members as `application/x-www-form-urlencoded`, nested ones in brackets: `fields[0][name]=email`. */
import * as Either from "effect/Either"
import type { Issue } from "../../Errors.js"

/** Percent-encodes a string, unless it is none that UTF-8 can express: a lone surrogate would arrive as another character. */
export const component = (value: string): string | undefined =>
  /\p{Cs}/u.test(value) ? undefined : encodeURIComponent(value)

/** The pairs of one member; `undefined` is not set. */
const pairs = (name: string, value: unknown): ReadonlyArray<readonly [name: string, value: unknown]> => {
  if (value === undefined) return []
  if (typeof value !== "object" || value === null) return [[name, value]]
  const inner = Object.entries(value)
  return inner.length === 0 ? [[name, value]] : inner.flatMap(([key, value]) => pairs(`${name}[${key}]`, value))
}

/** A form or a query of these members, in their order. What a form has no notation for is refused, not lost. */
export const encode = (members: object): Either.Either<string, Issue> => {
  let form = ""
  for (const [member, value] of Object.entries(members)) {
    for (const [name, inner] of pairs(member, value)) {
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
