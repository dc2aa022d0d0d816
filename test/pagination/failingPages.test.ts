/** Tests of what failures of paged lists say: the page of an item that cannot be decoded, and pages that do not end. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Logger, Schema, Stream } from "effect"
import { Errors, type IdentityClient, Operation, Pagination } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"

const Thing = Schema.Struct({ id: Schema.String })

const shared = {
  method: "GET",
  path: "/things",
  scope: "read:things",
  idempotent: true,
  error: [Errors.RateLimited]
} as const

describe("pages that do not end", () => {
  const checkpoints = {
    ...shared,
    query: { from: Schema.optional(Schema.String), take: Schema.optional(Schema.Int) },
    paging: "checkpoint"
  } as const
  const inObjects = Operation.make("inObjects", () => ({
    ...checkpoints,
    success: Schema.Struct({ next: Schema.String, things: Schema.Array(Thing) }),
    items: "things"
  }))
  const bare = Operation.make("bare", () => ({ ...checkpoints, success: Schema.Array(Schema.Struct({})) }))

  const failureOf = <A, E>(stream: Stream.Stream<A, E, IdentityClient.IdentityClient>) =>
    Effect.flip(Stream.runDrain(stream)).pipe(Effect.provide(Testing.layer(
      Testing.handle(inObjects, () => Effect.succeed({ things: [{}] as never, next: "x" })),
      Testing.handle(bare, () => Effect.succeed([{}]))
    )))

  it.effect("have the path of their list, if it has one", () =>
    Effect.gen(function*() {
      const common = { _tag: "UnexpectedResponse", status: 200, reason: "endless", shape: "JSON" } as const
      const error = yield* failureOf(Pagination.stream(inObjects, { from: "x" }))
      assert.deepInclude(error, { ...common, operation: "inObjects", path: "things" })
      const other = yield* failureOf(Pagination.stream(bare, { take: 1 }))
      assert.deepInclude(other, { ...common, operation: "bare" })
      assert.notProperty(other, "path")
    }))
})

describe("a list that the service cuts", () => {
  const query = { page: Schema.optional(Schema.Int), per_page: Schema.optional(Schema.Int) }
  const counted = Operation.make("counted", () => ({
    ...shared,
    query,
    success: Schema.Struct({ total: Schema.Number, things: Schema.Array(Thing) }),
    items: "things"
  }))
  const bare = Operation.make("bare", () => ({ ...shared, query, success: Schema.Array(Thing), paging: "number" }))

  /** Things of a page, of which the service gives the first 1,000. */
  const thingsOf = ({ page = 0 }: Pagination.Paging) =>
    page >= 10 ? [] : Array.from({ length: 100 }, (_, nth) => ({ id: String(100 * page + nth) }))
  const service = Testing.layer(
    Testing.handle(counted, (input) => Effect.succeed({ total: 2500, things: thingsOf(input) })),
    Testing.handle(bare, (input) => Effect.succeed(thingsOf(input)))
  )

  it.effect("fails as incomplete after the items that came", () =>
    Effect.gen(function*() {
      let count = 0
      const stream = Pagination.stream(counted, { per_page: 100 })
      const error = yield* Effect.flip(Stream.runForEach(stream, () => Effect.sync(() => count++)))
      assert.deepInclude(error, {
        _tag: "UnexpectedResponse",
        operation: "counted",
        status: 200,
        reason: "incomplete",
        path: "things",
        message: "counted: the list ends before its total: 1000 of 2500 items came, and page 10 is empty"
      })
      assert.strictEqual(count, 1000)
      assert.strictEqual(yield* Stream.runCount(Stream.take(stream, 1000)), 1000)
    }).pipe(Effect.provide(service)))

  it.effect("logs a warning if nothing says how many there are", () =>
    Effect.gen(function*() {
      const messages: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void messages.push(`${logLevel.label} ${String(message)}`))
      const count = Stream.runCount(Pagination.stream(bare, { per_page: 100 }))
      assert.strictEqual(yield* Effect.provide(count, Logger.replace(Logger.defaultLogger, logger)), 1000)
      assert.deepStrictEqual(messages, [
        "WARN bare: the list has no total and ends at 1,000 items, where Auth0 cuts lists by page number: it may have more"
      ])
    }).pipe(Effect.provide(service)))
})

describe("an item that cannot be decoded", () => {
  const listThings = Operation.make("listThings", () => ({
    ...shared,
    query: { page: Schema.optional(Schema.Int), per_page: Schema.optional(Schema.Int) },
    success: Schema.Struct({ total: Schema.Number, things: Schema.Array(Thing) }),
    items: "things"
  }))

  it.effect("names its page, counted from the first of the list, and its place", () =>
    Effect.gen(function*() {
      const service = Testing.layer(
        Testing.handle(listThings, ({ page = 0 }) =>
          Effect.succeed({
            total: 10,
            things: [{ id: `a${page}` }, { id: page as never }] // sound: the stream checks each item
          }))
      )
      const items = yield* Stream.runCollect(Pagination.streamEither(listThings, { page: 2, per_page: 2 })).pipe(
        Effect.provide(service)
      )
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(items).map(Either.match({
          onLeft: ({ message, page, path }) => `${page} ${path}: ${message}`,
          onRight: ({ id }) => id
        })),
        [2, 3, 4].flatMap((page) => [
          `a${page}`,
          `${page} things[1].id: listThings: unexpected response body at things[1].id: expected a string`
        ])
      )
    }))
})
