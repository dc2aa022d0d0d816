/** Reads the values of the shared store, which a process of another version may have written. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as SharedStore from "../../SharedStore.js"

/** A number; JSON has no infinities. */
export const JsonNumber = /* @__PURE__ */ Schema.transform(
  /* @__PURE__ */ Schema.Union(Schema.Finite, /* @__PURE__ */ Schema.Literal("Infinity", "-Infinity")),
  Schema.Number,
  {
    strict: true,
    decode: Number,
    encode: (number) => number === Infinity ? "Infinity" : number === -Infinity ? "-Infinity" : number
  }
)

/** Makes a reader of one key's entries. It ignores values of another version or shape, and warns of the first. */
export const reader = <A>(key: string, decode: (text: string) => Option.Option<A>) => {
  let hasWarned = false
  return (entry: SharedStore.Entry | undefined): Effect.Effect<A | undefined> => {
    const value = entry === undefined ? undefined : Option.getOrUndefined(decode(entry.value))
    if (entry === undefined || value !== undefined || hasWarned) return Effect.succeed(value)
    hasWarned = true
    const warning =
      `the shared store's value of ${key} was stored by another version of this library or is damaged; ignoring it`
    return Effect.as(Effect.logWarning(warning), undefined)
  }
}
