/** Fields that a call sends in addition to those that its operation declares. */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type { Issue } from "../../Errors.js"
import * as JsonText from "./media/json.js"

/** A JSON value. @since 0.1.0 @category models */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json }

/** Fields that an operation does not declare. @since 0.1.0 @category models */
export interface ExtraFields {
  /** Fields of the body. */
  readonly body?: { readonly [name: string]: Json }
  /** Query parameters. A list repeats its name. */
  readonly query?: { readonly [name: string]: Json }
}

type Fields = Readonly<Record<string, unknown>>

/** The greatest length of all extra fields as JSON. */
const maxLength = 64 * 1024

/** Merges objects, at any depth. Anything else, a list too, is replaced. Neither argument is changed. */
export const merge = (fields: Fields, extra: Fields | undefined): Fields =>
  extra === undefined ? fields : Object.fromEntries([
    ...Object.entries(fields),
    ...Object.entries(extra).map(([name, value]) => {
      const before = Object.hasOwn(fields, name) ? fields[name] : undefined
      return [
        name,
        Predicate.isReadonlyRecord(before) && Predicate.isReadonlyRecord(value) ? merge(before, value) : value
      ] as const
    })
  ])

/** Finds why extra fields cannot be sent: they are no JSON, or too long. */
export const issueIn = (extra: ExtraFields): Issue | undefined => {
  const message = `expected at most ${maxLength} characters of JSON, neither cyclic nor nested too deep`
  const text = Either.try(() => JsonText.encode(extra, "withFields"))
  if (Either.isLeft(text)) return { path: "withFields", message }
  return Either.match(text.right, {
    onLeft: (issue) => issue,
    onRight: ({ length }) => length > maxLength ? { path: "withFields", message } : undefined
  })
}

/** Adds extra fields to others. Those that cannot be sent stay alone: the call fails with their issue. */
export const append = (before: ExtraFields | undefined, extra: ExtraFields): ExtraFields => {
  if (before === undefined) return extra
  const bad = [before, extra].find((fields) => issueIn(fields) !== undefined)
  return bad ?? merge(before as Fields, extra as Fields) // sound: both are objects of objects
}
