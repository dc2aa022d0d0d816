/** Files of exports: their content, what is published, which job is chosen, what is left after a failure, and the messages. */
import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ExportError } from "../../src/internal/exports/exportError.js"
import { type FileExport, type StartSteps, write } from "../../src/internal/exports/file.js"
import type { Job } from "../../src/internal/exports/job.js"
import { gzip, ndjson } from "../support/storage.js"

const input = "{\"format\":\"json\"}"
const job: Job = { id: "job_1", type: "users_export", status: "completed" }
const text = ndjson(20)

const expired = new ExportError({ reason: "expired", message: "no file" })

/** Starts a job like the service does. */
const start = ({ claim, keep }: Parameters<FileExport<ExportError>["start"]>[0]) =>
  claim.pipe(Effect.zipRight(keep("job_1")), Effect.as("job_1"))

/**
 * A folder, and exports into a file there. `before` runs before the file is downloaded, `beforePart` before a complete part is looked for
 * or gets its name.
 */
const setUp = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "exports-file-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const real = yield* FileSystem.FileSystem
  const hooks = { beforePart: (_part: string): void => {} }
  const hooked = <A, E>(path: string, effect: Effect.Effect<A, E>) =>
    Effect.zipRight(Effect.sync(() => path.endsWith(".part") && hooks.beforePart(path)), effect)
  const fs: FileSystem.FileSystem = {
    ...real,
    exists: (path) => hooked(path, real.exists(path)),
    rename: (from, to) => hooked(from, real.rename(from, to))
  }
  const path = join(directory, "users.json")
  const changes: Array<unknown> = []
  const noted: Array<string> = []
  const to = (
    options: Partial<FileExport<ExportError>> = {},
    content: string = text,
    before: Effect.Effect<void, ExportError> = Effect.void
  ) =>
    write<ExportError>({
      path,
      input,
      job: undefined,
      gzip: false,
      overwrite: false,
      startAgain: false,
      start,
      note: (id) => Effect.sync(() => void noted.push(id)),
      isOver: (error) => error._tag === "ExportError" && error.reason === "expired",
      download: (id) => Effect.as(before, { job: { ...job, id }, bytes: Stream.make(gzip(content)) }),
      format: () => "json",
      track: (change) => Effect.sync(() => void changes.push(change)),
      ...options
    }).pipe(Effect.provideService(FileSystem.FileSystem, fs))
  const state = `${path}.export.json`
  return {
    changes,
    directory,
    hooks,
    noted,
    path,
    state,
    to,
    keep: (fields: object, own = input) => writeFileSync(state, JSON.stringify({ version: 1, input: own, ...fields })),
    kept: (): unknown => JSON.parse(readFileSync(state, "utf8").trim().split("\n").at(-1) ?? ""),
    failure: (...given: Parameters<typeof to>) => Effect.flip(to(...given))
  }
})

const live = (name: string, test: (set: Effect.Effect.Success<typeof setUp>) => Effect.Effect<void, unknown>) =>
  it.scopedLive(name, () => Effect.provide(Effect.flatMap(setUp, test), NodeFileSystem.layer))

