/** Tests the folder of generated files: whose files it replaces, and what it says of the interface before. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Change, compare } from "../../src/generate/compare/compare.js"
import { parse, stringify } from "../../src/generate/compare/interface.js"
import * as Folder from "../../src/generate/folder.js"
import { runAlone } from "../cli/support/run.js"
import { documentOf, generated } from "./support/documents.js"
import { inFolder, text } from "./support/folder.js"

const facts = { method: "GET", path: "/a", input: {}, success: null, statuses: [429], scopes: [], idempotent: true }
const operation = { ...facts, paging: null }
const shape = { _tag: "Unknown" } as const
const document = { title: "Things", version: "1" }
const whole = { document, operations: { getA: operation }, schemas: { A: shape } }

/** Texts that no `interface.json` is. */
const others: ReadonlyArray<string> = [
  "",
  "<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n",
  ...[
    null,
    [],
    {},
    { precious: "of the user" },
    { ...whole, document: null },
    { ...whole, operations: undefined },
    { ...whole, operations: { getA: null } },
    { ...whole, operations: { getA: { ...operation, input: null } } },
    { ...whole, operations: { getA: { ...operation, statuses: {} } } },
    { ...whole, operations: { getA: { ...operation, scopes: "a" } } },
    { ...whole, schemas: [] },
    { ...whole, schemas: { A: null } },
    { ...whole, schemas: { A: {} } }
  ].map((value) => JSON.stringify(value))
]

describe("an interface", () => {
  it("is read as it was written", () => {
    assert.deepStrictEqual(parse(stringify(whole)), whole)
    for (const other of others) assert.isUndefined(parse(other), other)
  })

  it("may have operations and schemas called like methods of all objects", () => {
    const before = { ...whole, operations: {}, schemas: {} }
    const after = { ...before, operations: { toString: operation }, schemas: { constructor: shape } }
    const changes = (kind: Change["kind"]) => ["toString", "constructor"].map((path) => ({ kind, path, detail: "" }))
    assert.deepStrictEqual(compare(before, after), changes("added"))
    assert.deepStrictEqual(compare(after, before), changes("removed"))
  })
})

describe("a folder", () => {
  it.live("is replaced only if its interface.json is one of an interface", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        const file = `${folder}/${Folder.interfaceFile}`
        const files = [{ path: "index.ts", text }]
        for (const other of others) {
          yield* fs.writeFileString(file, other)
          const { message } = yield* Effect.flip(Folder.write(folder, files))
          assert.strictEqual(
            message,
            `${file} is damaged or was not generated: if it is damaged, delete it and generate again; if not, choose another folder`
          )
          assert.strictEqual(yield* fs.readFileString(file), other)
        }
        yield* fs.writeFileString(file, stringify(whole))
        yield* Folder.write(folder, files)
        assert.deepStrictEqual(yield* fs.readDirectory(folder), ["index.ts"])
      })
    ))

  it.live("is written to where a link leads, and the link stays", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        const [real, link] = [`${folder}/a/real`, `${folder}/link`]
        yield* fs.makeDirectory(real, { recursive: true })
        yield* fs.symlink(real, link)
        yield* Folder.write(link, [{ path: "index.ts", text }])
        yield* Folder.write(link, [{ path: "index.ts", text }, { path: "b.ts", text }])
        assert.strictEqual(yield* fs.readLink(link), real)
        assert.deepStrictEqual([...(yield* Folder.read(real)).keys()], ["b.ts", "index.ts"])
        assert.deepStrictEqual(yield* fs.readDirectory(`${folder}/a`), ["real"])
      })
    ))

  it.live("that does not say which interface it is for fails a check with that sentence", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        const [spec, out] = [`${folder}/spec.json`, `${folder}/out`]
        const { files, interface: facts } = yield* generated(documentOf({}))
        yield* fs.writeFileString(spec, JSON.stringify(documentOf({})))
        yield* Folder.write(out, [...files, { path: Folder.interfaceFile, text: stringify(facts) }])
        for (const other of others.slice(1, 3)) {
          yield* fs.writeFileString(`${out}/${Folder.interfaceFile}`, other)
          const { code, stderr, stdout } = yield* runAlone(["generate", "--spec", spec, "--out", out, "--check"])
          assert.strictEqual(code, 1)
          assert.strictEqual(stdout, "the folder does not say which interface it is for\n")
          assert.match(stderr, /differs: interface\.json\n.* is not what would be generated\n$/)
        }
      })
    ))
})
