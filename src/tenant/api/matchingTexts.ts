/** Effect's generator of texts that match a regular expression; the only module that knows it. */
import * as FastCheck from "effect/FastCheck"

/** Makes texts, the same each time. Throws if it cannot make texts of the pattern. */
export const matchingTexts = (pattern: RegExp, count: number): ReadonlyArray<string> =>
  FastCheck.sample(FastCheck.stringMatching(pattern), { seed: 1, numRuns: count })
