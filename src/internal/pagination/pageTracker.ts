/** What the pages of a listing tell, taken together: what is new on each, and whether another one may follow. */
import * as Predicate from "effect/Predicate"

/** What a page brings: the places of its new items. Or that there is no end to it, and why, in words. */
export type Page =
  | { readonly _tag: "Items"; readonly fresh: ReadonlyArray<number>; readonly isLast: boolean }
  | { readonly _tag: "Endless"; readonly why: string }

const idOf = (item: unknown): unknown => Predicate.isRecord(item) ? item["id"] : undefined

/** A number of items; a total that is none says nothing. */
const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined

/**
 * A listing from a page on. The number of items on the first page is the size of a page, whatever was asked for. New items
 * may come in while it is read and move the others to later pages: the ids of the last two pages are remembered, no more.
 */
export class Listing {
  private pages = 0
  /** How many items the first page had. */
  private size = 0
  /** How many items lie before the end of the last page. */
  private reached = 0
  private total: number | undefined
  /** Whether the last page had brought nothing new. */
  private wasStale = false
  private known: readonly [before: ReadonlySet<unknown>, last: ReadonlySet<unknown>] = [new Set(), new Set()]
  private readonly start: number

  constructor(start: number) {
    this.start = start
  }

  /** Takes the next page. */
  take(items: ReadonlyArray<unknown>, totalOfPage: unknown): Page {
    if (items.length === 0) return { _tag: "Items", fresh: [], isLast: true }
    const total = count(totalOfPage)
    const grown = (total ?? 0) - (this.total ?? total ?? 0)
    this.total = total
    if (this.pages === 0) {
      this.size = items.length
      this.reached = this.start * this.size
    }
    this.pages++
    this.reached += items.length

    const isShort = items.length < this.size
    // A total that a full page has gone beyond is wrong, so that it says nothing about the end.
    const isLast = total === undefined ? isShort : isShort ? this.reached >= total : this.reached === total

    const fresh = this.notKnown(items)
    const isStale = fresh.length === 0
    // So many new items may have come in that all of a page moved to the next one; but not twice in a row. A few that did
    // so at the end are the end.
    if (isStale && !(isShort && isLast) && (this.wasStale || grown < items.length)) {
      return { _tag: "Endless", why: `page ${this.start + this.pages - 1} brought nothing new` }
    }
    this.wasStale = isStale
    if (total !== undefined && this.pages > 2 * Math.max(1, Math.ceil(total / this.size) - this.start)) {
      return { _tag: "Endless", why: `${this.pages} pages were more than twice as many as a total of ${total} allows` }
    }
    return { _tag: "Items", fresh, isLast }
  }

  private notKnown(items: ReadonlyArray<unknown>): ReadonlyArray<number> {
    const [before, last] = this.known
    const here = new Set<unknown>()
    const fresh: Array<number> = []
    for (const [place, item] of items.entries()) {
      const id = idOf(item)
      const { size } = here
      here.add(id)
      const isNew = id === undefined || id === null || (here.size > size && !last.has(id) && !before.has(id))
      if (isNew) fresh.push(place)
    }
    this.known = [last, here]
    return fresh
  }
}
