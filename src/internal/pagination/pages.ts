/** Decides, page by page, which items are new and what the next request is: by page number, or by checkpoint. */
import * as Predicate from "effect/Predicate"
import type { Any } from "../../Endpoint.js"
import type { PagedEndpoint } from "./pageSchema.js"
import { PageTracker } from "./pageTracker.js"

/** The fields of a paged operation's input. */
export interface PagingInput {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  readonly from?: string | undefined
  readonly take?: number | undefined
}

/** A page's new items, by their indexes, and the input of the next request, if any; or the reason why the listing would never end. */
type NextPage<Input> =
  | { readonly _tag: "Items"; readonly newIndexes: ReadonlyArray<number>; readonly next: Input | undefined }
  | { readonly _tag: "Endless"; readonly reason: string }

/** One listing. */
interface Pages<Input> {
  readonly first: Input
  /** The number of the first page. */
  readonly start: number
  /** The field of the input that sets the page size. */
  readonly size: "per_page" | "take"
  /** Adds the next page: its items and the whole success. */
  readonly add: (items: ReadonlyArray<unknown>, success: unknown) => NextPage<Input>
}

const field = (value: unknown, name: string): unknown => Predicate.isRecord(value) ? value[name] : undefined

/** Pages by number. Asks for the total if the service gives it on demand: without it, one more request may find the end. */
const byNumber = <Input extends PagingInput>({ query = {} }: Any, input: Input): Pages<Input> => {
  const { page: start = 0 } = input
  const tracker = new PageTracker(start)
  const asks = "include_totals" in query && field(input, "include_totals") === undefined
  const first = asks ? { ...input, include_totals: true } : input
  let page = start
  return {
    first,
    start,
    size: "per_page",
    add: (items, success) => {
      const tracked = tracker.add(items, field(success, "total"))
      return tracked._tag === "Endless" ? tracked : {
        _tag: "Items",
        newIndexes: tracked.newIndexes,
        next: tracked.isLast ? undefined : { ...first, page: ++page }
      }
    }
  }
}

/** The number of items to ask for if the caller does not say. Without `take` a service that has both pages by number. */
const defaultTake = 50

/** More empty pages in a row than a sensible service sends. */
const mostEmptyPages = 100

/** The identifier of an item; log events have it in `log_id`. */
const idOf = (item: unknown): unknown => field(item, "id") ?? field(item, "log_id")

/** Pages by checkpoint: the field `next` of a page, or the identifier of the last item of a bare list that is full. */
const byCheckpoint = <Input extends PagingInput>(input: Input): Pages<Input> => {
  const { take = defaultTake } = input
  const first = { ...input, take }
  let emptyPages = 0
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
    size: "take",
    add: (items, success) => {
      const newIndexes = items.map((_, index) => index)
      const isBare = Array.isArray(success)
      const from = isBare ? idOf(items.at(-1)) : field(success, "next")
      if (isBare ? items.length < take : !isNonEmpty(from)) return { _tag: "Items", newIndexes, next: undefined }
      if (!isNonEmpty(from)) return { _tag: "Endless", reason: "the last item has no id to go on from" }
      emptyPages = items.length === 0 ? emptyPages + 1 : 0
      if (emptyPages > mostEmptyPages) return { _tag: "Endless", reason: `${emptyPages} pages in a row are empty` }
      if (repeats(from)) return { _tag: "Endless", reason: "a checkpoint came twice" }
      return { _tag: "Items", newIndexes, next: { ...first, from } }
    }
  }
}

/** Begins a listing. A service that has both is asked by checkpoint, unless the caller chooses a page or its size. */
export const of = <Input extends PagingInput>(endpoint: Any & PagedEndpoint, input: Input): Pages<Input> => {
  const { paging } = endpoint
  const isNumbered = input.page !== undefined || input.per_page !== undefined
  return paging === "number" || (paging === "both" && isNumbered) ? byNumber(endpoint, input) : byCheckpoint(input)
}
