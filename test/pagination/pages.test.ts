/** Tests of lists that go on by checkpoint, by number or by both, and whose pages are objects or bare lists. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, FastCheck, type Layer, Schema, Stream } from "effect"
import { Errors, IdentityClient, Operation, Pagination } from "../../src/index.js"
import { forAll } from "../support/arbitraries.js"
import { over } from "../support/client.js"
import { inProcess } from "../support/tokenServer.js"

const User = Schema.Struct({ id: Schema.String, name: Schema.optional(Schema.String) })
const omittable = <A>(schema: Schema.Schema<A>) => Schema.optionalWith(schema, { exact: true })

const shared = {
  method: "GET",
  path: "/users",
  scope: "read:users",
  idempotent: true,
  error: [Errors.RateLimited]
} as const
const numbered = {
  page: Schema.optional(Schema.Int),
  per_page: Schema.optional(Schema.Int),
  include_totals: Schema.optional(Schema.Boolean)
}
const checkpoints = { from: Schema.optional(Schema.String), take: Schema.optional(Schema.Int) }

const byNumber = Operation.make("byNumber", () => ({
  ...shared,
  query: numbered,
  success: Schema.Union(
    Schema.Array(User),
    Schema.Struct({ start: Schema.Number, total: Schema.Number, users: Schema.Array(User) })
  ),
  items: "users"
}))

const byCheckpoint = Operation.make("byCheckpoint", () => ({
  ...shared,
  query: { ...checkpoints, q: Schema.optional(Schema.String) },
  success: Schema.Struct({ next: omittable(Schema.String), users: Schema.Array(User) }),
  items: "users",
  paging: "checkpoint"
}))

const bare = Operation.make("bare", () => ({
  ...shared,
  query: checkpoints,
  success: Schema.Array(User),
  paging: "checkpoint"
}))

const both = Operation.make("both", () => ({
  ...shared,
  query: { ...numbered, ...checkpoints },
  success: Schema.Union(
    Schema.Array(User),
    Schema.Struct({ total: omittable(Schema.Number), users: omittable(Schema.Array(User)) }),
    Schema.Struct({ next: omittable(Schema.String), users: omittable(Schema.Array(User)) })
  ),
  items: "users",
  paging: "both"
}))

/** Events of a log. Pages are bare lists, or have a total; none has a `next`. */
const newer = Operation.make("newer", () => ({
  ...shared,
  path: "/:kind/logs",
  params: { kind: Schema.String },
  query: { ...numbered, ...checkpoints, search: Schema.optional(Schema.String), sort: Schema.optional(Schema.String) },
  success: Schema.Union(
    Schema.Array(Schema.Struct({ log_id: Schema.String })),
    Schema.Struct({ total: Schema.Number, logs: Schema.Array(Schema.Struct({ log_id: Schema.String })) })
  ),
  items: "logs",
  paging: "newer"
}))

/** A log, as the service has it: with `from` what is newer, oldest first, whatever else is asked; without it by number, newest first. */
const withLog = (size: number) => {
  const log = Array.from({ length: size }, (_, nth) => ({ log_id: `${nth}` }))
  const respond = ({ from, include_totals, page = "0", per_page = "50", search, take = "50" }: Query) => {
    if (from !== undefined) return log.slice(Number(from) + 1, Number(from) + 1 + Number(take))
    const found = log.filter(({ log_id }) => search !== "even" || Number(log_id) % 2 === 0).toReversed()
    const logs = found.slice(Number(page) * Number(per_page), (Number(page) + 1) * Number(per_page))
    return include_totals === "true" ? { total: found.length, logs } : logs
  }
  /** What a new event does: it pushes all others on. */
  const add = () => log.push({ log_id: `${log.length}` })
  return { add, respond }
}

const users = (count: number) => Array.from({ length: count }, (_, nth) => ({ id: `u${nth}` }))

type Query = Readonly<Record<string, string>>

/** Provides a client of a service that responds to each query, and records them. */
const serving = (respond: (query: Query, nth: number) => unknown) => {
  const { arrived, layer } = inProcess((nth, { url }) =>
    Effect.succeed({ headers: { "content-type": "application/json" }, body: respond(queryOf(url), nth) })
  )
  return { layer: over(layer), queries: () => arrived.map(({ url }) => queryOf(url)) }
}

