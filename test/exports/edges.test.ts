/** Tests of exports at their edges: defaults, refused inputs, what a failure leaves, and which failures end a job's use. */
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, FiberRef, Layer, Stream, SubscriptionRef } from "effect"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { constants, gzipSync } from "node:zlib"
import { createUsersExport, Errors, Exports, getJob } from "../../src/index.js"
import { isBackgroundWork } from "../../src/internal/limiter/limiter.js"
import * as Testing from "../../src/Testing.js"
import { gzip, jobId, jobs } from "../support/storage.js"

/** A storage that sends one file, once. */
const storage = (file: Uint8Array) =>
  Testing.layerHttp(Testing.reply({ headers: { "content-length": String(file.length) }, body: file }))

/** A job of the service that has ended, with a file in the storage. */
const services = (
  file: Uint8Array,
  format: "json" | "csv" = "json",
  look?: Parameters<typeof jobs>[2]
) => {
  const { layer, seen } = jobs("https://storage.example.com", format, look)
  return { seen, layer: Layer.mergeAll(layer, storage(file), NodeFileSystem.layer) }
}

/** Exports as a stream, and gives its rows. */
const read = (layer: ReturnType<typeof services>["layer"], input: Exports.Input, options?: Exports.Options) =>
  Stream.runCollect(Exports.run(input, options)).pipe(
    Effect.map((rows) => Chunk.toReadonlyArray(rows).map(Either.getOrElse(() => "a bad row"))),
    Effect.provide(layer)
  )

/** A file that ends early: the second of its rows is not complete. */
const truncated = gzipSync("{\"a\":1}\n{\"a\":", { finishFlush: constants.Z_SYNC_FLUSH })

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "exports-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const details = { operation: "getJob", message: "no" }

describe("Exports.run", () => {
  it.live.each([0, -1, 1.5, Number.NaN])(
    "refuses rows of at most %s bytes, and starts nothing",
    (maxRowSize) =>
      Effect.gen(function*() {
        const { layer, seen } = services(gzip(""))
        const error = yield* Effect.flip(read(layer, {}, { maxRowSize }))
        assert.deepInclude(error, {
          _tag: "InvalidInput",
          operation: "Exports.run",
          message: "Exports.run: maxRowSize: expected an integer of at least 1"
        })
        assert.strictEqual(seen.started, 0)
      })
  )

  it.live("has the format of the job, if it goes on with one, and leaves the guard by default", () =>
    Effect.gen(function*() {
      const { layer } = services(gzip("a,b\n\"'=1\",2\n"), "csv")
      assert.deepStrictEqual(yield* read(layer, {}, { job: "job_5" }), [{ a: "'=1", b: "2" }])
    }))

  it.live("tells the id of the job that it starts once, and looks at it as background work", () =>
    Effect.gen(function*() {
      const calls: Array<readonly [name: string, isBackground: boolean]> = []
      const noting = (name: string) =>
        Effect.map(FiberRef.get(isBackgroundWork), (isBackground) => void calls.push([name, isBackground]))
      const job = { id: jobId, type: "users_export", format: "json" } as const
      const handlers = Testing.layer(
        Testing.handle(createUsersExport, () => Effect.as(noting("start"), { ...job, status: "pending" })),
        Testing.handle(getJob, () => Effect.as(noting("look"), { ...job, status: "failed" }))
      )
      const noted: Array<string> = []
      const onJob = (id: string) => Effect.sync(() => void noted.push(id))
      const error = yield* Effect.flip(Stream.runDrain(Exports.run({}, { onJob }))).pipe(
        Effect.provide([handlers, Testing.layerHttp()])
      )
      assert.deepInclude(error, { _tag: "ExportError", reason: "job-failed", job: jobId })
      assert.deepStrictEqual(calls, [["start", false], ["look", true]])
      assert.deepStrictEqual(noted, [jobId])
    }))

  it.live("gives the complete rows before a failure, no part of one, and is not done then", () =>
    Effect.gen(function*() {
      const { layer } = services(truncated)
      const progress = yield* Exports.makeProgress
      const rows: Array<unknown> = []
      const error = yield* Exports.run({}, { progress }).pipe(
        Stream.runForEach((row) => Effect.sync(() => void rows.push(Either.getOrElse(row, () => "a bad row")))),
        Effect.flip,
        Effect.provide(layer)
      )
      assert.deepStrictEqual(rows, [{ a: 1 }])
      assert.deepInclude(error, { _tag: "ExportError", reason: "truncated", job: jobId })
      assert.deepInclude(yield* SubscriptionRef.get(progress), { phase: "downloading", rows: 1, badRows: 0 })
    }))
})

describe("Exports.toFile", () => {
  it.live("refuses an empty path", () =>
    Effect.gen(function*() {
      const { layer, seen } = services(gzip(""))
      const error = yield* Effect.flip(Effect.provide(Exports.toFile("", {}), layer))
      assert.deepInclude(error, {
        _tag: "InvalidInput",
        operation: "Exports.toFile",
        message: "Exports.toFile: path: is empty"
      })
      assert.strictEqual(seen.started, 0)
    }))

  it.scopedLive.each<
    readonly [title: string, keepsJob: boolean, file: Uint8Array, look: Parameters<typeof jobs>[2]]
  >([
    ["no job of its id", false, truncated, () => Effect.fail(new Errors.NotFound(details))],
    ["a job that has failed", false, truncated, () => Effect.succeed({ status: "failed" })],
    ["a job that was canceled", false, truncated, () => Effect.succeed({ status: "canceled" })],
    ["a job that has expired", false, truncated, () => Effect.succeed({ status: "expired" })],
    ["a job of another kind", false, truncated, () => Effect.succeed({ type: "users_import" })],
    [
      "a client that is closed",
      true,
      truncated,
      () => Effect.fail(new Errors.TransportError({ ...details, outcome: "not-sent", code: "CLOSED" }))
    ],
    ["a link that is not used", true, truncated, () => Effect.succeed({ location: "ftp://storage.example.com/" })],
    ["a file that ends early", true, truncated, undefined]
  ])(
    "keeps the job only if it can still be of use, here after %s",
    ([, keepsJob, file, look]) =>
      Effect.gen(function*() {
        const { layer } = services(file, "json", look)
        const path = join(yield* folder, "users.json")
        yield* Effect.flip(Effect.provide(Exports.toFile(path, {}), layer))
        assert.strictEqual(existsSync(`${path}.export.json`), keepsJob)
      })
  )

  it.scopedLive("fails at its `timeout` with the job's last status, and goes on with the same job when it is run again", () =>
    Effect.gen(function*() {
      const { layer, seen } = services(
        gzip("{\"a\":1}\n"),
        "json",
        (nth) => Effect.succeed(nth === 0 ? { status: "processing", percentage_done: 40 } : {})
      )
      const path = join(yield* folder, "users.json")
      const run = Effect.provide(Exports.toFile(path, {}, { timeout: 0 }), layer)
      assert.deepInclude(yield* Effect.flip(run), {
        _tag: "ExportError",
        reason: "timeout",
        job: jobId,
        message:
          "the job has not ended in 0: its status is \"processing\", 40 % done. If it ends later, its id gives the file"
      })
      assert.deepInclude(yield* run, { path, job: jobId, rows: 1 })
      assert.deepStrictEqual([seen.started, seen.looks.length], [1, 2])
    }))
})
