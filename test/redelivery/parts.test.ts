/** The parts that redelivery is made of, each on its own. */
import { FileSystem, KeyValueStore } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either, Option, Stream } from "effect"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import * as Feed from "../../src/internal/redelivery/input.js"
import * as Journal from "../../src/internal/redelivery/journal.js"
import type { Result } from "../../src/internal/redelivery/outcome.js"
import * as Tally from "../../src/internal/redelivery/progress.js"
import * as Journals from "../../src/node/fileJournal.js"

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