const queryOf = (url: string): Query => Object.fromEntries(new URL(url).searchParams)

const collect = <A, E, R, E2>(stream: Stream.Stream<A, E, R>, layer: Layer.Layer<R, E2>) =>
  Effect.map(Effect.provide(Stream.runCollect(stream), layer), Chunk.toReadonlyArray)

/** A service that pages a list by checkpoints that only it understands. */
const withNext = (all: ReadonlyArray<unknown>) => ({ from = "at-0", take = "50" }: Query) => {
  const start = Number(from.slice(3))
  const end = start + Number(take)
  return { users: all.slice(start, end), ...(end < all.length && { next: `at-${end}` }) }
}

/** A service whose pages are bare lists, after the item of this id. */
const withIds = (all: ReadonlyArray<{ readonly id: string }>) => ({ from, take = "50" }: Query) => {
  const start = from === undefined ? 0 : all.findIndex(({ id }) => id === from) + 1
  return all.slice(start, start + Number(take))
}

/** A service that pages a list by number, with totals on demand. */
const withPages = (all: ReadonlyArray<unknown>) => ({ include_totals, page = "0", per_page = "50" }: Query) => {
  const start = Number(page) * Number(per_page)
  const users = all.slice(start, start + Number(per_page))
  return include_totals === "true" ? { start, total: all.length, users } : users
}

const counts = FastCheck.record({ count: FastCheck.nat(70), size: FastCheck.integer({ min: 1, max: 20 }) })

