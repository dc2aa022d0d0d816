/** Plain values that are kept outside of this process: written down, and taken over again without trusting them. */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

/** What was kept, or what somebody else has put there. */
export type Saved = Readonly<Record<string, unknown>>

const isPlain = (value: unknown): boolean =>
  typeof value === "number" || typeof value === "boolean" || typeof value === "string"

/** The plain members of an object. */
export const plain = (from: object): Saved =>
  Object.fromEntries(Object.entries(from).filter(([, value]) => isPlain(value)))

/** Takes over the members that an object has by that name and of that type; a member that is not set may become a number. */
export const restore = <A extends object>(to: A, saved: unknown): A => {
  for (const [name, value] of Object.entries(to)) {
    const kept = Predicate.hasProperty(saved, name) ? saved[name] : undefined
    const isLike = value === undefined ? typeof kept === "number" : isPlain(value) && typeof kept === typeof value
    if (isLike) Object.assign(to, { [name]: kept })
  }
  return to
}

/** JSON knows no infinities, nor what is no number. */
const odd = new Map([["+inf", Infinity], ["-inf", -Infinity], ["nan", NaN]])

const name = (number: number): string => Number.isNaN(number) ? "nan" : number > 0 ? "+inf" : "-inf"

export const encode = (value: Saved): string =>
  JSON.stringify(
    value,
    (_, member: unknown) => typeof member === "number" && !Number.isFinite(member) ? name(member) : member
  )

/** What the text says; nothing, if it is none of ours. */
export const decode = (text: string): Saved => {
  const parsed: unknown = Either.getOrUndefined(
    Either.try((): unknown =>
      JSON.parse(text, (_, member: unknown) => typeof member === "string" ? odd.get(member) ?? member : member)
    )
  )
  return Predicate.isReadonlyRecord(parsed) ? parsed : {}
}
