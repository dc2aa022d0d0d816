/** The parts that paging and redelivery are made of, each on its own. */
import { FileSystem, KeyValueStore } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either, Option, Schema, Stream } from "effect"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import { Errors, Operation, Pagination } from "../../src/index.js"
import * as Derived from "../../src/internal/pagination/pageSchema.js"
import { Listing, type Page } from "../../src/internal/pagination/pageTracker.js"
import * as Feed from "../../src/internal/redelivery/input.js"
import * as Journal from "../../src/internal/redelivery/journal.js"
import type { Result } from "../../src/internal/redelivery/outcome.js"
import * as Tally from "../../src/internal/redelivery/progress.js"
import * as Journals from "../../src/node/fileJournal.js"

describe("a listing", () => {
  /** Pages of items, which are their ids, each with a total; only what is told of the last one is looked at. */
  const last = (...pages: ReadonlyArray<readonly [ids: ReadonlyArray<unknown>, total: unknown]>) => from(0, ...pages)

  const from = (start: number, ...pages: ReadonlyArray<readonly [ids: ReadonlyArray<unknown>, total: unknown]>) => {
    const listing = new Listing(start)
    return pages.map(([ids, total]) => listing.take(ids.map((id) => ({ id })), total)).at(-1)
  }

  const items = (fresh: ReadonlyArray<number>, isLast: boolean): Page => ({ _tag: "Items", fresh, isLast })

  /** So many ids from one on. */
  const ids = (from: number, count: number) => Array.from({ length: count }, (_, nth) => from + nth)

  for (
    const [what, page, expected] of [
      ["a page without items is the last", () => last([[], 9]), items([], true)],
      ["an item comes once, also on one page", () => last([["a", "b", "a"], 9]), items([0, 1], false)],
      [
        "items without an id are all new",
        () => last([[null, undefined, null, undefined], 4]),
        items([0, 1, 2, 3], true)
      ],
      ["the ids of two pages are known", () => last([[1, 2], 9], [[3, 4], 9], [[2, 4, 5], 9]), items([2], false)],
      [
        "those before them are not",
        () => last([[1, 2], 9], [[3, 4], 9], [[5, 6], 9], [[1, 7], 9]),
        items([0, 1], false)
      ],
      [
        "a short page that ends beyond the total is the last",
        () => last([[1, 2, 3], 4], [[3, 4], 4]),
        items([1], true)
      ],
      ["a short page that ends before it is not", () => last([[1, 2, 3], 9], [[4, 5], 9]), items([0, 1], false)],
      ["a full page that ends beyond it is not", () => last([[1, 2, 3], 4], [[4, 5, 6], 4]), items([0, 1, 2], false)],
      ["a total below 0 is none", () => last([[1, 2], -1], [[3, 4], -1], [[5, 6], -1], [[7], -1]), items([0], true)],
      ["a total of another page on counts, too", () => from(1, [[4, 5, 6], 7], [[7], 7]), items([0], true)]
    ] as const
  ) {
    it(what, () => {
      assert.deepStrictEqual(page(), expected)
    })
  }

  for (
    const [what, page, why] of [
      [
        "a full page with nothing new, were it the last",
        () => last([ids(0, 10), 20], [ids(0, 10), 20]),
        "page 1 brought nothing new"
      ],
      [
        "a short page with nothing new, long before the total",
        () => last([ids(0, 10), 99], [ids(0, 5), 99]),
        "page 1 brought nothing new"
      ],
      [
        "a page with nothing new after one that only new items explain",
        () => last([ids(0, 10), 99], [ids(0, 10), 109], [ids(0, 10), 119]),
        "page 2 brought nothing new"
      ],
      [
        "more than twice the pages that are left",
        () => from(2, [ids(0, 10), 25], [ids(10, 10), 25], [ids(20, 10), 25]),
        "3 pages were more than twice as many as a total of 25 allows"
      ],
      [
        "pages where there are none",
        () => last([[1, 2], 0], [[3, 4], 0], [[5, 6], 0]),
        "3 pages were more than twice as many as a total of 0 allows"
      ]
    ] as const
  ) {
    it(`does not end: ${what}`, () => {
      assert.deepStrictEqual(page(), { _tag: "Endless", why })
    })
  }
})

