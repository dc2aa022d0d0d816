/** Pages by checkpoint: reads the cursor of the next page, and notices a listing that goes round in a circle. */
import { field, idOf, type Pages, type PagingInput } from "./listing.js"

/** The number of items to ask for if the caller does not say. Without `take` a service that has both pages by number. */
const defaultTake = 50

/**
 * Pages by checkpoint. The last page has no `next`, or no items; a short page may have a `next`. The checkpoint is the field `next` of a page, or the identifier of the last item of a bare list
 * that is full.
 */
export const byCheckpoint = <Input extends PagingInput>(input: Input): Pages<Input> => {
  const { take = defaultTake } = input
  const first = { ...input, take }
  // Finds a cycle without keeping all checkpoints (Brent): compares each with one that is moved on ever more rarely.
  let [mark, distance, reach]: [unknown, number, number] = [input.from, 0, 1]
  const repeats = (from: string): boolean => {
    if (from === mark) return true
    distance++
    if (distance === reach) [mark, distance, reach] = [from, 0, reach * 2]
    return false
  }
  const isNonEmpty = (value: unknown): value is string => typeof value === "string" && value !== ""
  return {
    first,
    start: 0,
    add: (items, success) => {
      const newIndexes = items.map((_, index) => index)
      const isBare = Array.isArray(success)
      const from = isBare ? idOf(items.at(-1)) : field(success, "next")
      const isLast = items.length === 0 || (isBare ? items.length < take : !isNonEmpty(from))
      if (isLast) return { _tag: "Items", newIndexes, next: undefined }
      if (!isNonEmpty(from)) return { _tag: "Endless", reason: "the last item has no id to go on from" }
      if (repeats(from)) return { _tag: "Endless", reason: "a checkpoint came twice" }
      return { _tag: "Items", newIndexes, next: { ...first, from } }
    }
  }
}
