/** Tests that the guide to security lists everything that the library writes, and says where users' profiles are. */
import { FetchHttpClient } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Exports } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import * as Node from "../../src/Node.js"
import { guide } from "../support/documentation.js"
import { ids, service, stream } from "../support/redelivery.js"
import { fastClock, gzip, jobs, ndjson, send, serve } from "../support/storage.js"

const [, section = ""] = /^## Stored data\n([^]*?)^## /m.exec(guide("security")) ?? []

/** The rows of the table: what writes, where, and what. */
const rows = section.split("\n").flatMap((line) => {
  const [writer, where, content] = line.split(/^\| | \| | \|$/).slice(1)
  return writer === undefined || where === undefined || content === undefined ? [] : [{ writer, where, content }]
})

const row = (writer: string) => {
  const found = rows.find((row) => row.writer.includes(`\`${writer}\``))
  if (found === undefined) throw new Error(`no row of ${writer}`)
  return found
}

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "written-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The files of a directory, at any depth. */
const filesOf = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name))

/** The modules that open files to write, create tables, or name the keys of a shared store, and the rows that are about them. */
const writers: Readonly<Record<string, ReadonlyArray<string>>> = {
  "cluster/migrations.ts": ["/Cluster"],
  "generate/folder.ts": ["generate"],
  "internal/exports/file.ts": ["Exports.toFile", "export"],
  "internal/exports/state.ts": ["Exports.toFile"],
  "internal/fleet/snapshotFormat.ts": ["/Fleet"],
  "internal/fleet/storedToken.ts": ["/Fleet"],
  "node/fileJournal.ts": ["Node.journal", "redeliver", "Node.layerJobs"]
}

describe("the guide to security", () => {
  it("has a row for every module that writes", () => {
    const writes = /"wx"|writeFile|createWriteStream|\.sink\(|CREATE (?:UNLOGGED )?TABLE|`(?:token|limit):\d/
    const found = readdirSync("src", { recursive: true, encoding: "utf8" })
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => name.endsWith(".ts") && writes.test(readFileSync(`src/${name}`, "utf8")))
    assert.deepStrictEqual(found.sort(), Object.keys(writers).sort())
    for (const writer of Object.values(writers).flat()) assert.isNotEmpty(row(writer).where, writer)
  })

  it("does not say that nothing else is written, or that of exports there is nothing", () => {
    assert.notMatch(guide("security"), /writes nothing else/)
    assert.match(row("Exports.toFile").content, /profiles/)
    assert.include(section, "Only their user can read these files")
  })

  it.scopedLive("names the files of an export: the profiles are in them, for their user only", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const text = ndjson(5)
      const [profile = ""] = text.split("\n")
      const during = new Set<string>()
      const { origin } = yield* serve((to, request) => {
        for (const name of readdirSync(folder)) during.add(name)
        send(to, request, gzip(text))
      })
      const path = join(folder, "FILE")
      yield* Exports.toFile(path, { format: "json" }).pipe(
        Effect.provide(Layer.mergeAll(jobs(origin).layer, FetchHttpClient.layer, NodeFileSystem.layer)),
        Effect.withClock(fastClock())
      )
      for (const name of readdirSync(folder)) during.add(name)
      const names = [...during].map((name) => name.replace(/^FILE\..+\.part$/, "FILE.….part")).sort()
      assert.includeMembers(names, ["FILE", "FILE.export.json"])
      for (const name of [...names, "FILE.….part"]) assert.include(row("Exports.toFile").where, `\`${name}\``)
      assert.include(readFileSync(path, "utf8"), profile)
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    }))

  it.scopedLive("names what jobs in a directory keep: their events, but no profile", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const layer = Layer.provide(Node.layerJobs(folder), Jobs.layerTenants(() => service().layer))
      yield* Effect.scoped(Effect.gen(function*() {
        const { awaitEnd, results, submit } = Context.get(yield* Layer.build(layer), Jobs.Jobs)
        const id = yield* submit(Jobs.redelivery({ tenant: "acme", key: "night", stream, events: ids(3) }))
        yield* awaitEnd(id)
        assert.strictEqual(yield* Stream.runCount(results(id)), 3)
      }))
      const files = filesOf(folder)
      const all = files.map((file) => readFileSync(file, "utf8")).join("\n")
      for (const event of ids(3)) assert.include(all, event)
      for (const part of ["acme", "night", stream]) assert.include(all, part)
      for (const file of files) assert.strictEqual(statSync(file).mode & 0o777, 0o600, file)
      assert.match(row("Node.layerJobs").content, /tenant.*key.*ids.*outcomes/)
    }))

  it("names every table in PostgreSQL", () => {
    const migrations = readFileSync("src/cluster/migrations.ts", "utf8")
    const tables = [...migrations.matchAll(/CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?([a-z_]+) \(/g)].map((
      [, name]
    ) => name ?? "")
    const [, ofMigrations = ""] = /^const table = "(\w+)"/m.exec(migrations) ?? []
    assert.isAbove(tables.length, 4)
    for (const name of [...tables, ofMigrations]) assert.include(row("/Cluster").where, `\`${name}\``)
  })
})