describe("pages of anything", () => {
  const numbers = Schema.Array(Schema.Number)
  interface Things {
    readonly things: ReadonlyArray<unknown>
  }
  const declare = (success: Schema.Schema.AnyNoContext) =>
    Operation.make("listThings", {
      method: "GET",
      path: "/things",
      query: { page: Schema.optional(Schema.Number) },
      success: success as Schema.Schema<Things>, // sound: nothing is read as such
      items: "things",
      scope: "read:things",
      idempotent: true,
      error: [Errors.RateLimited]
    })
  const holding = (things: Schema.Schema.AnyNoContext) => declare(Schema.Struct({ things }))

  for (
    const [what, operation] of [
      ["a struct", holding(numbers)],
      [
        "a struct that has to be more than that",
        declare(Schema.Struct({ things: numbers }).pipe(Schema.filter(() => true)))
      ],
      ["a struct that is defined later", declare(Schema.suspend(() => Schema.Struct({ things: numbers })))],
      [
        "one of several structs",
        declare(Schema.Union(Schema.Struct({ message: Schema.String }), Schema.Struct({ things: numbers })))
      ],
      ["a struct whose list may be missing", declare(Schema.Struct({ things: Schema.optional(numbers) }))],
      ["a list that has to be more than that", holding(numbers.pipe(Schema.maxItems(5)))],
      ["a list that is defined later", holding(Schema.suspend(() => numbers))],
      ["a list that is not empty", holding(Schema.NonEmptyArray(Schema.Number))],
      ["a list of a certain length", holding(Schema.Tuple(Schema.Number, Schema.Literal(1)))]
    ] as const
  ) {
    it(`are made of ${what}`, () => {
      const { check, endpoint } = Derived.of(operation.endpoint)
      assert.isTrue(Schema.is(endpoint.success!)({ things: [1, "2"] }))
      assert.isFalse(Schema.is(endpoint.success!)({ things: 1 }))
      assert.deepStrictEqual(check(1), Either.right(1))
      assert.isTrue(Either.isLeft(check("2")))
    })
  }

  it("are checked for one of several kinds of items", () => {
    const { check } = Derived.of(holding(Schema.Union(numbers, Schema.Array(Schema.String))).endpoint)
    assert.deepStrictEqual([1, "2", true].map((item) => Either.isRight(check(item))), [true, true, false])
  })

  it("are taken as they are where nothing is said of the items", () => {
    const { check } = Derived.of(declare(Schema.Struct({ things: Schema.Any })).endpoint)
    assert.deepStrictEqual(check("2"), Either.right("2"))
  })

  it("are refused where the list is not to be found", () => {
    for (const success of [Schema.Any, Schema.Union(Schema.Any, Schema.String), Schema.Struct({ others: numbers })]) {
      assert.throws(
        () => Pagination.streamEither(declare(success), {}),
        TypeError,
        "listThings: its pages have no list named \"things\""
      )
    }
  })
})

describe("a tally", () => {
  const result = (more: Partial<Result> = {}): Result => ({ id: "a", outcome: "accepted", recalled: false, ...more })
  const after = (total: number | undefined, millis: number, ...results: ReadonlyArray<Result>) => {
    const { done, rate, recalled, remaining } = results.reduce(
      (before, each) => Tally.add(before, each, millis),
      { ...Tally.begun, total }
    )
    return { done, rate, recalled, remaining }
  }
  const recalled = result({ recalled: true })

  for (
    const [what, tally, expected] of [
      ["goes on as before", () => after(4, 2000, recalled, result()), {
        done: 2,
        rate: 0.5,
        recalled: 1,
        remaining: Duration.seconds(4)
      }],
      ["knows no rate before there is time", () => after(4, 0, result()), {
        done: 1,
        rate: 0,
        recalled: 0,
        remaining: undefined
      }],
      ["knows no end at no rate", () => after(4, 2000, recalled), {
        done: 1,
        rate: 0,
        recalled: 1,
        remaining: undefined
      }],
      ["knows no end without a total", () => after(undefined, 2000, result()), {
        done: 1,
        rate: 0.5,
        recalled: 0,
        remaining: undefined
      }],
      ["is at the end at no rate", () => after(1, 2000, recalled), {
        done: 1,
        rate: 0,
        recalled: 1,
        remaining: Duration.zero
      }],
      ["is at the end beyond the total", () => after(1, 2000, result(), result()), {
        done: 2,
        rate: 1,
        recalled: 0,
        remaining: Duration.zero
      }]
    ] as const
  ) {
    it(what, () => {
      assert.deepStrictEqual(tally(), expected)
    })
  }
})

