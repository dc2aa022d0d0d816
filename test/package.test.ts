/** The package's own description: what it exports, what it needs, and that both are as the README and the sources say. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"

const json = (file: string) => JSON.parse(readFileSync(file, "utf8"))

const { dependencies, exports, files, sideEffects, type }: {
  dependencies?: Record<string, string>
  exports: Record<string, string | Record<string, string>>
  files: ReadonlyArray<string>
  sideEffects: ReadonlyArray<string>
  type: string
} = json("package.json")

const entries = Object.entries(exports).flatMap(([path, entry]) =>
  typeof entry === "string" ? [] : [[path, entry]] as const
)

const sourceOf = (file: string) => file.replace(/^\.\/dist\/(.+?)(?:\.d\.ts|\.js)$/, "src/$1.ts")

describe("package.json", () => {
  it("has types first in each entry, then one module, and both are of one source", () => {
    assert.isAbove(entries.length, 0)
    for (const [path, entry] of entries) {
      assert.deepStrictEqual(Object.keys(entry), ["types", "default"], path)
      const [source, ...others] = new Set(Object.values(entry).map(sourceOf))
      assert.lengthOf(others, 0, path)
      assert.isTrue(existsSync(source ?? ""), path)
    }
  })

  it("exports nothing internal, and no pattern that might", () => {
    for (const [path, entry] of Object.entries(exports)) {
      assert.notMatch(JSON.stringify([path, entry]), /internal|\*/)
    }
  })

  it("exports all that lies at the top of src, each module but the platforms' under its own name, and nothing else", () => {
    const lowerCase = ["Fleet", "Node", "Redis", "Tenant", "Testing"]
    const expected = readdirSync("src").filter((file) => file.endsWith(".ts")).map((file) => {
      const name = file.replace(".ts", "")
      return name === "index" ? "." : `./${lowerCase.includes(name) ? name.toLowerCase() : name}`
    })
    assert.sameMembers(entries.map(([path]) => path), expected)
  })

  it("has the entries that programs in here import", () => {
    const { compilerOptions: { paths } }: { compilerOptions: { paths: Record<string, [string]> } } = json(
      "tsconfig.json"
    )
    for (const [name, [file]] of Object.entries(paths)) {
      const entry = exports[name.replace("effect-identity-client", ".")]
      assert.strictEqual(sourceOf(typeof entry === "object" ? entry["default"] ?? "" : ""), file.slice(2), name)
    }
  })

  it("is ESM without side effects, with its sources, and brings no dependency of its own", () => {
    assert.strictEqual(type, "module")
    assert.deepStrictEqual(sideEffects, [])
    assert.includeMembers([...files], ["dist", "src"])
    assert.isUndefined(dependencies)
  })
})