describe("the file of an export", () => {
  live(
    "has all bytes, also of a large one, and its rows are published meanwhile",
    ({ changes, path, to }) =>
      Effect.gen(function*() {
        const large = ndjson(4000)
        const size = Buffer.byteLength(large)
        assert.deepStrictEqual(yield* to({}, large), { path, job: "job_1", rows: 4000, size })
        assert.isTrue(readFileSync(path, "utf8") === large)
        assert.strictEqual(statSync(path).mode & 0o777, 0o600)
        const rows = changes.slice(0, -1).map((change) => {
          assert.hasAllKeys(change, ["rows"])
          // Sound: it has this key, and only numbers are published there.
          return (change as { readonly rows: number }).rows
        })
        assert.isAbove(rows.length, 0)
        assert.deepStrictEqual(rows, [...new Set(rows)].sort((a, b) => a - b))
        assert.isAbove(rows[0] ?? 0, 0)
        assert.isBelow(rows[0] ?? Infinity, 4000)
        assert.deepStrictEqual(changes.at(-1), { phase: "done", job: "job_1", rows: 4000 })
      })
  )

  live(
    "may stay compressed, and is checked all the same",
    ({ directory, failure, path, to }) =>
      Effect.gen(function*() {
        const large = ndjson(4000)
        const size = gzip(large).length
        assert.deepStrictEqual(yield* to({ gzip: true }, large), { path, job: "job_1", rows: 4000, size })
        assert.isTrue(readFileSync(path).equals(gzip(large)))
        rmSync(path)
        const bytes = Stream.make(gzip(large).subarray(0, 1000))
        const error = yield* failure({ gzip: true, download: () => Effect.succeed({ job, bytes }) })
        assert.deepInclude(error, { reason: "truncated", job: "job_1" })
        assert.deepStrictEqual(readdirSync(directory), ["users.json.export.json"])
      })
  )

  live(
    "may have a name that leaves just enough room for that of its state",
    ({ directory, to }) =>
      Effect.gen(function*() {
        const path = join(directory, "u".repeat(243))
        assert.propertyVal(yield* to({ path }), "rows", 20)
        assert.strictEqual(readFileSync(path, "utf8"), text)
      })
  )

  live(
    "is downloaded again if it was to be compressed, and is not any more, or the other way round",
    ({ directory, keep, path, to }) =>
      Effect.gen(function*() {
        for (const isCompressed of [true, false]) {
          const part = `${path}.1.part`
          writeFileSync(part, "all")
          keep({ job: "job_7", part, gzip: isCompressed, rows: 3 })
          assert.propertyVal(yield* to({ gzip: !isCompressed }), "rows", 20)
          assert.isTrue(readFileSync(path).equals(isCompressed ? Buffer.from(text) : gzip(text)))
          assert.deepStrictEqual(readdirSync(directory), ["users.json"])
          rmSync(path)
          writeFileSync(part, "all")
          keep({ job: "job_7", part, gzip: isCompressed, rows: 3 })
          assert.propertyVal(yield* to({ gzip: isCompressed }), "rows", 3)
          assert.strictEqual(readFileSync(path, "utf8"), "all")
          rmSync(path)
        }
      })
  )
})

