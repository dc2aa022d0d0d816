/** Pages by checkpoint, one page after the other. */
import { assert, describe, it } from "@effect/vitest"
import { byCheckpoint } from "../../src/internal/pagination/checkpointPages.js"
import type { PagingInput } from "../../src/internal/pagination/listing.js"

const item = { id: "a" }

/** What becomes of each page of a listing. */
const after = (pages: ReadonlyArray<unknown>, input: { readonly from?: string; readonly take?: number } = {}) => {
  const { add } = byCheckpoint(input)
  return pages.map((page) => add(Array.isArray(page) ? page : (page as { items: ReadonlyArray<unknown> }).items, page))
}

const page = (next: unknown, items: ReadonlyArray<unknown> = [item]) => ({ items, next })

/** The number of pages until a listing is found to be endless, and the reason. */
const endsAfter = (nextOf: (nth: number) => string, input: { readonly from?: string } = {}) => {
  const { add } = byCheckpoint(input)
  for (let nth = 0; nth < 1000; nth++) {
    const added = add([item], page(nextOf(nth)))
    if (added._tag === "Endless") return [nth + 1, added.reason]
  }
  return undefined
}

describe("pages by checkpoint", () => {
  it("begin where the caller says, and take 50 items", () => {
    const { first, start } = byCheckpoint<PagingInput>({ from: "x" })
    assert.deepStrictEqual([first, start], [{ from: "x", take: 50 }, 0])
    assert.deepStrictEqual(byCheckpoint({ take: 7 }).first, { take: 7 })
  })

  it("go on from the checkpoint of a page, with the rest of the input", () => {
    assert.deepStrictEqual(after([page("b", [item, item])], { take: 2 }), [
      { _tag: "Items", newIndexes: [0, 1], next: { take: 2, from: "b" } }
    ])
  })

  for (const next of [undefined, null, "", 7]) {
    it(`end with a page whose checkpoint is ${JSON.stringify(next)}`, () => {
      assert.deepStrictEqual(after([page(next)]), [{ _tag: "Items", newIndexes: [0], next: undefined }])
    })
  }

  for (const [title, last] of [["id", { id: "z" }], ["log_id", { log_id: "z" }]] as const) {
    it(`go on from the ${title} of the last item of a full list`, () => {
      assert.deepStrictEqual(after([[item, last]], { take: 2 }), [
        { _tag: "Items", newIndexes: [0, 1], next: { take: 2, from: "z" } }
      ])
      assert.deepStrictEqual(after([[last]], { take: 2 }), [{ _tag: "Items", newIndexes: [0], next: undefined }])
    })
  }

  for (const id of [undefined, "", 7]) {
    it(`are endless if the last item of a full list has the id ${JSON.stringify(id)}`, () => {
      assert.deepStrictEqual(after([[{ id }]], { take: 1 }), [
        { _tag: "Endless", reason: "the last item has no id to go on from" }
      ])
    })
  }

  it("end with an empty page, whatever its checkpoint", () => {
    assert.deepStrictEqual(after([page("b", [])]), [{ _tag: "Items", newIndexes: [], next: undefined }])
  })

  it("are endless once a checkpoint comes twice", () => {
    const reason = "a checkpoint came twice"
    assert.deepStrictEqual(endsAfter(() => "x", { from: "x" }), [1, reason])
    assert.deepStrictEqual(endsAfter(() => "x"), [2, reason])
  })

  it("are found to be endless within three times the pages before a circle and in it", () => {
    for (const [tail, circle] of [[0, 5], [7, 3], [1, 40], [40, 1]] as const) {
      const [pages = 0, reason] = endsAfter((nth) => `n${nth < tail ? nth : tail + (nth - tail) % circle}`) ?? []
      assert.strictEqual(reason, "a checkpoint came twice")
      assert.isAtMost(Number(pages), 3 * (tail + circle), `${tail} and ${circle}`)
    }
  })
})
