/** Tests that the pages name the scopes of all operations, and advise no stronger credentials than these. */
import { assert, describe, it } from "@effect/vitest"
import { docstring } from "../../.ci/docs/operationPage.js"
import { scopesOf } from "../../src/Endpoint.js"
import { guide, page, pages } from "../support/documentation.js"
import { operations } from "../support/operations.js"

const plain = (text: string) => text.replace(/\s+/g, " ")

describe("the scopes to grant", () => {
  it("are in one table, as the operations declare them", () => {
    const [, table = ""] = /^ *\| to call +\| grant +\|\n *\| -.*\n((?: *\|.*\n)+)/m.exec(guide("getting-started")) ??
      []
    const rows = table.trim().split("\n").map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))
    assert.deepStrictEqual(
      rows.sort(),
      operations.map(({ endpoint }) => [
        `\`${endpoint.name}\``,
        scopesOf(endpoint).map((scope) => `\`${scope}\``).join(" or ")
      ]).sort()
    )
  })
})

describe("a client that is not global", () => {
  it("is never told to be replaced by a stronger one", () => {
    for (const path of pages.filter((path) => !path.endsWith("CHANGELOG.md"))) {
      const text = plain(page(path))
      assert.notMatch(
        text,
        /need(?:s)? (?:also )?a global client|(?:only|also) global clients|use the credentials of the tenant's global/i,
        path
      )
      for (const [, sentence = ""] of text.matchAll(/([^.|]*global client[^.|]*)/g)) {
        assert.match(sentence, /Do not use|do not switch to/i, `${path}: ${sentence}`)
      }
    }
    for (const { endpoint: { name } } of operations) {
      assert.notInclude(docstring(`operations/${name}.ts`, name), "a global client", name)
    }
  })

  it("is a 401 of exports, and of no other operation", () => {
    assert.notInclude(docstring("Errors.ts", "Unauthorized"), "global")
    for (const { endpoint: { name } } of operations) {
      const text = page(`examples/operations/${name}.md`)
      assert.strictEqual(text.includes("not global"), name === "createUsersExport", name)
    }
  })

  it("has its sources wherever it is explained: a recorded response, and Auth0's page", () => {
    const published = "https://auth0.com/docs/manage-users/user-migration/bulk-user-exports"
    const explanations = {
      "getting-started": /^3\. \*\*Exports\*\*[^]*?\n\n/m,
      errors: /^\| `Client is not global`.*$/m,
      runbook: /^## The client is not global\n[^]*?^## /m
    }
    for (const [name, pattern] of Object.entries(explanations)) {
      const [text = ""] = pattern.exec(guide(name)) ?? []
      assert.include(text, published, name)
      assert.include(text, "recorded", name)
      assert.include(text, "`read:users`", name)
    }
  })
})