describe("the job of a file", () => {
  live("is a new one, whose input is kept before its start", ({ kept, noted, to }) =>
    Effect.gen(function*() {
      const states: Array<unknown> = []
      const look = Effect.sync(() => void states.push(kept()))
      const { job } = yield* to({
        start: ({ claim, keep }) =>
          claim.pipe(
            Effect.zipRight(look),
            Effect.zipRight(keep("job_2")),
            Effect.zipRight(look),
            Effect.as("job_2")
          )
      })
      assert.strictEqual(job, "job_2")
      assert.deepStrictEqual(states, [{ version: 1, input }, { version: 1, input, job: "job_2" }])
      assert.deepStrictEqual(noted, [])
    }))

  live(
    "is that of the state, also if the same is given",
    ({ directory, keep, noted, path, to }) =>
      Effect.gen(function*() {
        for (const job of [undefined, "job_7"]) {
          keep({ job: "job_7" })
          assert.propertyVal(yield* to({ job }), "job", "job_7")
          assert.deepStrictEqual(readdirSync(directory), ["users.json"])
          rmSync(path)
        }
        keep({ job: "job_7" }, "")
        assert.propertyVal(yield* to(), "job", "job_7")
        assert.deepStrictEqual(noted, ["job_7", "job_7", "job_7"])
      })
  )

  live(
    "has a file already if the state says so, which is published",
    ({ changes, keep, path, to }) =>
      Effect.gen(function*() {
        const part = `${path}.1.part`
        writeFileSync(part, "all")
        keep({ job: "job_7", part, rows: 3 })
        assert.deepStrictEqual(yield* to(), { path, job: "job_7", rows: 3, size: 3 })
        assert.deepStrictEqual(changes, [{ phase: "done", job: "job_7", rows: 3 }])
      })
  )

  const refuses = ({ undo }: StartSteps<unknown>) => Effect.zipRight(undo, Effect.fail(expired))

  live("that was not started leaves no claim", ({ directory, failure }) =>
    Effect.gen(function*() {
      const claimed = yield* failure({ start: (steps) => Effect.zipRight(steps.claim, refuses(steps)) })
      assert.strictEqual(claimed, expired)
      assert.deepStrictEqual(readdirSync(directory), [])
      yield* failure({ start: refuses })
      assert.deepStrictEqual(readdirSync(directory), [])
    }))

  live(
    "that was not started leaves the claim of another run alone",
    ({ failure, keep, kept }) =>
      Effect.gen(function*() {
        const meanwhile = (steps: StartSteps<unknown>) =>
          Effect.zipRight(Effect.sync(() => keep({ job: "job_8" })), refuses(steps))
        yield* failure({ start: meanwhile })
        assert.deepStrictEqual(kept(), { version: 1, input, job: "job_8" })
        keep({})
        const again = yield* failure({
          startAgain: true,
          start: (steps) => Effect.zipRight(steps.claim, refuses(steps))
        })
        assert.strictEqual(again, expired)
        assert.deepStrictEqual(kept(), { version: 1, input })
      })
  )

  live("is not started if the file is there by then", ({ directory, failure, path }) =>
    Effect.gen(function*() {
      let started = 0
      const error = yield* failure({
        start: ({ claim }) =>
          Effect.sync(() => writeFileSync(path, "mine")).pipe(
            Effect.zipRight(claim),
            Effect.as("job_1"),
            Effect.tap(() => Effect.sync(() => void started++))
          )
      })
      assert.deepInclude(error, { reason: "exists", message: "the file is there already" })
      assert.strictEqual(started, 0)
      assert.deepStrictEqual(readdirSync(directory), ["users.json"])
      assert.strictEqual(readFileSync(path, "utf8"), "mine")
    }))

  live(
    "that is of no use any more is forgotten, but not a start that is unknown",
    ({ directory, failure, keep, kept }) =>
      Effect.gen(function*() {
        const named = { reason: "expired", message: "no file", job: "job_7" } as const
        keep({ job: "job_7" })
        assert.deepInclude(yield* failure({}, text, Effect.fail(expired)), named)
        assert.deepStrictEqual(readdirSync(directory), [])
        assert.deepInclude(yield* failure({ job: "job_7" }, text, Effect.fail(expired)), named)
        assert.deepStrictEqual(readdirSync(directory), [])
        keep({})
        assert.deepInclude(yield* failure({ job: "job_7" }, text, Effect.fail(expired)), named)
        assert.deepStrictEqual(kept(), { version: 1, input })
      })
  )

  live("is kept after another failure", ({ directory, failure, kept }) =>
    Effect.gen(function*() {
      const changed = new ExportError({ reason: "changed", message: "another" })
      assert.deepInclude(yield* failure({}, text, Effect.fail(changed)), { reason: "changed", job: "job_1" })
      assert.deepStrictEqual(readdirSync(directory), ["users.json.export.json"])
      assert.deepInclude(kept(), { version: 1, input, job: "job_1" })
    }))
})

