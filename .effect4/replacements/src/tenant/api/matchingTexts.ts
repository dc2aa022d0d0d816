/** Effect's generator of texts that match a regular expression; the only module that knows it. */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Makes texts, the same each time. Throws if it cannot make texts of the pattern. */
export const matchingTexts = (pattern: RegExp, count: number): ReadonlyArray<string> =>
  Effect.runSync(
    Arbitrary.sampleEffect(Arbitrary.schema(Schema.String.check(Schema.isPattern(pattern))), { count, seed: 1 })
  )
