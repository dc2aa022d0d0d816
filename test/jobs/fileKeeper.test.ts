/** Tests of the directory of jobs: who has it, what of it is read, what is left alone, and how a job is removed. */
import { FileSystem, type Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Option, type Scope } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { JobRecord } from "../../src/jobs/store.js"
import * as FileJobs from "../../src/node/fileJobs.js"
import { newJob } from "../support/jobStores.js"

const directory = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const open = (folder: string) => FileJobs.make(folder, "15 seconds")

const recordOf = (id: string): JobRecord => ({ ...newJob(id), state: "loading", isLoaded: false, resumed: 0 })

const record = recordOf("redelivery-1a")

const jobsIn = (folder: string) => readdirSync(join(folder, "jobs")).sort()

/** Gives what an effect returns, and its warnings. */
const withWarnings = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const warnings: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel.label === "WARN") warnings.push(String(message))
    })
    return Effect.map(
      Effect.provide(self, Logger.replace(Logger.defaultLogger, logger)),
      (value) => ({ value, warnings })
    )
  })

/** Runs an effect with a file system that does some things in another way. */
const withFileSystem = (change: (fs: FileSystem.FileSystem) => Partial<FileSystem.FileSystem>) =>
  Effect.updateService(FileSystem.FileSystem, (fs): FileSystem.FileSystem => ({ ...fs, ...change(fs) }))

/** A failure of the file system other than that something is missing, and what it says. */
const refusalIn = (folder: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const refusal = Effect.asVoid(fs.readFileString(folder))
    return { message: (yield* Effect.flip(refusal)).message, refusal }
  })

/** Tests with a directory of its own. */
const law = (
  name: string,
  test: (folder: string) => Effect.Effect<void, unknown, FileSystem.FileSystem | Path.Path | Scope.Scope>
) => it.scoped(name, () => Effect.flatMap(directory, test).pipe(Effect.provide(NodeContext.layer)))

