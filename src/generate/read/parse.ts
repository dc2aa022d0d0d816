/** Parses JSON or YAML. */
import * as Effect from "effect/Effect"
import { parse as parseYaml } from "yaml"
import { at, SpecError } from "../model/specError.js"

/** The place of a value that contains itself, which anchors of YAML allow. */
const cycle = (value: unknown, pointer: string, parents: ReadonlyArray<unknown> = []): string | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  if (parents.includes(value)) return pointer
  const within = [...parents, value]
  for (const [name, inner] of Object.entries(value)) {
    const found = cycle(inner, at(pointer, name), within)
    if (found !== undefined) return found
  }
  return undefined
}

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/** The value of a text in JSON or YAML. It may begin with a byte order mark. */
export const parse = (text: string): Effect.Effect<unknown, SpecError> =>
  Effect.try({
    try: (): unknown => {
      const plain = text.replace(/^\uFEFF/, "")
      return /^\s*[{[]/.test(plain) ? JSON.parse(plain) : parseYaml(plain, { maxAliasCount: 1000 })
    },
    catch: (error) => new SpecError({ pointer: "#", message: `the text cannot be parsed: ${messageOf(error)}` })
  }).pipe(
    Effect.tap((value) => {
      const place = cycle(value, "#")
      return place === undefined
        ? Effect.void
        : new SpecError({ pointer: place, message: `the value contains itself: use $ref (at ${place})` })
    })
  )
