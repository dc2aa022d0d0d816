/** Pages by number: which items of a page are new, whether another page may follow, and when a listing would never end. */
import * as Either from "effect/Either"
import type { Any } from "../../Endpoint.js"
import { type Broken, field, idOf, type Listed, type Pages, type PagingInput } from "./listing.js"

/** A page's new items, by their indexes, or what is wrong with the listing. */
export type TrackedPage = Listed & { readonly isLast: boolean } | Broken

/** The number of items after which the service cuts some lists by number: with an empty page, or with 400. */
const cutAt = 1000

/** The text of a page whose items differ, if some have no id. Items that are alike on one page may be alike on two. */
const textOf = (items: ReadonlyArray<unknown>): string | undefined => {
  if (items.every((item) => idOf(item) !== undefined)) return undefined
  const texts = Either.try(() => items.map((item) => JSON.stringify(item))) // throws if nested too deep
  return Either.isRight(texts) && new Set(texts.right).size === items.length ? texts.right.join() : undefined
}

/** A count of items; everything but a non-negative integer is ignored. */
const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined

/**
 * Tracks one listing from a start page on. The first page sets the page size, whatever the caller asked for. Items that are
 * created meanwhile push others to later pages, so the ids of the last two pages are remembered, and the text of the last page if it has items without an id.
 */
export class PageTracker {
  private pages = 0
  /** The number of items on the first page. */
  private size = 0
  /** The number of items up to the end of the last page. */
  private reached = 0
  private total: number | undefined
  /** `true` if the last page had no new item. */
  private wasStale = false
  private ids: readonly [beforeLast: ReadonlySet<unknown>, last: ReadonlySet<unknown>] = [new Set(), new Set()]
  private text: string | undefined
  private readonly start: number

  constructor(start: number) {
    this.start = start
  }

  /** Adds the next page: its items and its `total`. */
  add(items: ReadonlyArray<unknown>, pageTotal: unknown): TrackedPage {
    const total = count(pageTotal)
    if (items.length === 0) return this.end(total)
    const growth = (total ?? 0) - (this.total ?? total ?? 0)
    this.total = total
    if (this.pages === 0) {
      this.size = items.length
      this.reached = this.start * this.size
    }
    this.pages++
    this.reached += items.length

    const isShort = items.length < this.size
    // A full page that goes beyond the total proves the total wrong, so it is not the end.
    const isLast = total === undefined ? isShort : isShort ? this.reached >= total : this.reached === total

    const newIndexes = this.newIndexes(items)
    const isStale = newIndexes.length === 0
    // A page without new items is plausible if as many items were created meanwhile, but not twice in a row. A short one at
    // the end is plausible, too.
    if (isStale && !(isShort && isLast) && (this.wasStale || growth < items.length)) {
      return { _tag: "Endless", reason: `page ${this.start + this.pages - 1} has no new items` }
    }
    this.wasStale = isStale
    if (total !== undefined && this.pages > 2 * Math.max(1, Math.ceil(total / this.size) - this.start)) {
      return {
        _tag: "Endless",
        reason: `${this.pages} pages are more than twice as many as a total of ${total} allows`
      }
    }
    return { _tag: "Items", newIndexes, isLast }
  }

  /** Ends with an empty page. Where items were deleted meanwhile its total says so, so a higher one means that the service cuts the list. */
  private end(total: number | undefined): TrackedPage {
    // A start page that is the only one may be a short one: then nothing tells the size of those before it.
    const isKnown = this.start === 0 || this.pages > 1
    if (isKnown && total !== undefined && total > this.reached) {
      const page = this.start + this.pages
      return { _tag: "Incomplete", reason: `${this.reached} of ${total} items came, and page ${page} is empty` }
    }
    const mayBeCut = total === undefined && this.reached === cutAt
    return { _tag: "Items", newIndexes: [], isLast: true, ...(mayBeCut && { mayBeCut }) }
  }

  /**
   * The indexes of the items that are neither on the last two pages nor earlier on this one. A page of items without
   * ids that is the same as the one before it has none.
   */
  private newIndexes(items: ReadonlyArray<unknown>): ReadonlyArray<number> {
    const text = textOf(items)
    if (text !== undefined && text === this.text) return []
    this.text = text
    const [beforeLast, last] = this.ids
    const current = new Set<unknown>()
    const newIndexes: Array<number> = []
    for (const [index, item] of items.entries()) {
      const id = idOf(item)
      const { size } = current
      current.add(id)
      const isNew = id === undefined || (current.size > size && !last.has(id) && !beforeLast.has(id))
      if (isNew) newIndexes.push(index)
    }
    this.ids = [last, current]
    return newIndexes
  }
}

/** Pages by number. Asks for the total if the service gives it on demand: without it, one more request may find the end. */
export const byNumber = <Input extends PagingInput>({ query = {} }: Any, input: Input): Pages<Input> => {
  const { page: start = 0 } = input
  const tracker = new PageTracker(start)
  const asks = "include_totals" in query && field(input, "include_totals") === undefined
  const first = asks ? { ...input, include_totals: true } : input
  let page = start
  return {
    first,
    start,
    add: (items, success) => {
      const tracked = tracker.add(items, field(success, "total"))
      if (tracked._tag !== "Items") return tracked
      const { isLast, ...listed } = tracked
      return { ...listed, next: isLast ? undefined : { ...first, page: ++page } }
    }
  }
}
