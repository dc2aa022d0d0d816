/** Tests of `Pagination.pages`: whole pages, one request for each that is pulled, and the same failures as a stream of items. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Option, Schema, Stream } from "effect"
import { Errors, listActionVersions, Operation, Pagination } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"

/** A client of a list in pages of two, and the pages that it was asked for. */
const versions = (count: number, total = count) => {
  const asked: Array<number> = []
  const layer = Testing.layer(Testing.handle(listActionVersions, ({ page = 0 }) =>
    Effect.sync(() => {
      asked.push(page)
      const numbers = Array.from({ length: count }, (_, nth) => nth).slice(page * 2, page * 2 + 2)
      return { total, page, per_page: 2, versions: numbers.map((number) => ({ id: `v${number}`, number })) }
    })))
  return { asked, layer }
}

const pages = Pagination.pages(listActionVersions, { actionId: "a" })

describe("a stream of pages", () => {
  it.effect("has each page as the operation returns it", () =>
    Effect.gen(function*() {
      const { asked, layer } = versions(5)
      const found = Chunk.toReadonlyArray(yield* Effect.provide(Stream.runCollect(pages), layer))
      assert.deepStrictEqual(found.map(({ total, versions }) => [total, versions.length]), [[5, 2], [5, 2], [5, 1]])
      assert.deepStrictEqual(asked, [0, 1, 2])
    }))

  it.effect("asks for a page when it is pulled, and again in each run", () =>
    Effect.gen(function*() {
      const { asked, layer } = versions(5)
      const total = Stream.runHead(Stream.map(pages, ({ total }) => total))
      assert.deepStrictEqual(yield* Effect.provide(total, layer), Option.some(5))
      yield* Effect.provide(total, layer)
      assert.deepStrictEqual(asked, [0, 0])
    }))

  it.effect("goes by checkpoint where the list does", () =>
    Effect.gen(function*() {
      const listThings = Operation.make("listThings", () => ({
        method: "GET",
        path: "/things",
        query: { from: Schema.optional(Schema.String), take: Schema.optional(Schema.Int) },
        success: Schema.Struct({ things: Schema.Array(Schema.String), next: Schema.optional(Schema.String) }),
        items: "things",
        paging: "checkpoint",
        scope: "read:things",
        idempotent: true,
        error: [Errors.RateLimited]
      }))
      const layer = Testing.layer(Testing.handle(listThings, ({ from }) =>
        Effect.succeed(from === undefined ? { things: ["a"], next: "b" } : { things: [from] })))
      const found = yield* Effect.provide(Stream.runCollect(Pagination.pages(listThings, {})), layer)
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(found).map(({ things }) =>
          things
        ),
        [["a"], ["b"]]
      )
    }))

  it.effect("fails where a stream of items does: a list that is cut, and a size of 0", () =>
    Effect.gen(function*() {
      const { layer } = versions(4, 9)
      const seen: Array<number> = []
      const error = yield* Stream.runForEach(pages, ({ page }) => Effect.sync(() => seen.push(page ?? 0))).pipe(
        Effect.flip,
        Effect.provide(layer)
      )
      assert.deepInclude(error, { _tag: "UnexpectedResponse", reason: "incomplete" })
      assert.deepStrictEqual(seen, [0, 1])
      const none = Pagination.pages(listActionVersions, { actionId: "a", per_page: 0 })
      assert.deepInclude(yield* Effect.flip(Effect.provide(Stream.runDrain(none), layer)), { _tag: "InvalidInput" })
    }))
})
