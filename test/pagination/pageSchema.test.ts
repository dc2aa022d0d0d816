/** Tests of the endpoint with unchecked items that `Pagination.streamEither` derives. */
import { assert, describe, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import { Errors, Operation, Pagination } from "../../src/index.js"
import { withoutItemChecks } from "../../src/internal/pagination/pageSchema.js"

const numbers = Schema.Array(Schema.Number)

interface Things {
  readonly things: ReadonlyArray<unknown>
}

const declare = (success: Schema.Schema.AnyNoContext) =>
  Operation.make("listThings", () => ({
    method: "GET",
    path: "/things",
    query: { page: Schema.optional(Schema.Number) },
    success: success as Schema.Schema<Things>, // sound: no test reads a field
    items: "things",
    scope: "read:things",
    idempotent: true,
    error: [Errors.RateLimited]
  }))

const declareList = (things: Schema.Schema.AnyNoContext) => declare(Schema.Struct({ things }))

describe("withoutItemChecks", () => {
  for (
    const [title, operation] of [
      ["a struct", declareList(numbers)],
      ["a struct with a filter", declare(Schema.Struct({ things: numbers }).pipe(Schema.filter(() => true)))],
      ["a suspended struct", declare(Schema.suspend(() => Schema.Struct({ things: numbers })))],
      [
        "a union of structs",
        declare(Schema.Union(Schema.Struct({ message: Schema.String }), Schema.Struct({ things: numbers })))
      ],
      [
        "a struct that allows other fields",
        declare(Schema.Struct({ things: numbers }, { key: Schema.String, value: Schema.Unknown }))
      ],
      ["an optional list", declare(Schema.Struct({ things: Schema.optional(numbers) }))],
      ["a list with a filter", declareList(numbers.pipe(Schema.maxItems(5)))],
      ["a suspended list", declareList(Schema.suspend(() => numbers))],
      ["a non-empty list", declareList(Schema.NonEmptyArray(Schema.Number))],
      ["a tuple", declareList(Schema.Tuple(Schema.Number, Schema.Literal(1)))]
    ] as const
  ) {
    it(`leaves items unchecked and decodes each by itself: ${title}`, () => {
      const { decodeItem, endpoint } = withoutItemChecks(operation.endpoint)
      assert.isTrue(Schema.is(endpoint.success!)({ things: [1, "2"] }))
      assert.isFalse(Schema.is(endpoint.success!)({ things: 1 }))
      assert.deepStrictEqual(decodeItem(1), Either.right(1))
      assert.isTrue(Either.isLeft(decodeItem("2")))
    })
  }

  it("still checks the other fields of the page", () => {
    const page = Schema.Struct({
      total: Schema.Number,
      note: Schema.optionalWith(Schema.String, { exact: true }),
      things: numbers
    })
    const is = Schema.is(withoutItemChecks(declare(page).endpoint).endpoint.success!)
    const pages = [{ total: 1, things: ["2"] }, { total: 1, note: 1, things: [] }, { things: [] }, { total: 1 }]
    assert.deepStrictEqual(pages.map((page) => is(page)), [true, false, false, false])
  })

  it("decodes the items of a union of lists", () => {
    const { decodeItem } = withoutItemChecks(declareList(Schema.Union(numbers, Schema.Array(Schema.String))).endpoint)
    assert.deepStrictEqual([1, "2", true].map((item) => Either.isRight(decodeItem(item))), [true, true, false])
  })

  it("names the item type once, though a non-empty list has it twice", () => {
    const { decodeItem } = withoutItemChecks(declareList(Schema.NonEmptyArray(Schema.Number)).endpoint)
    assert.deepStrictEqual(decodeItem("2"), Either.left({ path: "", message: "expected a number" }))
  })

  it("accepts any item of a list without a type", () => {
    const { decodeItem } = withoutItemChecks(declare(Schema.Struct({ things: Schema.Any })).endpoint)
    assert.deepStrictEqual(decodeItem("2"), Either.right("2"))
  })

  it("throws if there is no success, or no list where no field is named", () => {
    const { items: _, ...unnamed } = declareList(numbers).endpoint
    const { success: __, ...empty } = declareList(numbers).endpoint
    assert.throws(() => withoutItemChecks(empty), TypeError, "the success schema has no list in the field \"things\"")
    assert.throws(() => withoutItemChecks(unnamed), TypeError, /the success schema has no list$/)
  })

  it("throws if the success has no such list", () => {
    for (const success of [Schema.Any, Schema.Union(Schema.Any, Schema.String), Schema.Struct({ others: numbers })]) {
      assert.throws(
        () => Pagination.streamEither(declare(success), {}),
        TypeError,
        "listThings: the success schema has no list in the field \"things\""
      )
    }
  })
})
