/** The files of a journal in a directory: readable by their user only, whole at any time, and synced before a run goes on. */
import { FileSystem } from "@effect/platform"
import { NodeContext, NodePath } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, FiberId, Option } from "effect"
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { storeFailure } from "../../src/internal/redelivery/storeFailure.js"
import * as FileJournal from "../../src/node/fileJournal.js"

const failureTag = storeFailure("set", "a", "")._tag

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "journal-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

/** A file system that records what is done to it, in order. */
const recording = Effect.map(FileSystem.FileSystem, (fs) => {
  const steps: Array<string> = []
  /** The directories that were synced. */
  const directories: Array<string> = []
  const nameOf = (path: string) => path.split("/").at(-1)!.replace(/\.[0-9a-z]+\.new$/, ".new")
  const note = <A, E, R>(effect: Effect.Effect<A, E, R>, step: string) =>
    Effect.tap(effect, () => Effect.sync(() => void steps.push(step)))
  const recorded: FileSystem.FileSystem = {
    ...fs,
    open: (path, options) =>
      Effect.map(fs.open(path, options), (file) => ({
        ...file,
        writeAll: (content) => note(file.writeAll(content), `write ${nameOf(path)}`),
        sync: Effect.tap(
          note(file.sync, `sync ${options?.flag === "r" ? "directory" : nameOf(path)}`),
          () => options?.flag === "r" ? Effect.sync(() => void directories.push(path)) : Effect.void
        )
      })),
    rename: (from, to) => note(fs.rename(from, to), `rename ${nameOf(from)} to ${nameOf(to)}`)
  }
  return { directories, recorded, steps }
})