describe("Pagination.stream", () => {
  it.effect("emits each item once and in order, by checkpoint, without an unnecessary request", () =>
    forAll(counts, ({ count, size }) =>
      Effect.gen(function*() {
        const all = users(count)
        const { layer, queries } = serving(withNext(all))
        assert.deepStrictEqual(yield* collect(Pagination.stream(byCheckpoint, { take: size, q: "x" }), layer), all)
        assert.lengthOf(queries(), Math.max(1, Math.ceil(count / size)))
        for (const [nth, query] of queries().entries()) {
          const from = nth === 0 ? {} : { from: `at-${nth * size}` }
          assert.deepStrictEqual(query, { take: String(size), q: "x", ...from })
        }
      }), 40))

  it.effect("goes on from the last item's id where pages are bare lists, until a short page", () =>
    forAll(counts, ({ count, size }) =>
      Effect.gen(function*() {
        const all = users(count)
        const { layer, queries } = serving(withIds(all))
        assert.deepStrictEqual(yield* collect(Pagination.stream(bare, { take: size }), layer), all)
        assert.lengthOf(queries(), Math.floor(count / size) + 1)
      }), 40))

  it.effect("asks for totals where the query can, so that the last page is known to be the last", () =>
    forAll(counts, ({ count, size }) =>
      Effect.gen(function*() {
        const all = users(count)
        const { layer, queries } = serving(withPages(all))
        assert.deepStrictEqual(yield* collect(Pagination.stream(byNumber, { per_page: size }), layer), all)
        assert.isTrue(queries().every((query) => query["include_totals"] === "true"))
        assert.lengthOf(queries(), Math.max(1, Math.ceil(count / size)))
      }), 40))

  it.effect("reads bare lists by number if the caller wants no totals", () =>
    Effect.gen(function*() {
      const all = users(5)
      const { layer, queries } = serving(withPages(all))
      const stream = Pagination.stream(byNumber, { per_page: 2, include_totals: false })
      assert.deepStrictEqual(yield* collect(stream, layer), all)
      assert.deepStrictEqual(queries().map(({ page }) => page), [undefined, "1", "2"])
      assert.isTrue(queries().every((query) => query["include_totals"] === "false"))
    }))

  it.effect("takes 50 at a time, and begins where the caller says", () =>
    Effect.gen(function*() {
      const { layer, queries } = serving(withNext(users(70)))
      assert.lengthOf(yield* collect(Pagination.stream(byCheckpoint, { from: "at-10" }), layer), 60)
      assert.deepStrictEqual(queries(), [{ from: "at-10", take: "50" }, { from: "at-60", take: "50" }])
    }))

  it.effect("goes by checkpoint where a service has both, unless the caller chooses a page or its size", () =>
    Effect.gen(function*() {
      const all = users(5)
      const first = serving(withNext(all))
      assert.deepStrictEqual(yield* collect(Pagination.stream(both, { take: 3 }), first.layer), all)
      assert.deepStrictEqual(first.queries(), [{ take: "3" }, { take: "3", from: "at-3" }])
      const second = serving(withPages(all))
      assert.deepStrictEqual(yield* collect(Pagination.stream(both, { per_page: 3 }), second.layer), all)
      const page = { per_page: "3", include_totals: "true" }
      assert.deepStrictEqual(second.queries(), [page, { ...page, page: "1" }])
      const third = serving(withPages(all))
      yield* collect(Pagination.stream(both, { page: 1, per_page: undefined, include_totals: undefined }), third.layer)
      assert.deepStrictEqual(third.queries(), [{ page: "1", include_totals: "true" }])
    }))

  it.effect("goes by number through a log whose checkpoint finds what is newer, so that a search holds for each page", () =>
    Effect.gen(function*() {
      const { layer, queries } = serving(withLog(7).respond)
      const found = yield* collect(Pagination.stream(newer, { kind: "a", search: "even", per_page: 2 }), layer)
      assert.deepStrictEqual(found.map(({ log_id }) => log_id), ["6", "4", "2", "0"])
      const page = { search: "even", per_page: "2", include_totals: "true" }
      assert.deepStrictEqual(queries(), [page, { ...page, page: "1" }])
    }))

  it.effect("emits each event of a log once, though new ones push others to the next page", () =>
    Effect.gen(function*() {
      const { add, respond } = withLog(6)
      const { layer } = serving((query, nth) => {
        if (nth === 2) add()
        return respond(query)
      })
      const found = yield* collect(Pagination.stream(newer, { kind: "a", per_page: 3 }), layer)
      assert.deepStrictEqual(found.map(({ log_id }) => log_id), ["5", "4", "3", "2", "1", "0"])
    }))

  it.effect("gives what is newer than an event of a log, the oldest first", () =>
    Effect.gen(function*() {
      const { layer, queries } = serving(withLog(7).respond)
      const found = yield* collect(Pagination.stream(newer, { kind: "a", from: "2", take: 3, sort: undefined }), layer)
      assert.deepStrictEqual(found.map(({ log_id }) => log_id), ["3", "4", "5", "6"])
      assert.deepStrictEqual(queries(), [{ from: "2", take: "3" }, { from: "5", take: "3" }])
    }))

  it.effect.each<readonly [object, ReadonlyArray<string>]>([
    [{ from: "2", search: "even", sort: "date:1" }, ["search", "sort"]],
    [{ from: "2", take: 10, page: 0, per_page: 50 }, ["page", "per_page"]],
    [{ take: 10, search: "even" }, ["take"]]
  ])("refuses a stream of a log whose pages cannot mean what is asked: %j", ([input, paths]) =>
    Effect.gen(function*() {
      const { layer, queries } = serving(withLog(7).respond)
      for (const stream of [Pagination.stream, Pagination.streamEither]) {
        const error = yield* Effect.flip(
          collect<unknown, unknown, IdentityClient.IdentityClient, Errors.InvalidInput>(
            stream(newer, { kind: "a", ...input }),
            layer
          )
        )
        assert.deepInclude(error, { _tag: "InvalidInput", operation: "newer" })
        assert.deepStrictEqual((error as Errors.InvalidInput).issues.map(({ path }) => path), paths)
      }
      assert.deepStrictEqual(queries(), [])
    }))

  it.effect.each<readonly [query: { readonly [name: string]: string }, input: object, paths: ReadonlyArray<string>]>([
    [{ search: "even" }, { from: "2" }, ["search"]],
    [{ unknown: "x" }, { from: "2" }, ["unknown"]],
    [{ page: "3" }, {}, ["withFields.query.page"]],
    [{ from: "2" }, {}, ["withFields.query.from"]]
  ])("refuses the same of fields that are not declared: %j", ([query, input, paths]) =>
    Effect.gen(function*() {
      const { layer, queries } = serving(withLog(7).respond)
      const error = yield* Effect.flip(
        collect<unknown, unknown, IdentityClient.IdentityClient, Errors.InvalidInput>(
          Pagination.stream(newer, { kind: "a", ...input }),
          layer
        ).pipe(IdentityClient.withFields({ query }))
      )
      assert.deepStrictEqual((error as Errors.InvalidInput).issues.map(({ path }) => path), paths)
      assert.deepStrictEqual(queries(), [])
    }))

  it.effect("refuses a page together with a checkpoint, where a service has both", () =>
    Effect.gen(function*() {
      const { layer, queries } = serving(withPages(users(5)))
      const error = yield* Effect.flip(collect(Pagination.stream(both, { per_page: 3, from: "at-3", take: 3 }), layer))
      assert.deepInclude(error, {
        _tag: "InvalidInput",
        issues: [
          { path: "from", message: "cannot be combined with `page` or `per_page`" },
          { path: "take", message: "cannot be combined with `page` or `per_page`" }
        ]
      })
      assert.deepStrictEqual(queries(), [])
    }))

  it.effect("ends with an empty page, whatever its checkpoint", () =>
    Effect.gen(function*() {
      const { layer, queries } = serving((_, nth) => ({ users: nth === 1 ? users(1) : [], next: `n${nth}` }))
      assert.deepStrictEqual(yield* collect(Pagination.stream(byCheckpoint, {}), layer), users(1))
      assert.lengthOf(queries(), 2)
    }))

  it.effect.each<readonly [string, number, (query: Query, nth: number) => unknown]>([
    ["a checkpoint that is its own next", 2, () => ({ users: users(1), next: "x" })],
    ["a cycle of checkpoints", 12, (_, nth) => ({ users: users(1), next: `x${nth % 5}` })]
  ])("fails on %s", ([, most, respond]) =>
    Effect.gen(function*() {
      const { layer, queries } = serving(respond)
      const error = yield* Effect.flip(collect(Pagination.stream(byCheckpoint, {}), layer))
      assert.deepInclude(error, { _tag: "UnexpectedResponse", reason: "endless", operation: "byCheckpoint" })
      assert.isAtMost(queries().length, most)
    }))

  it.effect("fails on a full bare page whose last item has no id", () =>
    Effect.gen(function*() {
      const anonymous = Operation.make("anonymous", () => ({
        ...shared,
        query: checkpoints,
        success: Schema.Array(Schema.Struct({ name: Schema.String })),
        paging: "checkpoint"
      }))
      const { layer } = serving(() => [{ name: "a" }])
      const error = yield* Effect.flip(collect(Pagination.stream(anonymous, { take: 1 }), layer))
      assert.deepInclude(error, { _tag: "UnexpectedResponse", reason: "endless" })
      assert.include(error.message, "the last item has no id")
    }))

  it.effect("refuses a page size of 0", () =>
    Effect.gen(function*() {
      const { layer, queries } = serving(() => [])
      const issues = (name: string) => ({ issues: [{ path: name, message: "expected an integer of at least 1" }] })
      assert.deepInclude(yield* Effect.flip(collect(Pagination.stream(bare, { take: 0 }), layer)), issues("take"))
      const zero = Pagination.stream(byNumber, { per_page: 0 })
      assert.deepInclude(yield* Effect.flip(collect(zero, layer)), issues("per_page"))
      assert.lengthOf(queries(), 0)
    }))
})

describe("Pagination.streamEither", () => {
  it.effect("emits an item that cannot be decoded in its place, also from a bare list", () =>
    Effect.gen(function*() {
      const { layer } = serving((_, nth) => nth === 1 ? [{ id: "a" }, { id: "b", name: 7 }] : [{ id: "c" }])
      const items = yield* collect(Pagination.streamEither(bare, { take: 2 }), layer)
      assert.deepStrictEqual(items.map(Either.isRight), [true, false, true])
      const [, broken] = items
      assert.deepInclude(Either.isLeft(broken!) ? broken.left : {}, {
        _tag: "UndecodableItem",
        page: 0,
        path: "[1].name",
        message: "bare: unexpected response body at [1].name: expected a string"
      })
    }))

  it.effect("decodes the items of every form of a page", () =>
    Effect.gen(function*() {
      const item = { id: "a", name: 7 }
      for (const body of [[item], { total: 1, users: [item] }, { users: [item] }]) {
        const { layer } = serving(() => body)
        const items = yield* collect(Pagination.streamEither(both, {}), layer)
        assert.deepStrictEqual(items.map(Either.isLeft), [true], JSON.stringify(body))
      }
    }))
})