describe("a feed", () => {
  it.scoped("that has failed tells it once, and is over", () =>
    Effect.gen(function*() {
      const told: Array<unknown> = []
      const { next } = yield* Feed.make(Stream.concat(Stream.make("a"), Stream.fail("no more")), (cause) => {
        told.push(cause)
      })
      const handedOut = yield* Effect.all([next, next, next, next])
      assert.deepStrictEqual(handedOut, [Option.some("a"), Option.none(), Option.none(), Option.none()])
      assert.lengthOf(told, 1)
    }))
})

describe("a journal", () => {
  const entries: ReadonlyArray<Journal.Entry> = [
    ...(["sending", "accepted", "notFailed", "gone", "unknown", "failed"] as const).map((outcome) => ({
      id: "a",
      run: "r",
      outcome
    })),
    { id: "a", run: "r", outcome: "failed", error: { tag: "Forbidden", message: "No." } }
  ]
  it.effect.each(entries)("gives back what was written: %j", (entry) =>
    Effect.gen(function*() {
      const store = Journal.inMemory()
      yield* Journal.write(store, entry)
      assert.deepStrictEqual(yield* Journal.read(store, "a"), Option.some(entry))
    }))

  it.effect.each(["", "{", "{}", "{\"version\":1}"])(
    "claimed by %j is claimed by nobody",
    (claim) =>
      Effect.gen(function*() {
        const store = Journal.inMemory()
        yield* store.set("journal", claim)
        yield* Journal.claim(store, "s", false)
        assert.deepStrictEqual(
          Option.map(yield* store.get("journal"), (text) => JSON.parse(text)),
          Option.some({ version: 1, stream: "s" })
        )
        assert.deepInclude(yield* Effect.flip(Journal.claim(store, "t", true)), {
          reason: "foreign",
          message: "the journal is about the events of another stream"
        })
      })
  )

  it.effect.each(["{\"version\":2,\"stream\":\"s\"}", "{\"version\":3}"])(
    "that says %j is of a later version, and is left as it is",
    (claim) =>
      Effect.gen(function*() {
        const store = Journal.inMemory()
        yield* store.set("journal", claim)
        for (const isReadOnly of [false, true]) {
          assert.deepInclude(yield* Effect.flip(Journal.claim(store, "s", isReadOnly)), {
            reason: "foreign",
            message: "the journal was written by a later version of this library"
          })
        }
        assert.deepStrictEqual(yield* store.get("journal"), Option.some(claim))
      })
  )

  it.effect("is held by who has its lock, and says by whom", () =>
    Effect.gen(function*() {
      const store = yield* KeyValueStore.KeyValueStore
      const lock = (run: string) => Journal.lock(store, run, "2026-01-01T00:00:00.000Z")
      const ours = yield* lock("ours")
      yield* ours
      const expected = (run: string) => ({
        reason: "locked" as const,
        message: `another run holds the journal: {"run":"${run}","since":"2026-01-01T00:00:00.000Z"}; `
          + "if it has ended, remove the entry \"lock\""
      })
      assert.deepInclude(yield* Effect.flip(Effect.asVoid(lock("theirs"))), expected("ours"))
      yield* store.remove("lock")
      assert.deepInclude(yield* Effect.flip(ours), {
        reason: "locked",
        message: "the journal's entry \"lock\" is gone: another run may hold it"
      })
      const theirs = yield* lock("theirs")
      yield* theirs
      assert.deepInclude(yield* Effect.flip(ours), expected("theirs"))
    }).pipe(Effect.scoped, Effect.provide(KeyValueStore.layerMemory)))
})