describe("a file journal", () => {
  it.scoped("syncs a new file, gives it the entry's name, and syncs the directory", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const { recorded, steps } = yield* recording
      const journal = yield* Effect.provideService(FileJournal.make(path), FileSystem.FileSystem, recorded)
      yield* journal.set("a", "1")
      assert.deepStrictEqual(steps, ["write a.new", "sync a.new", "rename a.new to a", "sync directory"])
      assert.deepStrictEqual(yield* journal.get("a"), Option.some("1"))
      assert.deepStrictEqual(readdirSync(path), ["a"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("syncs the directory once for entries that are written at the same time, after all of them", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const { recorded, steps } = yield* recording
      const journal = yield* Effect.provideService(FileJournal.make(path), FileSystem.FileSystem, recorded)
      const keys = Array.from({ length: 20 }, (_, nth) => `k${nth}`)
      yield* Effect.forEach(keys, (key) => journal.set(key, key), { concurrency: "unbounded" })
      assert.isBelow(steps.filter((step) => step === "sync directory").length, 20)
      assert.strictEqual(steps.at(-1), "sync directory")
      for (const key of keys) assert.deepStrictEqual(yield* journal.get(key), Option.some(key))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("syncs each directory in which it has created another one", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const { directories, recorded } = yield* recording
      const journal = join(path, "deep", "journal")
      const make = Effect.provideService(FileJournal.make(journal), FileSystem.FileSystem, recorded)
      yield* make
      assert.sameMembers(directories, [path, join(path, "deep")])
      directories.length = 0
      yield* make
      assert.lengthOf(directories, 0)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("can be read by its user only", () =>
    Effect.gen(function*() {
      const path = join(yield* directory, "deep", "journal")
      const journal = yield* FileJournal.make(path)
      yield* journal.set("a", new Uint8Array([65]))
      yield* journal.modify("a", (text) => `${text}.`)
      assert.deepStrictEqual(yield* journal.get("a"), Option.some("A."))
      const modes = [path, join(path, "a")].map((file) => (statSync(file).mode & 0o777).toString(8))
      assert.deepStrictEqual(modes, ["700", "600"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("keeps the old entry if the new one cannot be written, and leaves no file behind", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const journal = yield* FileJournal.make(path)
      yield* journal.set("a", "1")
      const { recorded } = yield* recording
      const broken = yield* Effect.provideService(FileJournal.make(path), FileSystem.FileSystem, {
        ...recorded,
        rename: () => recorded.readFileString(join(path, "none")).pipe(Effect.asVoid)
      })
      assert.strictEqual((yield* Effect.flip(broken.set("a", "2")))._tag, failureTag)
      assert.deepStrictEqual(yield* journal.get("a"), Option.some("1"))
      assert.deepStrictEqual(readdirSync(path), ["a"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("changes an entry as durably as it writes one", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const { recorded, steps } = yield* recording
      const journal = yield* Effect.provideService(FileJournal.make(path), FileSystem.FileSystem, recorded)
      yield* journal.set("a", "1")
      steps.length = 0
      yield* journal.modify("a", (text) => `${text}.`)
      assert.deepStrictEqual(steps, ["write a.new", "sync a.new", "rename a.new to a", "sync directory"])
      assert.deepStrictEqual(yield* journal.get("a"), Option.some("1."))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("syncs no directory on Windows, which cannot", () =>
    Effect.gen(function*() {
      const { platform } = process
      yield* Effect.acquireRelease(
        Effect.sync(() => Object.defineProperty(process, "platform", { value: "win32" })),
        () => Effect.sync(() => Object.defineProperty(process, "platform", { value: platform }))
      )
      const { recorded, steps } = yield* recording
      const path = join(yield* directory, "journal")
      const journal = yield* Effect.provideService(FileJournal.make(path), FileSystem.FileSystem, recorded)
      yield* journal.set("a", "1")
      assert.deepStrictEqual(steps, ["write a.new", "sync a.new", "rename a.new to a"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("fails on a drive of Windows that does not exist, after it has looked for each directory once", () =>
    Effect.gen(function*() {
      const { recorded } = yield* recording
      const asked: Array<string> = []
      const failure = yield* Effect.flip(recorded.readFileString(join(yield* directory, "none")))
      const error = yield* Effect.flip(FileJournal.make("Z:\\of\\journal")).pipe(
        Effect.provideService(FileSystem.FileSystem, {
          ...recorded,
          exists: (path) => Effect.sync(() => asked.push(path) > 9), // it does so at last, if it is asked again and again
          makeDirectory: () => Effect.fail(failure)
        }),
        Effect.provide(NodePath.layerWin32)
      )
      assert.strictEqual(error, failure)
      assert.deepStrictEqual(asked, ["Z:\\of\\journal", "Z:\\of", "Z:\\"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("holds an empty entry, and writes nothing outside its directory", () =>
    Effect.gen(function*() {
      const parent = yield* directory
      const journal = yield* FileJournal.make(join(parent, "journal"))
      yield* journal.set("empty", "")
      assert.deepStrictEqual(yield* journal.get("empty"), Option.some(""))
      for (const key of ["", ".", "..", "../a"]) yield* Effect.exit(journal.set(key, "1"))
      assert.deepStrictEqual(readdirSync(parent), ["journal"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("fails if its directory was removed", () =>
    Effect.gen(function*() {
      const path = yield* directory
      const journal = yield* FileJournal.make(path)
      rmSync(path, { recursive: true })
      assert.strictEqual((yield* Effect.flip(journal.set("a", "1")))._tag, failureTag)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("does not read entries that were being written when the process died", () =>
    Effect.gen(function*() {
      const path = yield* directory
      writeFileSync(join(path, "a.x1.new"), "half an ent")
      const journal = yield* FileJournal.make(path)
      assert.deepStrictEqual(yield* journal.get("a"), Option.none())
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("a shared run", () => {
  it.effect("began after each of its callers asked; callers who ask meanwhile share the next one", () =>
    Effect.gen(function*() {
      const runs: Array<Deferred.Deferred<void, string>> = []
      const shared = FileJournal.shareRuns(Effect.suspend(() => {
        const run = Deferred.unsafeMake<void, string>(FiberId.none)
        runs.push(run)
        return Deferred.await(run)
      }))
      const settle = Effect.repeatN(Effect.yieldNow(), 20)
      const call = Effect.zipLeft(Effect.forkDaemon(shared), settle)
      const first = yield* call
      const second = yield* call
      const third = yield* call
      assert.lengthOf(runs, 1)
      yield* Deferred.succeed(runs[0]!, undefined)
      yield* Fiber.join(first)
      yield* settle
      assert.lengthOf(runs, 2)
      const fourth = yield* call
      yield* Deferred.fail(runs[1]!, "disk")
      assert.deepStrictEqual(yield* Effect.exit(Fiber.join(second)), Exit.fail("disk"))
      assert.deepStrictEqual(yield* Effect.exit(Fiber.join(third)), Exit.fail("disk"))
      yield* settle
      assert.lengthOf(runs, 3)
      yield* Deferred.succeed(runs[2]!, undefined)
      yield* Fiber.join(fourth)
    }))
})
