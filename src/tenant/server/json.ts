/** Parses the JSON of requests. */
import * as Either from "effect/Either"
import type { FieldError } from "./formDecoding.js"

/** More would exhaust the stack of functions that call themselves for each level, as `JSON.stringify` does. */
const maxLevels = 500

const hasMoreLevels = (value: unknown, levels: number): boolean =>
  typeof value === "object" && value !== null &&
  (levels === 0 || Object.values(value).some((inner) => hasMoreLevels(inner, levels - 1)))

/** Fails if the text is not JSON, or if its value is nested too deeply. */
export const parseJson = (text: string): Either.Either<unknown, FieldError> =>
  Either.flatMap(
    Either.try({
      try: (): unknown => JSON.parse(text),
      catch: (): FieldError => ({ path: "", message: "The body is not valid JSON" })
    }),
    (value) =>
      hasMoreLevels(value, maxLevels)
        ? Either.left({ path: "", message: `The body is nested too deeply: it may have at most ${maxLevels} levels` })
        : Either.right(value)
  )
