/** Tests that the README and the guides agree with the sources. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { docstring, filesOf } from "../../.ci/docs/operationPage.js"
import { scopesOf } from "../../src/Endpoint.js"
import * as Errors from "../../src/Errors.js"
import * as operations from "../../src/operations/index.js"
import { documentation as actual, guide, page, pages } from "../support/documentation.js"
import { faultTable } from "../support/faultTable.js"
import { operations as subjects } from "../support/operations.js"
import { withCode } from "../support/quotedCode.js"

const expected = pages.map(withCode).join("\n")
const readme = page("README.md")

const endpoints = Object.values(operations).flatMap((value) => "endpoint" in value ? [value.endpoint] : [])

describe("the README and the guides", () => {
  it("shows only code from files", () => {
    assert.strictEqual(actual, expected)
  })

  it("has a file above each block of code, except for shells and what programs print", () => {
    for (const path of pages) {
      const blocks = [...page(path).matchAll(/(?<=^(.*)\n\n)```(\w*)\n[^]*?\n```$/gm)]
      assert.lengthOf(blocks, (page(path).match(/^ *```/gm)?.length ?? 0) / 2, path)
      for (const [block, before = "", language = ""] of blocks) {
        if (/^<!-- [\w./-]+(?:: .+)? -->$/.test(before)) assert.include(["ts", ""], language, block)
        // Its blocks are carried out by `contributing.test.ts`.
        else assert.include(path === ".github/CONTRIBUTING.md" ? ["sh", "", "typescript"] : ["sh", ""], language, block)
      }
    }
  })

  it("has pages of the operations as generated", () => {
    for (const { endpoint } of subjects) {
      for (const [path, text] of filesOf(endpoint)) assert.strictEqual(page(path), text, path)
    }
  })

  it("lists the fields of each value", () => {
    for (const { endpoint } of subjects.filter(({ endpoint }) => endpoint.success !== undefined)) {
      const [, value = ""] = page(`examples/operations/${endpoint.name}.md`).split("\n## Value\n")
      assert.match(value, /^[^#]*\| -+ \| -+ +\|\n\| `/, endpoint.name)
    }
  })

  it("lists each operation as declared", () => {
    assert.isAbove(endpoints.length, 0)
    for (const { idempotent, method, name, path } of endpoints) {
      const row = actual.split("\n").find((line) => line.startsWith(`| \`${name}\``)) ?? ""
      for (const cell of [`\`${method} ${path}\``, idempotent ? "| yes |" : "| no |"]) {
        assert.include(row.replace(/ +/g, " "), cell)
      }
    }
  })

  it("lists each error", () => {
    const names = Object.keys(Errors).filter((name) => /^[A-Z]/.test(name))
    assert.isAbove(names.length, 0)
    for (const name of names) assert.include(actual, `\`${name}\``)
  })

  it("shows the fault matrix as tested", () => {
    const plain = (text: string) => text.replace(/ +/g, " ").replace(/-{3,}/g, "---")
    for (const line of faultTable) assert.include(plain(actual), line)
  })

  it("names existing commands only", () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync("package.json", "utf8"))
    const named = [...actual.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name ?? "")
    assert.isAbove(named.length, 0)
    for (const name of named) assert.property(scripts, name)
  })

  it("has a README of at most 250 lines and 16 kB", () => {
    assert.isAtMost(readme.split("\n").length, 251)
    assert.isAtMost(Buffer.byteLength(readme), 16_000)
  })

  it("installs the exact versions that the tests run with", () => {
    const { packages }: { packages: Record<string, { version: string }> } = JSON.parse(
      readFileSync("package-lock.json", "utf8")
    )
    // Only users need the types of `ws`: `npm run test:pack` installs them.
    const others = readFileSync(".ci/package/pack.ts", "utf8")
    for (const text of [readme, guide("getting-started"), guide("testing")]) {
      const named = (text.match(/npm install .*/g) ?? []).flatMap((line) =>
        line.replace(/[`#].*/, "").split(" ").slice(2).filter((word) => word !== "-D")
      )
      assert.isAbove(named.length, 2)
      for (const word of named) {
        const [, name = "", version] = /^(@?[^@]+)(?:@(.+))?$/.exec(word) ?? []
        const isOwn = /^(?:effect-identity-client|\.\.\/.*\.tgz|…)$/.test(name)
        if (!isOwn && !others.includes(`"${word}"`)) {
          assert.strictEqual(packages[`node_modules/${name}`]?.version, version, name)
        }
      }
    }
  })

  it("says the scope of each operation where editors show it", () => {
    for (const { endpoint } of subjects) {
      const scopes = scopesOf(endpoint).map((scope) => `\`${scope}\``)
      const words = scopes.length === 1 ? "the scope" : "one of the scopes"
      const text = docstring(`operations/${endpoint.name}.ts`, endpoint.name).replace(/\s+/g, " ")
      assert.include(text, `Requires ${words} ${scopes.join(" and ")}`)
    }
  })
})
