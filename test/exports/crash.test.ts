/** A run that crashes at any of its steps, and the next one as well: the run after them has one job, the right file, and nothing beside it. */
import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Stream } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ExportError } from "../../src/internal/exports/exportError.js"
import { type FileExport, write } from "../../src/internal/exports/file.js"
import { gzip, ndjson } from "../support/storage.js"

const text = ndjson(3)
const compressed = gzip(text)

/** A file system whose process dies at the step of this number: from then on, nothing is done. */
const dyingAt = (real: FileSystem.FileSystem, last: number) => {
  const counted = { steps: 0, completedAt: Infinity }
  const step = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => ++counted.steps >= last ? Effect.die("crash") : effect)
  const fs: FileSystem.FileSystem = {
    ...real,
    exists: (path) => step(real.exists(path)),
    stat: (path) => step(real.stat(path)),
    readFileString: (path) => step(real.readFileString(path)),
    remove: (path) => step(real.remove(path)),
    rename: (from, to) => step(real.rename(from, to)),
    open: (path, options) =>
      Effect.map(step(real.open(path, options)), (file) => ({
        ...file,
        // A crash of the process loses nothing that was written.
        sync: step(Effect.void),
        writeAll: (bytes: Uint8Array) => {
          if (Buffer.from(bytes).includes("\"rows\"")) counted.completedAt = counted.steps + 1
          return step(file.writeAll(bytes))
        }
      }))
  }
  return { fs, counted }
}

/** Runs of one export, in an empty folder. */
const setUp = Effect.gen(function*() {
  const real = yield* FileSystem.FileSystem
  const directory = mkdtempSync(join(tmpdir(), "exports-crash-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
  const path = join(directory, "users.json")
  const seen = { jobs: 0 }

  const run = (isCompressed: boolean, last: number, own: Partial<FileExport<ExportError>> = {}) => {
    const { counted, fs } = dyingAt(real, last)
    return write<ExportError>({
      path,
      input: "{}",
      job: undefined,
      gzip: isCompressed,
      overwrite: false,
      startAgain: false,
      start: ({ claim, keep }) =>
        claim.pipe(
          Effect.tap(() => Effect.sync(() => void seen.jobs++)),
          Effect.zipRight(keep("job_1")),
          Effect.as("job_1")
        ),
      note: () => Effect.void,
      isOver: () => false,
      download: (id) =>
        Effect.succeed({ job: { id, type: "users_export", status: "completed" }, bytes: Stream.make(compressed) }),
      format: () => "json",
      track: () => Effect.void,
      ...own
    }).pipe(
      Effect.provideService(FileSystem.FileSystem, fs),
      Effect.exit,
      Effect.map((exit) => ({ exit, ...counted }))
    )
  }

  /** Runs once more, without a crash. A start that is not known is resolved as a person would. */
  const finish = (isCompressed: boolean) =>
    Effect.gen(function*() {
      const first = yield* run(isCompressed, Infinity)
      if (!isFailure(first.exit, "unknown-start")) return first.exit
      const again = yield* run(isCompressed, Infinity, seen.jobs === 0 ? { startAgain: true } : { job: "job_1" })
      return again.exit
    })
  return { directory, path, seen, run, finish }
})

const isFailure = (exit: Exit.Exit<unknown, { readonly _tag: string }>, reason: ExportError["reason"]) =>
  Exit.isFailure(exit) &&
  Array.from(Cause.failures(exit.cause)).some((error) => "reason" in error && error.reason === reason)

/** Crashes at a step, then at a step of a run that is not compressed, and runs like the first. Tells if the second run crashed. */
const crashAt = (isCompressed: boolean, first: number, second: number) =>
  Effect.scoped(Effect.gen(function*() {
    const { directory, finish, path, run, seen } = yield* setUp
    yield* run(isCompressed, first)
    const { exit } = yield* run(false, second)
    const next = yield* finish(isCompressed)
    // The second run has published its file: only a run with its options ends it.
    const last = isFailure(next, "exists") ? yield* finish(false) : next
    const at = `${first}, ${second}: ${String(last)}`
    assert.isTrue(Exit.isSuccess(last) || isFailure(last, "exists"), at)
    assert.deepStrictEqual(readdirSync(directory), ["users.json"], at)
    const content = readFileSync(path)
    assert.isTrue([Buffer.from(text), compressed].some((expected) => content.equals(expected)), at)
    assert.strictEqual(seen.jobs, 1, at)
    return Exit.isFailure(exit) && Cause.isDie(exit.cause)
  }))

/** Crashes at each step, and each time at each step of the next run. */
const crashTwice = (isCompressed: boolean) =>
  Effect.gen(function*() {
    const { completedAt, steps } = yield* Effect.scoped(Effect.flatMap(setUp, ({ run }) => run(isCompressed, Infinity)))
    assert.isAbove(completedAt, 10)
    assert.isAbove(steps, completedAt)
    // Only a run that has completed its part says that it is compressed. The steps before are those of one that is not.
    const from = isCompressed ? completedAt : 1
    for (let first = from; first <= steps + 1; first++) {
      for (let second = 1; yield* crashAt(isCompressed, first, second); second++);
    }
  }).pipe(Effect.provide(NodeFileSystem.layer))

describe("an export into a file that crashes twice", () => {
  it.live("has one job, and leaves nothing beside the file", () => crashTwice(false))

  it.live("is downloaded anew if it is compressed and then not, and leaves nothing", () => crashTwice(true))
})
