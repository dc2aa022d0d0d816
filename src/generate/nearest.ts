/** Finds the names that somebody may have meant. */
import * as Arr from "effect/Array"

/** How many letters must be added, removed or replaced to make one text of another (the distance of Levenshtein). */
const distance = (a: string, b: string): number => {
  let row: ReadonlyArray<number> = Arr.makeBy(b.length + 1, (index) => index)
  for (const [above, letter] of [...a].entries()) {
    const next = [above + 1]
    for (const [index, other] of [...b].entries()) {
      next.push(Math.min(row[index + 1]! + 1, next[index]! + 1, row[index]! + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1)!
}

/** The three names that are most like another one. Case counts for nothing. */
export const nearest = (name: string, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(known)].map((other) => [distance(name.toLowerCase(), other.toLowerCase()), other] as const)
    .sort(([a], [b]) => a - b).slice(0, 3).map(([, other]) => other)
