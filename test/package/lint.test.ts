/** Tests that the linter rejects imports against the order of folders, and access to inner parts of Effect. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

type Files = ReadonlyArray<readonly [path: string, code: string]>

/** Lints files in a temporary folder with the project's configuration. Returns the paths of rejected files. */
const rejected = (files: Files): ReadonlyArray<string> => {
  const directory = mkdtempSync(join(tmpdir(), "effect-identity-client-lint-"))
  try {
    cpSync(".oxlintrc.json", join(directory, ".oxlintrc.json"))
    for (const [path, code] of files) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), code)
    }
    const oxlint = resolve("node_modules/oxlint/bin/oxlint")
    const { stdout } = spawnSync(process.execPath, [oxlint, "--format", "json"], { cwd: directory, encoding: "utf8" })
    const { diagnostics }: { readonly diagnostics: ReadonlyArray<{ readonly filename: string }> } = JSON.parse(stdout)
    return diagnostics.map(({ filename }) => filename)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** For each folder of `src/internal`, the folders that it may import. */
const allowed = {
  runtime: [],
  schema: ["runtime"],
  http: ["runtime", "schema"],
  telemetry: ["runtime", "schema", "http"],
  limiter: ["runtime", "schema", "http"],
  token: ["runtime", "schema", "http", "telemetry"],
  call: ["runtime", "schema", "http", "telemetry", "limiter", "token"],
  fleet: ["runtime", "schema", "http", "telemetry", "limiter", "token"],
  redelivery: ["runtime", "schema", "http"],
  pagination: ["runtime", "schema", "http"]
}

/** A file in each folder of `src/internal` for each import that `include` selects. */
const planted = (
  include: (from: string, allowed: ReadonlyArray<string>, to: string) => boolean,
  targets: ReadonlyArray<string>,
  pathOf: (to: string) => string
): Files =>
  Object.entries(allowed).flatMap(([from, others]) =>
    targets.filter((to) => to !== from && include(from, others, to)).map((to) =>
      [
        `src/internal/${from}/${to.replace("/", "-")}.ts`,
        `import type { Type } from "${pathOf(to)}"\nexport type Planted = Type\n`
      ] as const
    )
  )

const folders = Object.keys(allowed)
const pathsOf = (files: Files): Array<string> => files.map(([path]) => path)

describe("the linter", () => {
  it("rejects imports against the order of folders, and no others", () => {
    const wrong = planted((_, others, to) => !others.includes(to), folders, (to) => `../${to}/module.js`)
    const right = planted((_, others, to) => others.includes(to), folders, (to) => `../${to}/module.js`)
    assert.sameMembers([...rejected([...wrong, ...right])], pathsOf(wrong))
  })

  it("rejects imports of public modules into src/internal, except those without dependencies", () => {
    const modules = ["RateLimiter", "TokenProvider", "IdentityClient", "Operation", "operations/index"]
    const wrong = planted(() => true, modules, (to) => `../../${to}.js`)
    const right = planted(() => true, ["Endpoint", "Errors", "Timestamp"], (to) => `../../${to}.js`)
    assert.sameMembers([...rejected([...wrong, ...right])], pathsOf(wrong))
  })

  it("rejects detours, and imports into a folder without a rule", () => {
    const plant = (from: string) => `import type { Type } from "${from}"\nexport type Planted = Type\n`
    const wrong: Files = [
      ["src/internal/runtime/detour.ts", plant("./../schema/decode.js")],
      ["src/internal/runtime/package.ts", plant("effect-identity-client/Testing")],
      ["src/internal/folder/planted.ts", plant("../call/retry.js")]
    ]
    assert.sameMembers([...rejected(wrong)], pathsOf(wrong))
  })

  it("rejects access to inner parts of Effect outside the modules for it", () => {
    const fiber = "import type * as Fiber from \"effect/Fiber\"\ntype Runtime = Fiber.RuntimeFiber<unknown>\n"
    const codes = {
      ast: "import * as AST from \"effect/SchemaAST\"\nexport const planted = AST.isLiteral\n",
      fiberRef: `${fiber}export const planted = (fiber: Runtime) => fiber.getFiberRef\n`,
      services: `${fiber}export const planted = (fiber: Runtime) => fiber.currentDefaultServices\n`,
      context: `${fiber}export const planted = (fiber: Runtime) => fiber.currentContext\n`,
      interruption: `${fiber}export const planted = (fiber: Runtime) => fiber.unsafeInterruptAsFork\n`,
      observer: `${fiber}export const planted = (fiber: Runtime) => fiber.addObserver\n`,
      runtime: "import * as Effect from \"effect/Effect\"\nexport const planted = Effect.withFiberRuntime\n",
      cause: "import * as FiberRef from \"effect/FiberRef\"\nexport const planted = FiberRef.interruptedCause\n",
      tracer: `${fiber}export const planted = (fiber: Runtime) => fiber.currentTracer\n`,
      fiberRefs: `${fiber}export const planted = (fiber: Runtime) => fiber.getFiberRefs\n`,
      current: "import * as Fiber from \"effect/Fiber\"\nexport const planted = Fiber.getCurrentFiber\n",
      object: "import * as Predicate from \"effect/Predicate\"\nexport const planted = Predicate.isObject\n",
      either: "import * as Either from \"effect/Either\"\nexport const planted = Either.gen\n"
    }
    const wrong = ["src", "src/internal/call", "src/tenant/server"].flatMap((folder) =>
      Object.entries(codes).map(([name, code]) => [`${folder}/${name}.ts`, code] as const)
    )
    wrong.push(["test/object.test.ts", codes.object], ["test/either.test.ts", codes.either])
    const right: Files = [
      ["src/internal/schema/schemaTree.ts", codes.ast],
      ["src/internal/runtime/fiber.ts", codes.fiberRef],
      ["src/see.ts", "import * as FiberRef from \"effect/FiberRef\"\nexport const planted = FiberRef.currentContext\n"]
    ]
    assert.sameMembers([...rejected([...wrong, ...right])], pathsOf(wrong))
  })
})
