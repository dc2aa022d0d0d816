/** Makes texts that match a regular expression. */
import * as Either from "effect/Either"
import { matchingTexts } from "./matchingTexts.js"

/** The index after the group or class of characters that begins here; after the character, if it is neither. */
const endOf = (pattern: string, start: number): number => {
  const opening = pattern[start]
  if (opening === "\\") return start + 2
  if (opening !== "(" && opening !== "[") return start + 1
  let index = start + 1
  while (index < pattern.length && pattern[index] !== (opening === "(" ? ")" : "]")) {
    index = opening === "(" || pattern[index] === "\\" ? endOf(pattern, index) : index + 1
  }
  return index + 1
}

/** Leaves out what looks ahead or behind, such as `(?=.{1,9}$)`: no generator makes texts of these. */
const withoutLookarounds = (pattern: string): string => {
  let rest = ""
  for (let index = 0; index < pattern.length;) {
    const isLookaround = /^\(\?<?[=!]/.test(pattern.slice(index))
    const end = isLookaround || pattern[index] !== "(" ? endOf(pattern, index) : index + 1
    if (!isLookaround) rest += pattern.slice(index, end)
    index = end
  }
  return rest
}

/** Texts of a pattern that fit, the same each time; none if the pattern is beyond what can be generated. */
export const textsOf = (pattern: string, fits: (text: string) => boolean, numRuns = 50): ReadonlyArray<string> =>
  Either.getOrElse(
    Either.try(() => {
      const texts = matchingTexts(new RegExp(withoutLookarounds(pattern)), numRuns)
      const whole = new RegExp(pattern)
      return texts.filter((text) => whole.test(text) && fits(text))
    }),
    () => []
  )