describe("a directory", () => {
  const here = Buffer.from(hostname()).toString("hex")
  const other = Buffer.from("another-machine").toString("hex")
  const gone = 4_194_999

  const directory = Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "journal-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )

  /** Begins a run there, looks at its files, and ends it, where `/proc/PID/stat` says this of every process; else there is no `/proc`. */
  const begin = (path: string, stat?: string) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const readFileString: typeof fs.readFileString = (file) =>
        !file.startsWith("/proc/")
          ? fs.readFileString(file)
          : stat === undefined
          ? fs.readFileString(join(path, "none"))
          : Effect.succeed(stat)
      const { lock } = yield* Effect.provideService(Journals.make(path), FileSystem.FileSystem, {
        ...fs,
        readFileString
      })
      return yield* Effect.either(Effect.scoped(Effect.map(lock!, () => readdirSync(path))))
    }).pipe(Effect.provide(NodeContext.layer))

  /** As the kernel has it: the fields after the name, of which the 20th is the start. */
  const stat = (name: string, state: string, start: number) =>
    `${gone} (${name}) ${state} ${Array.from({ length: 18 }, (_, nth) => nth + 100).join(" ")} ${start} 0 0`

  for (
    const [who, isHeld, name, told] of [
      ["who lives", true, `${gone}.17`, stat("node", "S", 17)],
      ["who lives, and has an odd name", true, `${gone}.17`, stat("a) Z 1 (b", "S", 17)],
      ["who was started at another time", false, `${gone}.17`, stat("node", "S", 18)],
      ["who has ended, but has not been asked how", false, `${gone}.17`, stat("node", "Z", 17)],
      ["who is being taken away", false, `${gone}.17`, stat("node", "X", 17)],
      ["who lives, where nobody knows since when", true, `${process.pid}.17`, undefined],
      ["who is not there, where nobody knows since when", false, `${gone}.17`, undefined]
    ] as const
  ) {
    it.scoped(`is ${isHeld ? "held" : "not held"} by a process ${who}`, () =>
      Effect.gen(function*() {
        const path = yield* directory
        const file = join(path, `lock.${here}.${name}.x1`)
        writeFileSync(file, "then")
        const begun = yield* begin(path, told)
        assert.deepStrictEqual([Either.isLeft(begun), existsSync(file)], [isHeld, isHeld])
        if (Either.isRight(begun)) {
          assert.match(begun.right.join(), new RegExp(`^lock\\.${here}\\.${process.pid}\\.\\d*\\.[0-9a-z]+$`))
        }
      }))
  }

  it.scoped("is held by a process that is not ours to ask", () =>
    Effect.gen(function*() {
      const path = yield* directory
      writeFileSync(join(path, `lock.${here}.${gone}.17.x1`), "")
      const refuse = () => {
        throw Object.assign(new Error("no"), { code: "EPERM" })
      }
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(process, "kill").mockImplementation(refuse)),
        (kill) => Effect.sync(() => kill.mockRestore())
      )
      assert.isTrue(Either.isLeft(yield* begin(path)))
    }))

  it.scoped("says who holds it, and since when if that can be read", () =>
    Effect.gen(function*() {
      for (
        const [name, since, message] of [
          [`lock.${other}.12..x1`, "2026", "process 12 of another machine holds the journal since 2026"],
          [`lock.${other}.12..x1`, "", "process 12 of another machine holds the journal"],
          [`lock.${other}.12..x1`, undefined, "process 12 of another machine holds the journal"],
          [`lock.${here}.${process.pid}..x1`, "2026", `process ${process.pid} holds the journal since 2026`]
        ] as const
      ) {
        const path = yield* directory
        const file = join(path, name)
        if (since === undefined) mkdirSync(file)
        else writeFileSync(file, since)
        const begun = yield* begin(path)
        assert.deepInclude(Option.getOrThrow(Either.getLeft(begun)), {
          _tag: "JournalError",
          reason: "locked",
          message: `${message}; if it has ended, remove ${file}`
        })
        assert.deepStrictEqual(readdirSync(path), [name])
      }
    }))

  it.scoped("is not held by what is no lock", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const names = [`lock.${other}.12..x1.old`, `old.lock.${other}.12..x1`]
      for (const name of names) writeFileSync(join(path, name), "")
      assert.isTrue(Either.isRight(yield* begin(path)))
      assert.deepStrictEqual(readdirSync(path).sort(), names)
    }))

  it.scoped("that has gone is told", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const { lock } = yield* Effect.provide(Journals.make(path), NodeContext.layer)
      rmSync(path, { recursive: true })
      const error = yield* Effect.flip(Effect.scoped(lock!))
      assert.deepInclude(error, { _tag: "JournalError", reason: "store" })
      assert.match(error.message, /^the journal cannot be used: .*ENOENT/s)
    }))
})
