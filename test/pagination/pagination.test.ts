/** Tests of `Pagination`: each item once and in order, whatever the pages hold, with no unnecessary request. */
import { assert, describe, it } from "@effect/vitest"
import {
  Chunk,
  Deferred,
  Effect,
  Either,
  Exit,
  FastCheck,
  Fiber,
  Layer,
  Option,
  Redacted,
  Schema,
  Stream
} from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { inspect } from "node:util"
import { vi } from "vitest"
import {
  type ActionVersion,
  Errors,
  IdentityClient,
  listActionVersions,
  Operation,
  Pagination,
  RateLimiter,
  TokenProvider
} from "../../src/index.js"
import * as Node from "../../src/Node.js"
import * as Tenant from "../../src/Tenant.js"
import * as Testing from "../../src/Testing.js"
import { forAll } from "../support/arbitraries.js"
import { baseUrl, scripted } from "../support/client.js"
import { effectMajor } from "../support/effectMajor.js"
import * as Garbage from "../support/garbage.js"
import { rawServer, responseBytes } from "../support/rawServer.js"
import { allLines } from "../support/telemetry.js"

interface Request {
  readonly actionId: string
  readonly page?: number | undefined
  readonly per_page?: number | undefined
}

interface Page {
  readonly total: number
  readonly page?: number
  readonly versions: ReadonlyArray<ActionVersion>
}

const version = (number: number): ActionVersion => ({ id: `v${number}`, number })

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, nth) => version(from + nth))

const numbers = (versions: Iterable<ActionVersion>) => Array.from(versions, ({ number }) => number)

/** A client that returns a page for the n-th request, and records the requests. */
const scriptPages = (pageOf: (request: Request, nth: number) => Page) => {
  const requests: Array<Request> = []
  const layer = Testing.layer(
    Testing.handle(
      listActionVersions,
      (input) => Effect.sync(() => ({ per_page: input.per_page ?? 20, ...pageOf(input, requests.push(input) - 1) }))
    )
  )
  return { requests, layer, pages: () => requests.map(({ page }) => page) }
}

/** A client that splits the list of each request into pages of `size`; the first page has no field `page`. */
const paginate = (size: number, list: (nth: number) => ReadonlyArray<ActionVersion>) =>
  scriptPages(({ page = 0 }, nth) => {
    const all = list(nth)
    return { total: all.length, ...(page > 0 && { page }), versions: all.slice(page * size, (page + 1) * size) }
  })

const all = Pagination.stream(listActionVersions, { actionId: "a" })

const collect = <A, E>(
  stream: Stream.Stream<A, E, IdentityClient.IdentityClient>,
  layer: Layer.Layer<IdentityClient.IdentityClient>
) => Effect.map(Effect.provide(Stream.runCollect(stream), layer), Chunk.toReadonlyArray)

const failsAsEndless = (layer: Layer.Layer<IdentityClient.IdentityClient>) =>
  Effect.gen(function*() {
    const seen: Array<ActionVersion> = []
    const error = yield* Effect.flip(
      Stream.runForEach(all, (item) => Effect.sync(() => void seen.push(item))).pipe(Effect.provide(layer))
    )
    assert.instanceOf(error, Errors.UnexpectedResponse)
    const { operation, path, reason, shape } = error as Errors.UnexpectedResponse
    assert.deepStrictEqual({ operation, path, reason, shape }, {
      operation: "listActionVersions",
      path: "versions",
      reason: "endless",
      shape: "JSON"
    })
    return { seen: numbers(seen), message: (error as Errors.UnexpectedResponse).message }
  })

