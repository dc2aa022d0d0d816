/** Plain values that are kept outside of this process: written down, and taken over again without trusting them. */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { parseJson } from "../http/errorBody.js"

/** What was kept, or what somebody else has put there. */
export type Saved = Readonly<Record<string, unknown>>

/** JSON knows no infinities, nor what is no number. */
const odd = new Map([["+inf", Infinity], ["-inf", -Infinity], ["nan", NaN]])

const written = (value: unknown): unknown =>
  typeof value !== "number" || Number.isFinite(value)
    ? value
    : Number.isNaN(value)
    ? "nan"
    : value > 0
    ? "+inf"
    : "-inf"

const isPlain = (value: unknown): boolean =>
  typeof value === "number" || typeof value === "boolean" || typeof value === "string"

/** The plain members of an object. */
export const plain = (from: object): Saved => {
  const saved: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(from)) if (isPlain(value)) saved[name] = written(value)
  return saved
}

/** Takes over the members that an object has by that name and of that type; a member that is not set may become a number. */
export const restore = <A extends object>(to: A, saved: unknown): A => {
  for (const [name, value] of Object.entries(to)) {
    const kept = Predicate.hasProperty(saved, name) ? saved[name] : undefined
    const read = typeof value === "number" && typeof kept === "string" ? odd.get(kept) : kept
    const isLike = value === undefined ? typeof read === "number" : isPlain(value) && typeof read === typeof value
    if (isLike) Object.assign(to, { [name]: read })
  }
  return to
}

/** What the text says; nothing, if it is none of ours. */
export const decode = (text: string): Saved => {
  const parsed = Either.getOrUndefined(parseJson(text))
  return Predicate.isReadonlyRecord(parsed) ? parsed : {}
}
