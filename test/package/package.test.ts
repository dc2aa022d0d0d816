/** Tests that `package.json`, the README and the sources agree on exports and dependencies. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { items, licences } from "../../.ci/package/licences.js"
import { documentation, guide, page } from "../support/documentation.js"

const json = (file: string) => JSON.parse(readFileSync(file, "utf8"))

const {
  dependencies,
  devDependencies,
  exports,
  files,
  license,
  peerDependencies,
  peerDependenciesMeta,
  sideEffects,
  type
}: {
  dependencies?: Record<string, string>
  devDependencies: Record<string, string>
  peerDependencies: Record<string, string>
  peerDependenciesMeta: Record<string, { optional: boolean }>
  exports: Record<string, string | Record<string, string>>
  files: ReadonlyArray<string>
  license: string
  sideEffects: ReadonlyArray<string>
  type: string
} = json("package.json")

const entries = Object.entries(exports).flatMap(([path, entry]) =>
  typeof entry === "string" ? [] : [[path, entry]] as const
)

const sourceOf = (file: string) => file.replace(/^\.\/dist\/(.+?)(?:\.d\.ts|\.js)$/, "src/$1.ts")

describe("package.json", () => {
  it("has types and one module in each entry, both from the same source", () => {
    assert.isAbove(entries.length, 0)
    for (const [path, entry] of entries) {
      assert.deepStrictEqual(Object.keys(entry), ["types", "default"], path)
      const [source, ...others] = new Set(Object.values(entry).map(sourceOf))
      assert.lengthOf(others, 0, path)
      assert.isTrue(existsSync(source ?? ""), path)
    }
  })

  it("exports no internal module and no pattern", () => {
    for (const [path, entry] of Object.entries(exports)) {
      assert.notMatch(JSON.stringify([path, entry]), /internal|\*/)
    }
  })

  it("exports exactly the modules at the top of src, under their names", () => {
    const expected = readdirSync("src").filter((file) => file.endsWith(".ts")).map((file) => {
      const name = file.replace(".ts", "")
      return name === "index" ? "." : `./${name}`
    })
    assert.sameMembers(entries.map(([path]) => path), expected)
  })

  it("has the same source for each import name as tsconfig.json", () => {
    const { compilerOptions: { paths } }: { compilerOptions: { paths: unknown } } = json("tsconfig.json")
    assert.deepStrictEqual(paths, {
      "effect-identity-client": ["./src/index.ts"],
      "effect-identity-client/*": ["./src/*.ts"]
    })
    for (const [path, entry] of entries) {
      assert.strictEqual(sourceOf(entry["default"] ?? ""), path === "." ? "src/index.ts" : `src/${path.slice(2)}.ts`)
    }
  })

  it("is ESM without side effects or dependencies, with the sources of its public modules, under the MIT licence", () => {
    assert.strictEqual(type, "module")
    assert.deepStrictEqual(sideEffects, [])
    assert.includeMembers([...files], ["dist", "src/*.ts", "src/operations"])
    assert.isUndefined(dependencies)
    assert.strictEqual(license, "MIT")
    assert.match(readFileSync("LICENSE", "utf8"), /^MIT License\n/)
  })
})

const plain = (text: string) => text.replace(/ +/g, " ")

/** Returns the cells of the documentation's table with this first column. */
const table = (column: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [, body = ""] = new RegExp(`\\| ${column} \\|.*\\n\\|[- |]+\\n((?:\\|.*\\n)+)`).exec(plain(documentation)) ?? []
  return body.trimEnd().split("\n").map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()))
}

describe("the documentation", () => {
  it("lists each peer with its version and purpose, and whether it is optional", () => {
    assert.sameDeepMembers(
      [...table("peer"), ...table("peer of the command"), ...table("peer of a cluster")].map((
        [name, version, purpose = ""]
      ) => [name, version, purpose.startsWith("optional: ")]),
      Object.entries(peerDependencies)
        .map(([name, version]) => [`\`${name}\``, `\`${version}\``, peerDependenciesMeta[name]?.optional === true])
    )
  })

  it("lists the purpose of each development dependency", () => {
    const named = table("for development").flatMap(([names = "", purpose = ""]) => {
      assert.notStrictEqual(purpose, "", names)
      return [...names.matchAll(/`(.+?)`/g)].map(([, name]) => name ?? "")
    })
    const others = Object.keys(devDependencies).filter((name) => !(name in peerDependencies))
    assert.sameMembers(named, others)
  })

  it("lists the licences of all installed packages, which permit any use", () => {
    const [, list = ""] = /\nLicences of .*\n\n([^]*?)\n\n/.exec(page(".github/CONTRIBUTING.md")) ?? []
    assert.deepStrictEqual(list.replaceAll("\n  ", " ").split("\n"), items)
    for (const { licence, name, path } of licences) {
      assert.match(licence, /^(?:MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause)$/, name)
      if (existsSync(`${path}/package.json`)) assert.strictEqual(json(`${path}/package.json`).license, licence, name)
    }
    assert.includeMembers(licences.map(({ name }) => name), Object.keys(peerDependencies))
  })

  it("names existing tests in its notes on security", () => {
    const named = [...guide("security").matchAll(/`(test\/[\w./]+)`/g)].map(([, file]) => file ?? "")
    assert.isAbove(named.length, 0)
    for (const file of named) assert.isTrue(existsSync(file), file)
  })
})