describe("Pagination.stream", () => {
  it.effect.each(
    [
      ["no items", 0, 20, 1],
      ["one item", 1, 20, 1],
      ["a part of a page", 7, 20, 1],
      ["a page that is exactly full", 20, 20, 1],
      ["one more than a page", 21, 20, 2],
      ["two pages that are exactly full", 40, 20, 2],
      ["a last page that is not full", 47, 10, 5],
      ["pages of one item", 5, 1, 5]
    ] as const
  )("%s: each item once, in order, with no unnecessary request", ([, count, size, requests]) =>
    Effect.gen(function*() {
      const { layer, pages } = paginate(size, () => range(0, count))
      assert.deepStrictEqual(numbers(yield* collect(all, layer)), numbers(range(0, count)))
      assert.deepStrictEqual(pages(), [undefined, ...Array.from({ length: requests - 1 }, (_, nth) => nth + 1)])
    }))

  it.effect("emits any number of items from pages of any size", () =>
    forAll(
      FastCheck.record({
        count: FastCheck.nat(60),
        size: FastCheck.integer({ min: 1, max: 25 }),
        from: FastCheck.nat(4)
      }),
      ({ count, from, size }) =>
        Effect.gen(function*() {
          const { layer } = paginate(size, () => range(0, count))
          const items = yield* collect(Pagination.stream(listActionVersions, { actionId: "a", page: from }), layer)
          assert.deepStrictEqual(numbers(items), numbers(range(0, count).slice(from * size)))
        })
    ))

  it.effect("starts at the caller's page, and sends the caller's other fields with every request", () =>
    Effect.gen(function*() {
      const { layer, requests } = paginate(5, () => range(0, 20))
      const items = yield* collect(
        Pagination.stream(listActionVersions, { actionId: "b", page: 2, per_page: 5 }),
        layer
      )
      assert.deepStrictEqual(numbers(items), numbers(range(10, 20)))
      assert.deepStrictEqual(requests, [
        { actionId: "b", page: 2, per_page: 5 },
        { actionId: "b", page: 3, per_page: 5 }
      ])
    }))

  it.effect("emits nothing from a page beyond the last", () =>
    Effect.gen(function*() {
      const { layer, pages } = paginate(5, () => range(0, 20))
      assert.deepStrictEqual(
        yield* collect(Pagination.stream(listActionVersions, { actionId: "b", page: 9 }), layer),
        []
      )
      assert.deepStrictEqual(pages(), [9])
    }))

  it.effect("reads to the end if the service returns smaller pages than requested", () =>
    Effect.gen(function*() {
      const { layer } = paginate(50, () => range(0, 200))
      const items = yield* collect(Pagination.stream(listActionVersions, { actionId: "a", per_page: 100 }), layer)
      assert.lengthOf(items, 200)
    }))

  it.effect("continues after a short page in the middle", () =>
    Effect.gen(function*() {
      const { layer } = scriptPages(({ page = 0 }) => ({
        total: 10,
        versions: [range(0, 4), range(4, 6), range(6, 10), []][page] ?? []
      }))
      assert.deepStrictEqual(numbers(yield* collect(all, layer)), numbers(range(0, 10)))
    }))

  it.effect("ignores an invalid total", () =>
    Effect.gen(function*() {
      const { layer, pages } = scriptPages(({ page = 0 }) => ({
        total: 1.1,
        versions: range(0, 12).slice(page * 5, page * 5 + 5)
      }))
      assert.lengthOf(yield* collect(all, layer), 12)
      assert.deepStrictEqual(pages(), [undefined, 1, 2])
    }))

  it.effect("emits items once that new items push to the next page", () =>
    Effect.gen(function*() {
      // Newest first; three more items with each request.
      const { layer } = paginate(10, (nth) => range(0, 30 + 3 * nth).toReversed())
      const items = numbers(yield* collect(all, layer))
      assert.deepStrictEqual(items, numbers(range(0, 30).toReversed()))
    }))

  it.effect("continues after a page of known items if as many new ones were created", () =>
    Effect.gen(function*() {
      const { layer } = paginate(10, (nth) => range(0, nth === 0 ? 30 : 40).toReversed())
      assert.deepStrictEqual(numbers(yield* collect(all, layer)), numbers(range(0, 30).toReversed()))
    }))

  it.effect("ends with a short last page of known items", () =>
    Effect.gen(function*() {
      // Each new item replaces the oldest: there are always 41.
      const replaced = paginate(20, (nth) => range(nth, nth + 41).toReversed())
      assert.deepStrictEqual(numbers(yield* collect(all, replaced.layer)), numbers(range(2, 41).toReversed()))
      assert.lengthOf(replaced.requests, 3)
    }))

  it.effect("ends with the last page if the total shrinks meanwhile", () =>
    Effect.gen(function*() {
      const { layer } = paginate(10, (nth) => range(0, nth < 2 ? 40 : 25))
      assert.deepStrictEqual(numbers(yield* collect(all, layer)), numbers(range(0, 25)))
    }))

  it.effect("treats items without an id as new", () =>
    Effect.gen(function*() {
      const { layer } = scriptPages(({ page = 0 }) => ({ total: 4, versions: [[{}, {}], [{}, {}]][page] ?? [] }))
      assert.lengthOf(yield* collect(all, layer), 4)
    }))

  it.effect("fails as endless if the service returns the same page for ever, after its items", () =>
    Effect.gen(function*() {
      const { layer, pages } = scriptPages(() => ({ total: 100, versions: range(0, 10) }))
      const { message, seen } = yield* failsAsEndless(layer)
      assert.deepStrictEqual(seen, numbers(range(0, 10)))
      assert.include(message, "page 1 has no new items")
      assert.deepStrictEqual(pages(), [undefined, 1])
    }))

  it.effect("fails as endless if the page stays the same while the total grows", () =>
    Effect.gen(function*() {
      const { layer } = scriptPages((_, nth) => ({ total: 100 + 10 * nth, versions: range(0, 10) }))
      assert.deepStrictEqual((yield* failsAsEndless(layer)).seen, numbers(range(0, 10)))
    }))

  it.effect("fails as endless after more than twice as many pages as the total allows", () =>
    Effect.gen(function*() {
      const { layer, pages } = scriptPages(({ page = 0 }) => ({
        total: 25,
        versions: range(page * 10, page * 10 + 10)
      }))
      const { message, seen } = yield* failsAsEndless(layer)
      assert.deepStrictEqual(seen, numbers(range(0, 60)))
      assert.include(message, "a total of 25")
      assert.lengthOf(pages(), 7)
    }))

  it.effect("emits a page as its first item and then the rest", () =>
    Effect.gen(function*() {
      const sizes = (size: number, count: number) =>
        Effect.map(
          collect(Stream.chunks(all), paginate(size, () => range(0, count)).layer),
          (chunks) => chunks.map((chunk) => chunk.length).filter((length) => length > 0)
        )
      assert.deepStrictEqual(yield* sizes(5, 11), [1, 4, 1, 4, 1])
      assert.deepStrictEqual(yield* sizes(1, 3), [1, 1, 1])
      assert.deepStrictEqual(yield* sizes(5, 0), [])
    }))

  it.effect("holds no processed page while it loads the next one", () =>
    Effect.gen(function*() {
      const waiting = yield* Deferred.make<void>()
      const layer = Testing.layer(Testing.handle(listActionVersions, ({ page = 0 }) =>
        page === 0
          ? Effect.sync(() => ({ total: 9, per_page: 3, versions: range(0, 3) }))
          : Effect.zipRight(Deferred.succeed(waiting, undefined), Effect.never)))
      const seen: Array<WeakRef<ActionVersion>> = []
      const fiber = yield* all.pipe(
        Stream.runForEach((item) => Effect.sync(() => void seen.push(new WeakRef(item)))),
        Effect.provide(layer),
        Effect.fork
      )
      yield* Deferred.await(waiting)
      for (let nth = 0; nth < 20 && seen.some((item) => item.deref() !== undefined); nth++) {
        yield* Effect.promise(Garbage.collect)
      }
      assert.deepStrictEqual(seen.map((item) => item.deref()), [undefined, undefined, undefined])
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("costs one request for one item, and at most three for a page and one item", () =>
    Effect.gen(function*() {
      const one = paginate(10, () => range(0, 100))
      assert.deepStrictEqual(numbers(yield* collect(Stream.take(all, 1), one.layer)), [0])
      assert.deepStrictEqual(one.pages(), [undefined])
      const more = paginate(10, () => range(0, 100))
      assert.lengthOf(yield* collect(Stream.take(all, 11), more.layer), 11)
      assert.isAtMost(more.pages().length, 3)
    }))

  it.effect("loads the next page while the rest of a page is processed, and no more", () =>
    Effect.gen(function*() {
      const { layer, pages } = paginate(10, () => range(0, 100))
      const reached = yield* Deferred.make<void>()
      const fiber = yield* all.pipe(
        Stream.runForEach(({ number }) =>
          number === 5 ? Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never) : Effect.void
        ),
        Effect.provide(layer),
        Effect.fork
      )
      yield* Deferred.await(reached)
      yield* Effect.yieldNow()
      assert.deepStrictEqual(pages(), [undefined, 1])
      yield* Fiber.interrupt(fiber)
    }))

  it.scopedLive("requests the next page before a consumer that never yields processes the rest", () =>
    Effect.gen(function*() {
      const events: Array<string | number | undefined> = []
      const sent = () => events.push("sent")
      subscribe("undici:client:sendHeaders", sent)
      yield* Effect.addFinalizer(() => Effect.sync(() => unsubscribe("undici:client:sendHeaders", sent)))
      const server = yield* rawServer(({ line }, socket) => {
        const page = Number(/page=(\d+)/.exec(line)?.[1] ?? 0)
        const versions = range(page * 4, page * 4 + 4)
        const body = JSON.stringify({ total: 16, page, per_page: 4, versions })
        socket.write(responseBytes(200, { "content-type": "application/json" }, body))
      })
      yield* Stream.runForEach(all, ({ number }) => Effect.sync(() => events.push(number))).pipe(
        Effect.provide(
          IdentityClient.layer({ baseUrl: `${server.url}/api/v2` }).pipe(
            Layer.provide(RateLimiter.layerUnlimited),
            Layer.provide(TokenProvider.layerBearer(Redacted.make("a-token"))),
            Layer.provide(Layer.orDie(Node.layerHttpClient))
          )
        )
      )
      const after = events.slice(events.indexOf(4)) // the first requests open connections
      assert.deepStrictEqual(after, [4, "sent", 5, 6, 7, 8, "sent", 9, 10, 11, 12, 13, 14, 15])
    }))

  // Effect 4 itself stands still then: its scheduler takes `setImmediate` anew each time.
  it.skipIf(effectMajor > 3)("works while fake timers stand still", async () => {
    const { layer } = paginate(10, () => range(0, 25))
    vi.useFakeTimers()
    const items = await Effect.runPromise(collect(all, layer)).finally(() => vi.useRealTimers())
    assert.lengthOf(items, 25)
  })

  it("yields to other fibers where `setImmediate` does not exist", async () => {
    vi.resetModules()
    const immediate = globalThis.setImmediate
    Reflect.deleteProperty(globalThis, "setImmediate")
    const { yieldToEventLoop } = await import("../../src/internal/runtime/streams/yieldToEventLoop.js").finally(() => {
      Reflect.set(globalThis, "setImmediate", immediate)
      vi.resetModules() // the test files of a process share what they import
    })
    const events: Array<string> = []
    const other = Effect.fork(Effect.sync(() => events.push("other")))
    await Effect.runPromise(
      Effect.zipRight(other, Effect.zipRight(yieldToEventLoop, Effect.sync(() => events.push("self"))))
    )
    assert.deepStrictEqual(events, ["other", "self"])
  })

  it.effect("emits all items to a consumer that is slower than the service", () =>
    Effect.gen(function*() {
      const { layer, pages } = paginate(10, () => range(0, 35))
      const slowly = Stream.tap(all, () => Effect.yieldNow())
      assert.deepStrictEqual(numbers(yield* collect(slowly, layer)), numbers(range(0, 35)))
      assert.deepStrictEqual(pages(), [undefined, 1, 2, 3])
    }))

  it.effect.each([0, 1])("dies if the client throws at page %i", (last) =>
    Effect.gen(function*() {
      const thrown = new Error("no client")
      const { layer } = paginate(10, () => range(0, 30))
      const client = yield* Effect.provide(IdentityClient.IdentityClient, layer)
      let calls = 0
      const throwing = Layer.succeed(IdentityClient.IdentityClient, {
        ...client,
        execute: (...of) => {
          if (calls++ === last) throw thrown
          return client.execute(...of)
        }
      })
      const exit = yield* Effect.exit(collect(all, throwing))
      assert.deepStrictEqual(exit, Exit.die(thrown))
    }))

  it.effect("emits all items, or no more than taken, in an uninterruptible region", () =>
    Effect.gen(function*() {
      const { layer } = paginate(10, () => range(0, 25))
      assert.lengthOf(yield* Effect.uninterruptible(collect(all, layer)), 25)
      assert.lengthOf(yield* Effect.uninterruptible(collect(Stream.take(all, 5), layer)), 5)
    }))

  it.effect("waits for no page that nobody wants in an uninterruptible region", () =>
    Effect.gen(function*() {
      const open = yield* Deferred.make<void>()
      let isInterrupted = false
      const second = Effect.onInterrupt(Deferred.await(open), () => Effect.sync(() => void (isInterrupted = true)))
      const layer = Testing.layer(Testing.handle(
        listActionVersions,
        ({ page = 0 }) =>
          Effect.as(page === 0 ? Effect.void : second, { total: 20, per_page: 10, versions: range(page * 10, 10) })
      ))
      const fiber = yield* Effect.fork(Effect.uninterruptible(collect(Stream.take(all, 5), layer)))
      yield* Effect.repeatN(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))), 20)
      const ended = yield* Fiber.poll(fiber)
      yield* Deferred.succeed(open, undefined)
      assert.lengthOf(yield* Fiber.join(fiber), 5)
      assert.deepStrictEqual([Option.isSome(ended), isInterrupted], [true, true])
    }))

  it.effect("interrupts the running request if the consumer stops", () =>
    Effect.gen(function*() {
      let interrupted = 0
      const layer = Testing.layer(Testing.handle(listActionVersions, ({ page = 0 }) =>
        page === 0
          ? Effect.succeed({ total: 100, per_page: 10, versions: range(0, 10) })
          : Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++))))
      assert.lengthOf(yield* collect(Stream.take(all, 5), layer), 5)
      assert.strictEqual(interrupted, 1)
    }))

  it.effect.each([["processes the rest", 5], ["waits for the next page", undefined]] as const)(
    "interrupts the running request if the consumer is interrupted while it %s",
    ([, last]) =>
      Effect.gen(function*() {
        let interrupted = 0
        const begun = yield* Deferred.make<void>()
        const layer = Testing.layer(Testing.handle(listActionVersions, ({ page = 0 }) =>
          page === 0
            ? Effect.succeed({ total: 100, per_page: 10, versions: range(0, 10) })
            : Deferred.succeed(begun, undefined).pipe(
              Effect.zipRight(Effect.never),
              Effect.onInterrupt(() => Effect.sync(() => void interrupted++))
            )))
        const fiber = yield* Stream.runForEach(all, ({ number }) => number === last ? Effect.never : Effect.void).pipe(
          Effect.provide(layer),
          Effect.fork
        )
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(interrupted, 1)
      })
  )

  it.effect("fails like the operation, after the items of all earlier pages", () =>
    Effect.gen(function*() {
      const forbidden = new Errors.Forbidden({ operation: "listActionVersions", message: "No." })
      const layer = Testing.layer(
        Testing.handle(
          listActionVersions,
          ({ page = 0 }) =>
            page === 0 ? Effect.succeed({ total: 20, per_page: 10, versions: range(0, 10) }) : Effect.fail(forbidden)
        )
      )
      const seen: Array<ActionVersion> = []
      const exit = yield* Effect.exit(
        Effect.provide(Stream.runForEach(all, (item) => Effect.sync(() => void seen.push(item))), layer)
      )
      assert.deepStrictEqual(exit, Exit.fail(forbidden))
      assert.lengthOf(seen, 10)
    }))

  it.effect("logs no more than Effect does of each stream that fails", () =>
    Effect.gen(function*() {
      const bad = new Errors.BadRequest({ operation: "listActionVersions", message: "user ada is unknown" })
      const layer = Testing.layer(
        Testing.handle(
          listActionVersions,
          ({ page = 0 }) =>
            page === 0 ? Effect.succeed({ total: 20, per_page: 10, versions: range(0, 10) }) : Effect.fail(bad)
        )
      )
      const { lines, value } = yield* allLines(Effect.flip(collect(all, layer)))
      assert.strictEqual(value, bad)
      const { lines: always } = yield* allLines(Effect.flip(Stream.runCollect(Stream.fail(bad))))
      assert.deepStrictEqual(lines, always)
    }))

  it.effect.each(
    [
      ["page", { actionId: "a", page: -1 }, /./],
      ["page", { actionId: "a", page: 0.5 }, /./],
      ["per_page", { actionId: "a", per_page: 0 }, /^expected an integer of at least 1$/],
      ["per_page", { actionId: "a", per_page: NaN }, /./],
      ["actionId", { actionId: ".." }, /./]
    ] as const
  )("fails for an invalid %s by its name, and sends nothing", ([name, input, message]) =>
    Effect.gen(function*() {
      const { layer, requests } = paginate(10, () => range(0, 10))
      const error = yield* Effect.flip(collect(Pagination.stream(listActionVersions, input), layer))
      assert.strictEqual(error._tag, "InvalidInput")
      const { issues } = error as Errors.InvalidInput
      assert.deepStrictEqual(issues.map(({ path }) => path), [name])
      for (const issue of issues) assert.match(issue.message, message)
      assert.deepStrictEqual(requests, [])
    }))

  it.effect("starts from the beginning on each run", () =>
    Effect.gen(function*() {
      const { layer } = paginate(10, () => range(0, 25))
      const twice = Effect.all([Stream.runCount(all), Stream.runCount(all)])
      assert.deepStrictEqual(yield* Effect.provide(twice, layer), [25, 25])
    }))

  it.live("uses the client: its token, rate limiter and retries", () =>
    Effect.gen(function*() {
      const versions = range(0, 105).map(({ id = "", number = 0 }) => ({ id, number }))
      yield* Effect.flatMap(Tenant.Tenant, ({ injectFault, seed }) =>
        Effect.zipRight(
          seed({ actions: [{ id: "many", versions }] }),
          injectFault({ operation: "listActionVersions", status: 503 })
        ))
      const items = yield* Stream.runCollect(Pagination.stream(listActionVersions, { actionId: "many", per_page: 25 }))
      assert.deepStrictEqual(numbers(items), numbers(range(0, 105)))
      const { requests } = yield* Tenant.Tenant
      const pages = (yield* requests).slice(1).map(({ query, status }) => [status, new Map(query).get("page")])
      assert.deepStrictEqual(pages, [
        [503, undefined],
        [200, undefined],
        ...["1", "2", "3", "4"].map((page) => [200, page])
      ])
    }).pipe(Effect.provide(
      IdentityClient.layer({ baseUrl, retry: { delay: "1 millis" } }).pipe(
        Layer.provide(RateLimiter.layer),
        Layer.provide(TokenProvider.layerClientCredentials({
          domain: "tenant.example.com",
          clientId: Tenant.demoClients.full.id,
          clientSecret: Tenant.demoClients.full.secret
        })),
        Layer.provide(Tenant.layerHttpClient),
        Layer.provideMerge(Tenant.layer)
      )
    )))
})

