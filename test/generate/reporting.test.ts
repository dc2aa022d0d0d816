/** Tests what the generator prints, which changes it lists, and how it formats files. */
import { FileSystem, type Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { stringify } from "../../src/generate/compare/interface.js"
import * as Folder from "../../src/generate/folder.js"
import { makeFormatter } from "../../src/generate/format.js"
import { run } from "../../src/generate/run.js"
import { documentOf, generated, type Json, type Parts } from "./support/documents.js"

const string = { type: "string" }

interface Paths {
  readonly spec: string
  readonly out: string
}

const inFolder = <A, E>(
  test: (paths: Paths, fs: FileSystem.FileSystem) => Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>
): Effect.Effect<A, unknown> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    return yield* test({ spec: `${folder}/spec.json`, out: `${folder}/out` }, fs)
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

/** Runs the generator: the tag and the message of its failure, if it fails, and the lines that it prints. */
const running = (paths: Paths, options: Partial<Parameters<typeof run>[0]> = {}) =>
  Effect.gen(function*() {
    const [stdout, stderr]: [Array<string>, Array<string>] = [[], []]
    const real = yield* Effect.console
    const print = (to: Array<string>) => (...texts: ReadonlyArray<unknown>) =>
      Effect.sync(() => void to.push(...texts.join(" ").split("\n")))
    const all = {
      ...paths,
      overlay: [],
      only: [],
      group: [],
      stage: "beta" as const,
      responses: "strict" as const,
      check: false,
      json: false,
      ...options
    }
    const failure = yield* Effect.match(
      Effect.withConsole(run(all), { ...real, log: print(stdout), error: print(stderr) }),
      { onFailure: ({ _tag, message }) => [_tag, message], onSuccess: () => [] }
    )
    return { failure, stdout, stderr }
  })

const outdated = ({ out }: Paths) => ["Outdated", `${out} is not what would be generated`]

/** A document with `getThing` and a number of other operations. */
const withOthers = (count: number): Parts => ({
  paths: Object.fromEntries(Array.from({ length: count }, (_, nth) => [`/others/${nth}`, {
    get: { operationId: `getOther${nth}`, responses: { 204: { description: "" } } }
  }]))
})

const body = (properties: Json, required: ReadonlyArray<string> = []): Json => ({
  type: "object",
  properties,
  required
})

describe("the format of files", () => {
  const formatted = `export * from "./b.js"
export * from "./A.js"
const f = (x) => {
  const isLong = x ||
    false
  return isLong
    && x
}
const list = [
  "one",
  "it's"
]
`

  it.effect("stays as it is", () =>
    Effect.gen(function*() {
      const format = yield* makeFormatter
      assert.strictEqual(format("file.ts", formatted), formatted)
    }))

  it.effect("is that of this package", () =>
    Effect.gen(function*() {
      const format = yield* makeFormatter
      const text = `export * from './b.js';
export * from "./A.js"
const f = x => {
    const isLong = x ||
        false
    return isLong
        && x
};
const list = [
  'one',
  "it's",
]
`
      assert.strictEqual(format("file.ts", text), formatted)
    }))
})

describe("the generator", () => {
  it.live("writes nothing if the document or the selection has a mistake", () =>
    inFolder((paths, fs) =>
      Effect.gen(function*() {
        const pointer = "#/paths/~1things/get/responses/200/content/application~1json/schema/not"
        yield* fs.writeFileString(paths.spec, JSON.stringify(documentOf({ success: { not: {} } })))
        assert.deepStrictEqual(yield* running(paths), {
          failure: ["SpecError", `the keyword not is not understood (at ${pointer})`],
          stdout: [],
          stderr: []
        })
        assert.deepStrictEqual(yield* running(paths, { only: ["getUser"], check: true }), {
          failure: ["SpecError", "the document has no operation getUser; the nearest names are getThing"],
          stdout: [],
          stderr: []
        })
        assert.isFalse(yield* fs.exists(paths.out))
      })
    ))

  it.live("counts what it has written, and finds nothing changed", () =>
    inFolder((paths, fs) =>
      Effect.gen(function*() {
        const parts: Parts = {
          success: { $ref: "#/components/schemas/A" },
          schemas: { A: { type: "object", properties: { a: string } } }
        }
        yield* fs.writeFileString(paths.spec, JSON.stringify(documentOf(parts)))
        assert.deepStrictEqual(yield* running(paths), {
          failure: [],
          stdout: [`${paths.out}: 1 operation, 1 schema`],
          stderr: []
        })
        assert.deepStrictEqual(yield* running(paths, { check: true }), {
          failure: [],
          stdout: [`${paths.out}: 1 operation, nothing changed`],
          stderr: []
        })
      })
    ))

  it.live("lists the changes of the interface, with details where there are any", () =>
    inFolder((paths, fs) =>
      Effect.gen(function*() {
        const before = yield* generated(documentOf({ body: body({ a: string, b: string }) }))
        const text = stringify(before.interface)
        yield* Folder.write(paths.out, [...before.files, { path: Folder.interfaceFile, text }])
        const after = documentOf({ get: { operationId: "findThing" }, body: body({ a: string }, ["a"]) })
        yield* fs.writeFileString(paths.spec, JSON.stringify(after))
        assert.deepStrictEqual(yield* running(paths, { check: true }), {
          failure: outdated(paths),
          stdout: [
            "narrowed  createThing input.a: is required",
            "removed   createThing input.b: optional string",
            "added     findThing",
            "removed   getThing"
          ],
          stderr: [
            "differs: index.ts",
            "differs: createThing.ts",
            "missing: findThing.ts",
            "differs: interface.json",
            "too much: getThing.ts"
          ]
        })
      })
    ))

  it.live("lists twenty files that differ, and counts the others", () =>
    inFolder((paths, fs) =>
      Effect.gen(function*() {
        yield* fs.writeFileString(paths.spec, JSON.stringify(documentOf(withOthers(20))))
        const names = Array.from({ length: 20 }, (_, nth) => `getOther${nth}`)
        const check = (only: ReadonlyArray<string>) => running(paths, { check: true, only })
        const report = {
          failure: outdated(paths),
          stdout: ["the folder does not say which interface it is for"]
        }
        const missing = (names: ReadonlyArray<string>) =>
          ["index.ts", ...names.toSorted().map((name) => `${name}.ts`), "interface.json"].map((path) =>
            `missing: ${path}`
          )
        // Names may be beside each other or have commas and blanks between them.
        const [first = "", ...others] = names.slice(0, 18)
        assert.deepStrictEqual(yield* check([first, ` ${others.join(" , ")}, `, ""]), {
          ...report,
          stderr: missing(names.slice(0, 18))
        })
        assert.deepStrictEqual(yield* check(names), {
          ...report,
          stderr: [...missing(names).slice(0, 20), "… and 2 more files"]
        })
      })
    ))
})
