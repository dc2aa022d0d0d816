/** The lock of a journal in a directory, and the lock files that other processes have left there. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import * as FileJournal from "../../src/node/fileJournal.js"

describe("a file journal", () => {
  const here = Buffer.from(hostname()).toString("hex")
  const other = Buffer.from("another-machine").toString("hex")
  const gone = 4_194_999

  const directory = Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "journal-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )

  /** Locks the directory, lists its files, and unlocks it. Each `/proc/PID/stat` has the content `stat`; without it there is no `/proc`. */
  const tryLock = (path: string, stat?: string) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const readFileString: typeof fs.readFileString = (file) =>
        !file.startsWith("/proc/")
          ? fs.readFileString(file)
          : stat === undefined
          ? fs.readFileString(join(path, "none"))
          : Effect.succeed(stat)
      const { lock } = yield* Effect.provideService(FileJournal.make(path), FileSystem.FileSystem, {
        ...fs,
        readFileString
      })
      return yield* Effect.either(Effect.scoped(Effect.map(lock!, () => readdirSync(path))))
    }).pipe(Effect.provide(NodeContext.layer))

  /** The content of `/proc/PID/stat`. The start time is field 22. */
  const statOf = (name: string, state: string, start: number) =>
    `${gone} (${name}) ${state} ${Array.from({ length: 18 }, (_, nth) => nth + 100).join(" ")} ${start} 0 0`

  for (
    const [description, isHeld, name, stat] of [
      ["is alive", true, `${gone}.17`, statOf("node", "S", 17)],
      ["is alive and has an odd name", true, `${gone}.17`, statOf("a) Z 1 (b", "S", 17)],
      ["was started at another time", false, `${gone}.17`, statOf("node", "S", 18)],
      ["has ended, but is still a zombie", false, `${gone}.17`, statOf("node", "Z", 17)],
      ["is being removed", false, `${gone}.17`, statOf("node", "X", 17)],
      ["is alive, where start times are not available", true, `${process.pid}.17`, undefined],
      ["does not exist, where start times are not available", false, `${gone}.17`, undefined]
    ] as const
  ) {
    it.scoped(`is ${isHeld ? "held" : "not held"} by a process that ${description}`, () =>
      Effect.gen(function*() {
        const path = yield* directory
        const file = join(path, `lock.${here}.${name}.x1`)
        writeFileSync(file, "then")
        const files = yield* tryLock(path, stat)
        assert.deepStrictEqual([Either.isLeft(files), existsSync(file)], [isHeld, isHeld])
        if (Either.isRight(files)) {
          assert.match(files.right.join(), new RegExp(`^lock\\.${here}\\.${process.pid}\\.\\d*\\.[0-9a-z]+$`))
        }
      }))
  }

  it.scoped("is held by a process that we have no permission to signal", () =>
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
      assert.isTrue(Either.isLeft(yield* tryLock(path)))
    }))

  it.scoped("names the process that holds it, and since when if that can be read", () =>
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
        const files = yield* tryLock(path)
        assert.deepInclude(Option.getOrThrow(Either.getLeft(files)), {
          _tag: "JournalError",
          reason: "locked",
          message: `${message}; if it has ended, remove ${file}`
        })
        assert.deepStrictEqual(readdirSync(path), [name])
      }
    }))

  it.scoped("ignores files that are not locks", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const names = [`lock.${other}.12..x1.old`, `old.lock.${other}.12..x1`]
      for (const name of names) writeFileSync(join(path, name), "")
      assert.isTrue(Either.isRight(yield* tryLock(path)))
      assert.deepStrictEqual(readdirSync(path).sort(), names)
    }))

  it.scoped("fails with a JournalError if the directory was removed", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const { lock } = yield* Effect.provide(FileJournal.make(path), NodeContext.layer)
      rmSync(path, { recursive: true })
      const error = yield* Effect.flip(Effect.scoped(lock!))
      assert.deepInclude(error, { _tag: "JournalError", reason: "store" })
      assert.match(error.message, /^the journal cannot be used: .*ENOENT/s)
    }))
})
