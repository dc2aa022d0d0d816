/** Tests that the README and the guides agree with the sources. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import * as Errors from "../../src/Errors.js"
import * as operations from "../../src/operations/index.js"
import { documentation as actual, guide, page, pages } from "../support/documentation.js"
import { faultTable } from "../support/faultTable.js"
import { withCode } from "../support/quotedCode.js"

const expected = pages.map(withCode).join("\n")
const readme = page("README.md")

/** The files of this repository to which the README has links. */
const linked = Array.from(readme.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g), ([, file = ""]) => file)

const endpoints = Object.values(operations).flatMap((value) => "endpoint" in value ? [value.endpoint] : [])

describe("the README and the guides", () => {
  it("shows only code from files", () => {
    assert.strictEqual(actual, expected)
    assert.strictEqual(actual.match(/```ts/g)?.length, actual.match(/^<!-- /gm)?.length)
  })

  it("lists each operation as declared", () => {
    assert.isAbove(endpoints.length, 0)
    for (const { idempotent, method, name, path, scope } of endpoints) {
      const row = actual.split("\n").find((line) => line.startsWith(`| \`${name}\``)) ?? ""
      for (const cell of [`\`${method} ${path}\``, `\`${scope}\``, idempotent ? "| yes |" : "| no |"]) {
        assert.include(row.replace(/ +/g, " "), cell)
      }
    }
  })

  it("lists each error", () => {
    const names = Object.keys(Errors).filter((name) => /^[A-Z]/.test(name))
    assert.isAbove(names.length, 0)
    for (const name of names) assert.include(actual, `\n| \`${name}\``)
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

  it("has links in the README that also work in the package", () => {
    const { files }: { files: ReadonlyArray<string> } = JSON.parse(readFileSync("package.json", "utf8"))
    const packed = [...files, "LICENSE", "README.md", "package.json"]
    assert.isAbove(linked.length, 20)
    for (const file of linked) {
      assert.isTrue(existsSync(file), file)
      assert.isTrue(packed.some((path) => file === path || file.startsWith(`${path}/`)), file)
    }
  })

  it("installs the versions of package.json", () => {
    const { devDependencies, peerDependencies }: Record<string, Record<string, string>> = JSON.parse(
      readFileSync("package.json", "utf8")
    )
    const lines = [readme, guide("getting-started"), guide("testing")].join("\n").match(/npm install .*/g) ?? []
    const named = lines.flatMap((line) => [...line.matchAll(/ (@?[\w/-]+)@(\^[\w.]+)/g)])
    assert.isAbove(named.length, 8)
    for (const [, name = "", version = ""] of named) {
      const own = peerDependencies?.[name] ?? devDependencies?.[name] ?? ""
      assert.isTrue(own === version || own.startsWith(`${version}.`), `${name}@${version}`)
    }
  })
})
