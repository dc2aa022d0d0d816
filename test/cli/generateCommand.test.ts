/** Tests of `generate` in this process: its options, its failures, and the packages that it may lack. */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { loading } from "../../src/cli/commands/generate.js"
import { runAlone } from "./support/run.js"

const operation = (group: string, name: string, stage: string) => ({
  operationId: "x",
  "x-operation-group": group,
  "x-operation-name": name,
  "x-release-lifecycle": stage,
  responses: { 204: { description: "" } }
})

const document = {
  openapi: "3.1.0",
  info: { title: "Users", version: "2" },
  paths: {
    "/users": { get: operation("users", "list", "GA"), post: operation("users", "create", "EA") },
    "/roles": { get: operation("roles", "list", "Beta") }
  }
}

/** Runs `generate` with the document, in a folder that is removed afterwards. */
const generating = (...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped()
    const [spec, out] = [join(folder, "spec.json"), join(folder, "out")]
    yield* fs.writeFileString(spec, JSON.stringify(document))
    const ran = yield* runAlone(["generate", "--spec", spec, "--out", out, ...args])
    const files = (yield* fs.exists(out)) ? yield* fs.readDirectory(out) : []
    const written = files.filter((name) => !/^(?:index\.ts|interface\.json)$/.test(name)).sort()
    const text = (output: string) => output.replaceAll(folder, ".").replaceAll("\\", "/")
    return { code: ran.code, stdout: text(ran.stdout), stderr: text(ran.stderr), written }
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

const [createUser, listRoles, listUsers] = ["createUser.ts", "listRoles.ts", "listUsers.ts"]

describe("generate", () => {
  const selections: ReadonlyArray<readonly [args: ReadonlyArray<string>, written: ReadonlyArray<string>]> = [
    [[], [createUser, listRoles, listUsers]],
    [["--stage", "ea"], [createUser, listUsers]],
    [["--stage", "ga"], [listUsers]],
    [["--only", "listRoles", "createUser"], [createUser, listRoles]],
    [["--group", "roles"], [listRoles]]
  ]
  for (const [args, written] of selections) {
    it.live(`writes what is selected by ${args.join(" ") || "default"}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* generating(...args), {
          code: 0,
          stdout: `./out: ${written.length} operation${written.length === 1 ? "" : "s"}, 0 schemas\n`,
          stderr: "",
          written
        })
      }))
  }

  it.live("prints a line of JSON with --json, and writes nothing with --check", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout, written } = yield* generating("--json", "--check", "--stage", "ga")
      assert.deepStrictEqual([code, stderr, written], [1, "./out is not what would be generated\n", []])
      assert.deepInclude(JSON.parse(stdout), { folder: "./out", operations: 1, schemas: 0 })
    }))

  it.live("tells a failure by its message, with exit code 1", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* generating("--only", "listThings")
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.strictEqual(
        stderr,
        "the document has no operation listThings; the nearest names are listRoles, listUsers, createUser\n"
      )
    }))
})

describe("a module that cannot be loaded", () => {
  const missing = Object.assign(new Error("Cannot find package 'yaml'"), { code: "ERR_MODULE_NOT_FOUND" })

  it.live("is named with the packages that the command needs, if one is missing", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const real = yield* Effect.console
      const error = (...texts: ReadonlyArray<unknown>) => Effect.sync(() => void lines.push(texts.join(" ")))
      const refused = Effect.withConsole(loading(() => Promise.reject(missing)), { ...real, error })
      assert.deepInclude(yield* Effect.flip(refused), { code: 1 })
      assert.deepStrictEqual(lines, [
        "\u001b[31mError: Cannot find package 'yaml'\nThe command needs packages that the library does not: npm install " +
        "--save-dev @seriousme/openapi-schema-validator@2.11.0 @dprint/formatter@0.6.0 @dprint/typescript@0.96.1 yaml@2.9.1\u001b[0m"
      ])
    }))

  const others: ReadonlyArray<readonly [title: string, error: unknown]> = [
    ["an error without a code", new Error("no")],
    ["an error with another code", Object.assign(new Error("no"), { code: "ENOENT" })],
    ["a value that is no error", { code: "ERR_MODULE_NOT_FOUND" }]
  ]
  for (const [title, error] of others) {
    it.live(`is a defect for another reason: ${title}`, () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(loading(() => Promise.reject(error)))
        assert.deepStrictEqual(exit, Exit.die(error))
      }))
  }

  it.live("is returned if it can be loaded", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* loading(() => Promise.resolve("loaded")), "loaded")
    }))
})
