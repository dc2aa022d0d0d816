/** Holds the five hand-written declarations and the generator together. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import ts from "typescript"
import { makeFormatter } from "../../src/generate/format.js"
import * as Tenant from "../../src/Tenant.js"
import { generated } from "./support/documents.js"

const names = [
  "createUsersExport",
  "deleteEventStream",
  "listActionVersions",
  "redeliverEvent",
  "updateTokenExchangeProfile"
]

/** The tokens of a file, without white space and comments, and with its imports sorted and without the library's name. */
const tokensOf = (text: string): ReadonlyArray<string> => {
  const statement = /^import [^]*? from "[^"]+"$/gm
  const imports = Array.from(
    text.matchAll(statement),
    ([line]) => line.replace(/"(?:effect-identity-client\/|\.\.\/)(\w+)(?:\.js)?"/, "\"$1\"").replace(/\s+/g, " ")
  )
  const scanner = ts.createScanner(ts.ScriptTarget.ES2022, true)
  scanner.setText(text.replace(statement, ""))
  const tokens: Array<string> = []
  while (scanner.scan() !== ts.SyntaxKind.EndOfFileToken) tokens.push(scanner.getTokenText())
  return [...imports.sort(), ...tokens]
}

describe("the five operations, generated from the tenant's document", () => {
  it.effect("are the hand-written ones but for comments and import specifiers", () =>
    Effect.gen(function*() {
      const { files } = yield* generated(Tenant.openapi)
      assert.sameMembers(
        files.map(({ path }) => path),
        ["index.ts", ...names.map((name) => `${name}.ts`)]
      )
      const format = yield* makeFormatter
      for (const { path, text } of files.filter(({ path }) => path !== "index.ts")) {
        assert.deepStrictEqual(
          tokensOf(format(path, text)),
          tokensOf(readFileSync(`src/operations/${path}`, "utf8")),
          path
        )
      }
    }))

  it.effect("have the routes, schemas and scopes of the contract, relative to the base URL", () =>
    Effect.gen(function*() {
      const result = yield* generated(Tenant.openapi)
      assert.deepStrictEqual(Object.keys(result.interface.operations), names)
      assert.strictEqual(result.interface.operations["deleteEventStream"]?.path, "/event-streams/{id}")
      // The token endpoint is outside of the interface.
      assert.lengthOf(result.notes, 2)
    }))
})
