/** Tests that the README and the guides agree with the sources. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import * as Errors from "../../src/Errors.js"
import * as operations from "../../src/operations/index.js"
import { documentation as actual, pages } from "../support/documentation.js"
import { faultTable } from "../support/faultTable.js"
import { withCode } from "../support/quotedCode.js"

const expected = pages.map(withCode).join("\n")
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
})