describe("an export into a file fails", () => {
  live("if the state is that of another export", ({ failure, keep, kept, state }) =>
    Effect.gen(function*() {
      for (const fields of [{ job: "job_7" }, { job: "job_7", part: "x", rows: 3 }]) {
        keep(fields, "{}")
        assert.deepInclude(yield* failure(), {
          reason: "other-export",
          message: `${state} keeps the state of an export with another input`,
          job: "job_7"
        })
        keep(fields)
        assert.deepInclude(yield* failure({ job: "job_8" }), {
          reason: "other-export",
          message: `${state} keeps the state of another job`,
          job: "job_7"
        })
        assert.deepStrictEqual(kept(), { version: 1, input, ...fields })
      }
      keep({}, "{}")
      assert.doesNotHaveAnyKeys(yield* failure(), ["job"])
    }))

  live("if the file is there", ({ failure, keep, path }) =>
    Effect.gen(function*() {
      writeFileSync(path, "mine")
      const error = yield* failure()
      assert.deepInclude(error, { reason: "exists", message: "the file is there already" })
      assert.doesNotHaveAnyKeys(error, ["job"])
      keep({ job: "job_7" })
      assert.deepInclude(yield* failure(), { reason: "exists", message: "the file is there already", job: "job_7" })
      assert.strictEqual(readFileSync(path, "utf8"), "mine")
    }))

  live("if the file is there by its end", ({ directory, failure, kept, path, to }) =>
    Effect.gen(function*() {
      const appears = Effect.sync(() => writeFileSync(path, "mine"))
      assert.deepInclude(yield* failure({}, text, appears), {
        reason: "exists",
        message: "the file is there by now",
        job: "job_1"
      })
      assert.deepStrictEqual(readdirSync(directory), ["users.json", "users.json.export.json"])
      assert.deepStrictEqual(kept(), { version: 1, input, job: "job_1" })
      yield* to({ overwrite: true })
      assert.strictEqual(readFileSync(path, "utf8"), text)
    }))

  live("if a job may have been started", ({ failure, keep, kept }) =>
    Effect.gen(function*() {
      keep({})
      assert.deepInclude(yield* failure(), {
        reason: "unknown-start",
        message:
          "an earlier run ended while it started a job: look for it in the tenant, then give its id (job), or allow another one (startAgain)"
      })
      assert.deepStrictEqual(kept(), { version: 1, input })
    }))

  live(
    "if another run has taken it over, or has come to its end",
    ({ directory, failure, keep, state }) =>
      Effect.gen(function*() {
        const superseded = { reason: "superseded", message: "another run writes this file", job: "job_1" } as const
        assert.deepInclude(
          yield* failure({}, text, Effect.sync(() => keep({ job: "job_1", part: "other" }))),
          superseded
        )
        assert.deepStrictEqual(readdirSync(directory), ["users.json.export.json"])
        rmSync(state)
        assert.deepInclude(yield* failure({}, text, Effect.sync(() => rmSync(state))), superseded)
        assert.deepStrictEqual(readdirSync(directory), [])
      })
  )

  live(
    "if a file is there when the next run is to give a complete one its name",
    ({ failure, keep, kept, path, to }) =>
      Effect.gen(function*() {
        const part = `${path}.1.part`
        const fields = { job: "job_7", part, rows: 3 }
        writeFileSync(part, "all")
        keep(fields)
        writeFileSync(path, "mine")
        const expected = { reason: "exists", message: "the file is there already", job: "job_7" } as const
        assert.deepInclude(yield* failure(), expected)
        assert.strictEqual(readFileSync(path, "utf8"), "mine")
        assert.deepStrictEqual(kept(), { version: 1, input, ...fields })
        yield* to({ overwrite: true })
        assert.strictEqual(readFileSync(path, "utf8"), "all")
      })
  )

  const superseded = { reason: "superseded", message: "another run writes this file", job: "job_1" } as const

  live(
    "if another run removes the part of this one; that or the next goes on",
    ({ failure, hooks, path, ...set }) =>
      Effect.gen(function*() {
        writeFileSync(path, "old")
        for (const other of [{ job: "job_1", part: "other" }, undefined]) {
          hooks.beforePart = (part) => {
            rmSync(part)
            if (other !== undefined) set.keep(other)
          }
          assert.deepInclude(yield* failure({ overwrite: true }), superseded)
          // If this run was the last to write the state, it keeps only the job: there is no complete part.
          assert.deepStrictEqual(set.kept(), { version: 1, input, job: "job_1", ...other })
          assert.strictEqual(readFileSync(path, "utf8"), "old")
        }
        hooks.beforePart = () => {}
        yield* set.to({ overwrite: true })
        assert.strictEqual(readFileSync(path, "utf8"), text)
      })
  )

  live(
    "if another run has removed the complete part, to write the file anew",
    ({ failure, hooks, keep, kept, path }) =>
      Effect.gen(function*() {
        writeFileSync(path, "old")
        const part = `${path}.1.part`
        for (const other of [{ job: "job_7", part }, { job: "job_7", part: "other", gzip: false, rows: 5 }]) {
          writeFileSync(part, "all")
          keep({ job: "job_7", part, gzip: false, rows: 3 })
          hooks.beforePart = () => {
            rmSync(part)
            keep(other)
          }
          assert.deepInclude(yield* failure({ overwrite: true }), { ...superseded, job: "job_7" })
          assert.deepStrictEqual(kept(), { version: 1, input, ...other })
          assert.strictEqual(readFileSync(path, "utf8"), "old")
        }
      })
  )

  live(
    "if the part cannot get its name, and the next run gives it that",
    ({ failure, hooks, kept, path, to }) =>
      Effect.gen(function*() {
        hooks.beforePart = () => mkdirSync(path)
        assert.notStrictEqual((yield* failure({ overwrite: true }))._tag, "ExportError")
        hooks.beforePart = () => {}
        assert.deepInclude(kept(), { job: "job_1", gzip: false, rows: 20 })
        rmSync(path, { recursive: true })
        yield* to({ download: () => Effect.fail(expired) })
        assert.strictEqual(readFileSync(path, "utf8"), text)
      })
  )
})
