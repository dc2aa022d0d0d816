/** Tests that the linter rejects imports against the order of folders, and access to inner parts of Effect. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
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

/** The properties that the configuration forbids in `src`. */
const restrictedProperties = (): ReadonlyArray<{ readonly object?: string; readonly property: string }> => {
  const { overrides } = JSON.parse(readFileSync(".oxlintrc.json", "utf8"))
  return overrides[0].rules["no-restricted-properties"].slice(1)
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
  redelivery: ["runtime", "schema", "http", "deliveries"],
  deliveries: ["runtime", "schema", "http"],
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
    const modules = [
      "RateLimiter",
      "TokenProvider",
      "IdentityClient",
      "Operation",
      "Retry",
      "Timestamp",
      "operations/index"
    ]
    const wrong = planted(() => true, modules, (to) => `../../${to}.js`)
    const right = planted(() => true, ["Endpoint", "Errors"], (to) => `../../${to}.js`)
    assert.sameMembers([...rejected([...wrong, ...right])], pathsOf(wrong))
  })

  it("rejects detours, and imports into a folder without a rule", () => {
    const plant = (from: string) => `import type { Type } from "${from}"\nexport type Planted = Type\n`
    const wrong: Files = [
      ["src/internal/runtime/detour.ts", plant("./../schema/decode.js")],
      ["src/internal/runtime/package.ts", plant("effect-identity-client/Testing")],
      ["src/internal/folder/planted.ts", plant("../call/retried.js")]
    ]
    assert.sameMembers([...rejected(wrong)], pathsOf(wrong))
  })

  it("rejects access to inner parts of Effect outside the modules for it", () => {
    const inner = "SchemaAST Channel FiberRef Mailbox PubSub Queue Runtime RuntimeFlags HttpClientError".split(" ")
    const importOf = (module: string, name: string) =>
      `import type * as ${name} from "${
        module === "HttpClientError" ? "@effect/platform" : "effect"
      }/${module}"\nexport type Planted${name} = typeof ${name}\n`
    const codes = {
      ...Object.fromEntries(inner.map((module) => [module, importOf(module, "Module")])),
      ...Object.fromEntries(
        restrictedProperties().map(({ object, property }) => [
          `${object ?? "any"}-${property}`,
          object === undefined
            ? `export const planted = (value: { readonly ${property}: number }) => value.${property}\n`
            : `import * as ${object} from "effect/${object}"\nexport const planted = ${object}.${property}\n`
        ])
      )
    }
    assert.containsAllKeys(codes, ["any-getFiberRef", "any-removeObserver", "Predicate-isObject", "Either-gen"])
    const wrong = ["src", "src/internal/call", "src/tenant/server"].flatMap((folder) =>
      Object.entries(codes).map(([name, code]) => [`${folder}/${name}.ts`, code] as const)
    )
    for (const name of ["Predicate-isObject", "Either-gen"]) wrong.push([`test/${name}.test.ts`, codes[name] ?? ""])
    assert.sameMembers([...rejected(wrong)], pathsOf(wrong))
    const seams = {
      "schema/schemaTree": ["SchemaAST"],
      "http/httpClients": ["HttpClientError"],
      "runtime/fiber": ["FiberRef", "Runtime", "RuntimeFlags"],
      "runtime/runner": ["FiberRef", "Runtime", "RuntimeFlags"],
      "runtime/streams/queues": ["Channel", "PubSub", "Queue"]
    }
    const filesWith = (include: (own: ReadonlyArray<string>, module: string) => boolean): Files =>
      Object.entries(seams).map(([path, own]) => [
        `src/internal/${path}.ts`,
        inner.filter((module) => include(own, module)).map((module) => importOf(module, module)).join("")
      ])
    assert.deepStrictEqual(rejected(filesWith((own, module) => own.includes(module))), [])
    const foreign = filesWith((own, module) => !own.includes(module))
    assert.sameMembers([...new Set(rejected(foreign))], pathsOf(foreign))
  })
})