describe("the keeper of a directory", () => {
  law("says that another process has it now", (folder) =>
    Effect.gen(function*() {
      const first = yield* open(folder)
      yield* first.check
      rmSync(join(folder, "lock")) // as if it had expired
      const second = yield* open(folder)
      yield* second.check
      assert.deepInclude(yield* Effect.flip(first.check), {
        _tag: "JobStoreError",
        message: "another process has the directory of the jobs now"
      })
    }))

  law("says that it cannot be used if its lock cannot be read", (folder) =>
    Effect.gen(function*() {
      const { check } = yield* open(folder)
      rmSync(join(folder, "lock"))
      mkdirSync(join(folder, "lock"))
      const { _tag, message } = yield* Effect.flip(check)
      assert.strictEqual(_tag, "JobStoreError")
      assert.match(message, /^the directory of the jobs cannot be used: the journal cannot be used: /)
    }))

  law("loads the jobs in the order of their ids, with their events", (folder) =>
    Effect.gen(function*() {
      const ids = ["export-2", "redelivery-1a", "redelivery-3"]
      const keeper = yield* open(folder)
      yield* Effect.forEach(ids, (id) => keeper.create(recordOf(id)))
      yield* keeper.addEvents("redelivery-1a", ["b", "a"], 0)
      yield* keeper.addEvents("redelivery-1a", ["c"], 2)
      assert.deepStrictEqual(
        yield* keeper.load,
        ids.map((id) => ({ record: recordOf(id), events: id === record.id ? ["b", "a", "c"] : [] }))
      )
    }).pipe(withFileSystem((fs) => ({
      readDirectory: (path) => Effect.map(fs.readDirectory(path), (names) => names.sort().toReversed())
    }))))

  law("leaves folders alone that are not of jobs", (folder) =>
    Effect.gen(function*() {
      const keeper = yield* open(folder)
      yield* keeper.create(record)
      const names = ["notes", "old-redelivery-1a", "redelivery-1a.bak"]
      for (const name of names) mkdirSync(join(folder, "jobs", name))
      const { value, warnings } = yield* withWarnings(keeper.load)
      assert.deepStrictEqual(value, [{ record, events: [] }])
      assert.deepStrictEqual(warnings, [])
      assert.deepStrictEqual(jobsIn(folder), [...names, record.id].sort())
    }))

  const texts: ReadonlyArray<readonly [what: string, file: "job" | "events-0", text: string]> = [
    ["whose text is cut off", "job", "{"],
    ["that is null", "job", "null"],
    ["that is a string", "job", "\"text\""],
    ["without a record", "job", "{\"version\":1}"],
    ["whose record is null", "job", "{\"version\":1,\"job\":null}"],
    ["that a later version has written", "job", JSON.stringify({ version: 2, job: record })],
    ["with another id", "job", JSON.stringify({ version: 1, job: recordOf("redelivery-1b") })],
    ["whose list is cut off", "events-0", "["],
    ["whose list is a string", "events-0", "\"a\""],
    ["whose list has a number among its events", "events-0", "[\"a\",1]"],
    ["whose list has a part without events", "events-0", "[]"]
  ]
  for (const [what, file, text] of texts) {
    law(`leaves a job alone ${what}, and says why`, (folder) =>
      Effect.gen(function*() {
        const keeper = yield* open(folder)
        yield* keeper.create(record)
        const path = join(folder, "jobs", record.id, file)
        writeFileSync(path, text)
        const reason = file === "job"
          ? "it is damaged, or a later version has written it"
          : "its list of events is damaged"
        const message = `the job ${record.id} cannot be read: ${reason}`
        assert.deepStrictEqual(yield* withWarnings(keeper.load), { value: [], warnings: [message] })
        const error = yield* Effect.flip(keeper.create(record))
        assert.deepInclude(error, { _tag: "JobStoreError", message })
        assert.strictEqual(readFileSync(path, "utf8"), text)
      }))
  }

  law(
    "loads the jobs though files of a removed one cannot be deleted, and says so",
    (folder) =>
      Effect.gen(function*() {
        const { message, refusal } = yield* refusalIn(folder)
        yield* Effect.gen(function*() {
          const keeper = yield* open(folder)
          yield* keeper.create(record)
          mkdirSync(join(folder, "jobs", "removed-redelivery-3"))
          assert.deepStrictEqual(yield* withWarnings(keeper.load), {
            value: [{ record, events: [] }],
            warnings: [`could not delete the files of a removed job: ${message}`]
          })
        }).pipe(withFileSystem((fs) => ({
          remove: (path, options) => path.includes("removed-") ? refusal : fs.remove(path, options)
        })))
      })
  )

  law("keeps a job whose folder cannot be renamed, and says why it is not removed", (folder) =>
    Effect.gen(function*() {
      const { message, refusal } = yield* refusalIn(folder)
      yield* Effect.gen(function*() {
        const keeper = yield* open(folder)
        yield* keeper.create(record)
        assert.deepInclude(yield* Effect.flip(keeper.remove(record.id)), {
          _tag: "JobStoreError",
          message: `the directory of the jobs cannot be used: ${message}`
        })
        assert.deepStrictEqual(yield* keeper.load, [{ record, events: [] }])
      }).pipe(withFileSystem((fs) => ({
        rename: (from, to) => to.includes("removed-") ? refusal : fs.rename(from, to)
      })))
    }))

  law("removes entries from the journal of a job, also one that is missing", (folder) =>
    Effect.gen(function*() {
      const keeper = yield* open(folder)
      yield* keeper.create(record)
      const journal = yield* keeper.journal(record.id)
      for (const key of ["job", "a/b"]) {
        yield* journal.set(key, "1")
        yield* journal.remove(key)
        assert.deepStrictEqual(yield* journal.get(key), Option.none())
        yield* journal.remove(key)
      }
      assert.isTrue(existsSync(join(folder, "jobs", record.id, "job")))
    }))

  const steps = [
    ["linux", ["remove removed", "rename job to removed", "sync directory", "remove removed"]],
    ["win32", ["remove removed", "rename job to removed", "remove removed"]]
  ] as const
  for (const [platform, expected] of steps) {
    law(
      `makes a removal durable before it deletes the files, as far as ${platform} needs that`,
      (folder) =>
        Effect.gen(function*() {
          const before = process.platform
          const become = (value: string) => Effect.sync(() => Object.defineProperty(process, "platform", { value }))
          yield* Effect.acquireRelease(become(platform), () => become(before))
          const taken: Array<string> = []
          const note = <A, E, R>(effect: Effect.Effect<A, E, R>, step: string) =>
            Effect.tap(effect, () => Effect.sync(() => void taken.push(step)))
          const nameOf = (path: string) =>
            path === join(folder, "jobs", record.id)
              ? "job"
              : path === join(folder, "jobs", `removed-${record.id}`)
              ? "removed"
              : "another"
          yield* Effect.gen(function*() {
            const keeper = yield* open(folder)
            yield* keeper.create(record)
            taken.length = 0
            yield* keeper.remove(record.id)
            assert.deepStrictEqual(taken, [...expected])
            assert.deepStrictEqual(jobsIn(folder), [])
          }).pipe(withFileSystem((fs) => ({
            open: (path, options) =>
              Effect.map(fs.open(path, options), (file) => ({
                ...file,
                writeAll: (content) => file.writeAll(content),
                sync: note(
                  file.sync,
                  path === join(folder, "jobs") && options?.flag === "r" ? "sync directory" : "sync file"
                )
              })),
            remove: (path, options) => note(fs.remove(path, options), `remove ${nameOf(path)}`),
            rename: (from, to) => note(fs.rename(from, to), `rename ${nameOf(from)} to ${nameOf(to)}`)
          })))
        })
    )
  }
})