describe("Pagination.streamEither", () => {
  const good = [version(0), { ...version(1), errors: [], built_at: "2023-01-25T17:42:12.004394259Z" }]
  const bad = [{ id: "v2", number: "two", code: "a private secret" }, "not a version"]
  const page = (versions: ReadonlyArray<unknown>, total = versions.length) =>
    Testing.reply({ body: { total, per_page: 20, versions } })
  const checked = Pagination.streamEither(listActionVersions, { actionId: "a" })

  it.effect("emits valid items, and for an invalid one a failure with its path and raw value", () =>
    Effect.gen(function*() {
      const items = Chunk.toReadonlyArray(yield* Stream.runCollect(checked))
      assert.deepStrictEqual(items.map(Either.isRight), [true, false, true, false])
      assert.deepStrictEqual(items.flatMap((item) => Either.isRight(item) ? [item.right] : []) as Array<unknown>, good)
      const failures = items.flatMap((item) => Either.isLeft(item) ? [item.left] : [])
      assert.deepStrictEqual(
        failures.map(({ _tag, operation, page, path }) => ({ _tag, operation, page, path })),
        ["versions[1].number", "versions[3]"].map((path) => ({
          _tag: "UndecodableItem",
          operation: "listActionVersions",
          page: 0,
          path
        }))
      )
      assert.deepStrictEqual(failures.map(({ raw }) => Redacted.value(raw)), bad)
      for (const failure of failures) {
        for (const text of [inspect(failure, { depth: Infinity }), String(failure), JSON.stringify(failure)]) {
          assert.notMatch(text, /secret|two|not a version/)
        }
      }
    }).pipe(Effect.provide(scripted(page([good[0], bad[0], good[1], bad[1]])))))

  it.effect("fails on an invalid item without streamEither", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Stream.runCollect(all))
      assert.strictEqual((error as Errors.UnexpectedResponse).reason, "schema")
    }).pipe(Effect.provide(scripted(page([good[0], bad[0]])))))

  const listUsers = Operation.make("listUsers", () => ({
    method: "GET",
    path: "/users",
    query: { page: Schema.optional(Schema.Number), q: Schema.optional(Schema.String) },
    success: Schema.Struct({
      total: Schema.Number,
      users: Schema.Array(Schema.Struct({ roles: Schema.Record({ key: Schema.String, value: Schema.Number }) }))
    }),
    items: "users",
    scope: "read:users",
    idempotent: true,
    error: [Errors.RateLimited]
  }))
  const usersWith = (role: string) =>
    scripted(Testing.reply({ body: { total: 1, users: [{ roles: { [role]: "an owner" } }] } }))
  /** The failure of the only user, and the one that `stream` has in its place. */
  const failuresOf = (role: string, q: string) =>
    Effect.gen(function*() {
      const items = yield* Effect.provide(Stream.runCollect(Pagination.streamEither(listUsers, { q })), usersWith(role))
      const [failure] = Array.from(items).flatMap((item) => Either.isLeft(item) ? [item.left] : [])
      const error = yield* Effect.flip(
        Effect.provide(Stream.runCollect(Pagination.stream(listUsers, { q })), usersWith(role))
      )
      assert.instanceOf(failure, Pagination.UndecodableItem)
      return [failure as Pagination.UndecodableItem, error as Errors.UnexpectedResponse] as const
    })

  it.effect("hides strings of the call's input in paths, as stream does", () =>
    Effect.gen(function*() {
      const inHeader = IdentityClient.withHeaders({ "x-user": "a@b.example" })
      for (const call of [failuresOf("a@b.example", "a@b.example"), inHeader(failuresOf("a@b.example", "none"))]) {
        const [item, error] = yield* call
        assert.notInclude(`${item.path} ${item.message}`, "b.example")
        assert.include(item.path, "…")
        assert.strictEqual(item.path, error.path)
        assert.include(error.message, item.message.replace(/^\w+: /, ""))
      }
    }))

  it.effect("has a path and a message of limited length", () =>
    Effect.gen(function*() {
      const [{ message, path }, error] = yield* failuresOf("k".repeat(100_000), "none")
      assert.strictEqual(path, error.path)
      assert.lengthOf(path, 500)
      assert.isBelow(message.length, 600)
    }))

  it.effect("treats null as absent for optional fields", () =>
    Effect.gen(function*() {
      const [item] = yield* Stream.runCollect(checked)
      assert.deepStrictEqual(item, Either.right({ id: "v1", secrets: [{ name: "KEY" }] }))
    }).pipe(Effect.provide(scripted(page([{ id: "v1", code: null, secrets: [{ name: "KEY", updated_at: null }] }])))))

  it.effect("fails if another field of the page is invalid", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Stream.runCollect(checked))
      assert.deepInclude(error, { reason: "schema", path: "total" })
    }).pipe(Effect.provide(scripted(Testing.reply({ body: { total: "many", per_page: 20, versions: good } })))))

  it.effect("pages like stream, also with a mock of the operation", () =>
    Effect.gen(function*() {
      const { layer, pages } = paginate(10, (nth) => range(0, 25 + nth).toReversed())
      const items = yield* collect(checked, layer)
      assert.deepStrictEqual(numbers(items.map(Either.getOrThrow)), numbers(range(0, 25).toReversed()))
      assert.deepStrictEqual(pages(), [undefined, 1, 2])
    }))

  const listThings = Operation.make("listThings", () => ({
    method: "GET",
    path: "/things",
    query: { page: Schema.optional(Schema.Number) },
    success: Schema.Struct({ things: Schema.optionalWith(Schema.Array(Schema.Number), { exact: true }) }).pipe(
      Schema.filter(() => true)
    ),
    items: "things",
    scope: "read:things",
    idempotent: true,
    error: [Errors.RateLimited]
  }))

  it.effect("treats a page without a list as empty", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual([...yield* Stream.runCollect(Pagination.stream(listThings, {}))], [])
      assert.deepStrictEqual([...yield* Stream.runCollect(Pagination.streamEither(listThings, {}))], [])
    }).pipe(Effect.provide(scripted(Testing.reply({ body: {} }), Testing.reply({ body: {} })))))

  it.effect("works for an operation of the user's own, with an optional list", () =>
    Effect.gen(function*() {
      const items = yield* Stream.runCollect(Pagination.streamEither(listThings, {}))
      assert.deepStrictEqual(Array.from(items, Either.isRight), [true, false, true])
    }).pipe(Effect.provide(scripted(
      Testing.reply({ body: { things: [1, "2"] } }),
      Testing.reply({ body: { things: [3] } })
    ))))
})
