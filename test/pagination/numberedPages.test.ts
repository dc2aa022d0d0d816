/** Tests of the page tracker: new items, the last page, and listings that would never end. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Errors, Operation } from "../../src/index.js"
import type { PagingInput } from "../../src/internal/pagination/listing.js"
import { byNumber, PageTracker } from "../../src/internal/pagination/numberedPages.js"

type Page = readonly [ids: ReadonlyArray<unknown>, total: unknown]

/** Adds the pages from page `start` on, and returns the result of the last one. */
const trackFrom = (start: number, ...pages: ReadonlyArray<Page>) => {
  const tracker = new PageTracker(start)
  return pages.map(([ids, total]) => tracker.add(ids.map((id) => ({ id })), total)).at(-1)
}

const track = (...pages: ReadonlyArray<Page>) => trackFrom(0, ...pages)

const items = (newIndexes: ReadonlyArray<number>, isLast: boolean) => ({
  _tag: "Items" as const,
  newIndexes,
  isLast
})

/** Consecutive ids. */
const ids = (from: number, count: number) => Array.from({ length: count }, (_, nth) => from + nth)

describe("PageTracker", () => {
  for (
    const [title, page, expected] of [
      ["an empty page is the last", () => track([[], undefined]), items([], true)],
      ["an empty page is the last once the total is reached", () => track([[1, 2], 3], [[], 2]), items([], true)],
      ["an empty page is the last of a start beyond the end", () => trackFrom(3, [[], 9]), items([], true)],
      [
        "an empty page after a last page that is short is the last",
        () => trackFrom(2, [[9], 9], [[], 9]),
        items([], true)
      ],
      ["an empty page without a total is the last", () => track([[1, 2], 3], [[], undefined]), items([], true)],
      ["an id that occurs twice on a page counts once", () => track([["a", "b", "a"], 9]), items([0, 1], false)],
      [
        "items without an id are all new",
        () => track([[null, undefined, null, undefined], 4]),
        items([0, 1, 2, 3], true)
      ],
      [
        "remembers the ids of the last two pages",
        () => track([[1, 2], 9], [[3, 4], 9], [[2, 4, 5], 9]),
        items([2], false)
      ],
      [
        "forgets the ids of earlier pages",
        () => track([[1, 2], 9], [[3, 4], 9], [[5, 6], 9], [[1, 7], 9]),
        items([0, 1], false)
      ],
      [
        "a short page that ends beyond the total is the last",
        () => track([[1, 2, 3], 4], [[3, 4], 4]),
        items([1], true)
      ],
      ["a short page before the total is not the last", () => track([[1, 2, 3], 9], [[4, 5], 9]), items([0, 1], false)],
      [
        "a full page that ends beyond the total is not the last",
        () => track([[1, 2, 3], 4], [[4, 5, 6], 4]),
        items([0, 1, 2], false)
      ],
      [
        "ignores a negative total",
        () => track([[1, 2], -1], [[3, 4], -1], [[5, 6], -1], [[7], -1]),
        items([0], true)
      ],
      ["counts the pages before the start page", () => trackFrom(1, [[4, 5, 6], 7], [[7], 7]), items([0], true)]
    ] as const
  ) {
    it(title, () => {
      assert.deepStrictEqual(page(), expected)
    })
  }

  for (
    const [title, page, reason] of [
      [
        "a full page without new items, even at the total",
        () => track([ids(0, 10), 20], [ids(0, 10), 20]),
        "page 1 has no new items"
      ],
      [
        "a short page without new items, before the total",
        () => track([ids(0, 10), 99], [ids(0, 5), 99]),
        "page 1 has no new items"
      ],
      [
        "two pages in a row without new items, though the total grows",
        () => track([ids(0, 10), 99], [ids(0, 10), 109], [ids(0, 10), 119]),
        "page 2 has no new items"
      ],
      [
        "more than twice the remaining pages",
        () => trackFrom(2, [ids(0, 10), 25], [ids(10, 10), 25], [ids(20, 10), 25]),
        "3 pages are more than twice as many as a total of 25 allows"
      ],
      [
        "pages despite a total of 0",
        () => track([[1, 2], 0], [[3, 4], 0], [[5, 6], 0]),
        "3 pages are more than twice as many as a total of 0 allows"
      ]
    ] as const
  ) {
    it(`reports an endless listing: ${title}`, () => {
      assert.deepStrictEqual(page(), { _tag: "Endless", reason })
    })
  }
})

