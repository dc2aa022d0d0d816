/** The state of a run: what is written, how it is read again, and what happens when two runs write it. */
import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { make } from "../../src/internal/exports/state.js"

/** A folder for a test, and the state of a file there. */
const setUp = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "exports-state-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const fs = yield* FileSystem.FileSystem
  const path = join(directory, "users.json")
  return { directory, fs, path, store: make(fs, path) }
})

const written = { input: "{}", job: "job_1", part: "users.json.1.part", gzip: true, rows: 3 }

describe("the state of an export", () => {
  it.scopedLive("is beside the file, for nobody else to read, and is read again", () =>
    Effect.gen(function*() {
      const { path, store } = yield* setUp
      assert.strictEqual(store.file, `${path}.export.json`)
      yield* store.create({ input: "{}" })
      assert.strictEqual(readFileSync(store.file, "utf8"), "{\"version\":1,\"input\":\"{}\"}\n")
      assert.strictEqual(statSync(store.file).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* store.read, { input: "{}" })
      yield* store.replace(written)
      assert.strictEqual(statSync(store.file).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* store.read, written)
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("is one file, and can be removed, also twice", () =>
    Effect.gen(function*() {
      const { directory, store } = yield* setUp
      yield* store.replace({ input: "a longer one than what takes its place".repeat(9) })
      yield* store.replace(written)
      assert.deepStrictEqual(readdirSync(directory), ["users.json.export.json"])
      assert.deepStrictEqual(yield* store.read, written)
      yield* store.remove
      yield* store.remove
      assert.deepStrictEqual(readdirSync(directory), [])
      assert.isUndefined(yield* store.read)
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("is the one before if a write ended midway, and the one after that", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      yield* store.create({ input: "{}" })
      const line = `\n${JSON.stringify({ version: 1, ...written })}`
      for (let length = 0; length < line.length; length++) {
        appendFileSync(store.file, line.slice(0, length))
        assert.deepStrictEqual(yield* store.read, { input: "{}" }, String(length))
      }
      yield* store.replace(written)
      assert.deepStrictEqual(yield* store.read, written)
      yield* store.replace({ input: "{}", job: "job_1" })
      assert.deepStrictEqual(yield* store.read, { input: "{}", job: "job_1" })
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("is that of the last of two runs that replace it at the same time", () =>
    Effect.gen(function*() {
      const { directory, fs, path } = yield* setUp
      const states = Array.from({ length: 20 }, (_, nth) => ({ input: "{}", job: `job_${nth}` }))
      const [one, other] = [make(fs, path), make(fs, path)]
      yield* Effect.forEach(states, (state, nth) => (nth % 2 === 0 ? one : other).replace(state), { concurrency: 20 })
      assert.include(states.map(({ job }) => job), (yield* one.read)?.job ?? "none")
      assert.deepStrictEqual(yield* other.read, yield* one.read)
      assert.deepStrictEqual(readdirSync(directory), ["users.json.export.json"])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("is begun by one run only", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      yield* store.create({ input: "mine" })
      assert.deepInclude(yield* Effect.flip(store.create({ input: "other" })), {
        _tag: "ExportError",
        reason: "superseded",
        message: "another run has begun to write this file"
      })
      assert.deepStrictEqual(yield* store.read, { input: "mine" })
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("fails like the file system where it cannot be written or read", () =>
    Effect.gen(function*() {
      const { directory, fs } = yield* setUp
      const store = make(fs, join(directory, "none", "users.json"))
      for (const effect of [store.create({ input: "" }), store.replace({ input: "" })]) {
        const error = yield* Effect.flip(effect)
        assert.notStrictEqual(error._tag, "ExportError")
        assert.include(String(error), "NotFound")
      }
      assert.isFalse(existsSync(join(directory, "none")))
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("cannot be begun where it could not be replaced, because its name is too long", () =>
    Effect.gen(function*() {
      const { directory, fs } = yield* setUp
      const store = make(fs, join(directory, "u".repeat(243)))
      yield* store.create({ input: "" })
      yield* store.replace(written)
      assert.deepStrictEqual(yield* store.read, written)
      const longer = make(fs, join(directory, "u".repeat(244)))
      assert.include(String(yield* Effect.flip(longer.create({ input: "" }))), "FileSystem.open")
      assert.deepStrictEqual(readdirSync(directory), [`${"u".repeat(243)}.export.json`])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("without an end or a text has begun, and keeps no other fields", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      const texts: ReadonlyArray<readonly [text: string, state: object]> = [
        ["", { input: "" }],
        ["{\"version\":1,\"input\":\"\"}", { input: "" }],
        ["{\"version\":1,\"input\":\"a\",\"more\":1}", { input: "a" }],
        [JSON.stringify({ version: 1, ...written }), written],
        [JSON.stringify({ version: 1, input: "a", job: "b", part: "c", rows: 3 }), {
          input: "a",
          job: "b",
          part: "c",
          rows: 3
        }]
      ]
      for (const [text, state] of texts) {
        writeFileSync(store.file, text)
        assert.deepStrictEqual(yield* store.read, state, text)
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("is refused if it is none", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      const good = { version: 1, input: "" }
      const texts = [
        " ",
        "{",
        "null",
        "[]",
        "1",
        ...[
          {},
          { input: "" },
          { version: 1 },
          { version: 2, input: "" },
          { version: "1", input: "" },
          { version: 1, input: 7 },
          { version: 1, input: null },
          { ...good, job: 7 },
          { ...good, job: null },
          { ...good, part: 7 },
          { ...good, gzip: "true" },
          { ...good, gzip: null },
          { ...good, rows: "3" },
          { ...good, rows: null }
        ].map((value) => JSON.stringify(value))
      ]
      for (const text of texts) {
        writeFileSync(store.file, text)
        assert.deepInclude(yield* Effect.flip(store.read), {
          _tag: "ExportError",
          reason: "other-export",
          message: `${store.file} cannot be read as the state of an export: remove it if it is none`
        }, text)
        assert.strictEqual(readFileSync(store.file, "utf8"), text)
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

describe("the folder of an export", () => {
  const folders: ReadonlyArray<readonly [path: string, folder: string]> = [
    ["users.json", "."],
    ["u", "."],
    ["./users.json", "./"],
    ["a/users.json", "a/"],
    ["a/u", "a/"],
    ["folder/of/users.json", "folder/of/"],
    ["../folder/users.json", "../folder/"],
    ["/users.json", "/"],
    ["/folder/users.json", "/folder/"],
    ["C:\\folder\\users.json", "C:\\folder\\"],
    ["C:\\folder/users.json", "C:\\folder/"],
    ["folder/a\\users.json", "folder/a\\"]
  ]

  it.live("is made durable, where the system can do that", () =>
    Effect.gen(function*() {
      const real = yield* FileSystem.FileSystem
      const opened: Array<string> = []
      const fs: FileSystem.FileSystem = {
        ...real,
        open: (path, options) => {
          opened.push(path)
          return real.open(`/none/${path}`, options)
        }
      }
      for (const [path] of folders) yield* make(fs, path).syncFolder
      assert.deepStrictEqual(opened, folders.map(([, folder]) => folder))
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