describe("a listing that ends before its total", () => {
  it.each(
    [
      ["at an empty page", () => track([[1, 2], 5], [[3, 4], 5], [[], 5]), "4 of 5 items came, and page 2 is empty"],
      ["after a short page", () => track([[1, 2], 5], [[3], 5], [[], 4]), "3 of 4 items came, and page 2 is empty"],
      ["at once", () => track([[], 9]), "0 of 9 items came, and page 0 is empty"],
      [
        "from a later page on",
        () => trackFrom(8, [ids(0, 100), 2500], [ids(100, 100), 2500], [[], 2500]),
        "1000 of 2500 items came, and page 10 is empty"
      ]
    ] as const
  )("is incomplete %s", (_, page, reason) => {
    assert.deepStrictEqual(page(), { _tag: "Incomplete", reason })
  })

  it("may be cut if it has no total, and ends at the number of items that the service gives", () => {
    const listing = (count: number) => {
      const tracker = new PageTracker(0)
      for (let from = 0; from < count; from += 100) tracker.add(ids(from, 100), undefined)
      return tracker.add([], undefined)
    }
    assert.deepStrictEqual(listing(1000), { ...items([], true), mayBeCut: true })
    assert.deepStrictEqual(listing(900), items([], true))
    assert.deepStrictEqual(listing(1100), items([], true))
  })
})

describe("a page of items without an id", () => {
  const pagesOf = (...pages: ReadonlyArray<readonly [items: ReadonlyArray<unknown>, total?: number]>) => {
    const tracker = new PageTracker(0)
    return pages.map(([items, total]) => tracker.add(items, total)).at(-1)
  }
  const [a, b, c] = [{ client_id: "a" }, { client_id: "b" }, { client_id: "c" }]
  const isStale = { _tag: "Endless", reason: "page 1 has no new items" }
  const deep: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`)

  it.each(
    [
      ["has none that is new if it is the last page again", () => pagesOf([[a, b]], [[a, b]]), isStale],
      ["has none either if it has one item", () => pagesOf([["a"]], [["a"]]), isStale],
      ["has none either if some have an id", () => pagesOf([[{ id: 1 }, a]], [[{ id: 1 }, a]]), isStale],
      ["may come again if as many were created", () => pagesOf([[a, b], 9], [[a, b], 11]), items([], false)],
      ["has only new ones if one differs", () => pagesOf([[a, b]], [[a, c]]), items([0, 1], false)],
      ["has only new ones in another order", () => pagesOf([[a, b]], [[b, a]]), items([0, 1], false)],
      ["has only new ones if it came before the last", () => pagesOf([[a]], [[b]], [[a]]), items([0], false)],
      ["has only new ones if two are alike", () => pagesOf([[a, b, a]], [[a, b, a]]), items([0, 1, 2], false)],
      ["has only new ones if they are nested too deep to compare", () => pagesOf([[deep]], [[deep]]), items([0], false)]
    ] as const
  )("%s", (_, page, expected) => {
    assert.deepStrictEqual(page(), expected)
  })
})

interface Input extends PagingInput {
  readonly include_totals?: boolean
}

describe("pages by number", () => {
  const endpoint = Operation.make("listThings", () => ({
    method: "GET",
    path: "/things",
    query: { page: Schema.optional(Schema.Number), include_totals: Schema.optional(Schema.Boolean) },
    success: Schema.Array(Schema.Unknown),
    scope: "read:things",
    idempotent: true,
    error: [Errors.RateLimited]
  })).endpoint

  it("ask for the total unless the caller decides it, and count pages from the first", () => {
    const pages = byNumber<Input>(endpoint, { page: 3 })
    assert.deepStrictEqual([pages.first, pages.start], [{ page: 3, include_totals: true }, 3])
    assert.deepStrictEqual(pages.add([{ id: 1 }], { total: 9 }), {
      _tag: "Items",
      newIndexes: [0],
      next: { page: 4, include_totals: true }
    })
    assert.deepStrictEqual(byNumber<Input>(endpoint, { include_totals: false }).first, { include_totals: false })
  })
})
