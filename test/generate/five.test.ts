/** Holds the hand-written declarations and the generator together: the five of the contract, and then all. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
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

/** The tenant's document without what only this tenant refuses: the declarations leave that to the service. */
const declared = structuredClone(Tenant.openapi) as any
for (const { parameters = [] } of Object.values<any>(declared.paths).flatMap(Object.values<any>)) {
  for (const { name, schema } of parameters) if (name === "per_page") delete schema.maximum
}

/** The document with only the paths of the five and of the token endpoint. */
const { paths, ...rest } = declared
const five = {
  ...rest,
  paths: Object.fromEntries(
    Object.entries<any>(paths).flatMap(([path, item]) => {
      const kept = Object.entries<any>(item).filter(([, { operationId }]) =>
        names.includes(operationId) || operationId.startsWith("token")
      )
      return kept.length === 0 ? [] : [[path, Object.fromEntries(kept)]]
    })
  )
}

/** The text of a hand-written declaration as the generator writes it: what no document says is neither promised nor checked. */
const generatedText = (written: string): string => {
  const text = written.replace(/^  check: \w+,\n|^import .* from "\.\.\/internal\/.*\n/gm, "")
  if (text.includes("success:")) return text
  const declared = text.replace("  scope:", "  success: Schema.Unknown,\n  scope:")
    .replace("import {", "import * as Schema from \"effect/Schema\"\nimport {")
  // Deleting a stream that does not exist succeeds.
  return text.includes("NotFound") ? declared : declared.replace(/\bRateLimited/g, (name) => `NotFound, ${name}`)
}

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

/** The declarations of a file, without its imports, white space and comments. */
const declarationsOf = (text: string): ReadonlyArray<string> =>
  ts.createSourceFile("file.ts", text, ts.ScriptTarget.ES2022).statements
    .filter((statement) => !ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement))
    .map((statement) =>
      tokensOf(text.slice(statement.pos, statement.end)).filter((token) => token.trim() !== "").join(" ")
    )

describe("the five operations, generated from the tenant's document", () => {
  it.effect("are the hand-written ones but for comments and import specifiers", () =>
    Effect.gen(function*() {
      const { files } = yield* generated(five)
      assert.sameMembers(
        files.map(({ path }) => path),
        ["index.ts", ...names.map((name) => `${name}.ts`)]
      )
      const format = yield* makeFormatter
      for (const { path, text } of files.filter(({ path }) => path !== "index.ts")) {
        assert.deepStrictEqual(
          tokensOf(format(path, text)),
          tokensOf(format(path, generatedText(readFileSync(`src/operations/${path}`, "utf8")))),
          path
        )
      }
    }))

  it.effect("have the routes, schemas and scopes of the contract, relative to the base URL", () =>
    Effect.gen(function*() {
      const result = yield* generated(five)
      assert.deepStrictEqual(Object.keys(result.interface.operations), names)
      assert.strictEqual(result.interface.operations["deleteEventStream"]?.path, "/event-streams/{id}")
      // The token endpoint is outside of the interface.
      assert.lengthOf(result.notes, 2)
    }))
})

describe("all operations, generated from the tenant's document", () => {
  it.effect("have the hand-written declarations; a schema that several use has a file of its own", () =>
    Effect.gen(function*() {
      const { files } = yield* generated(declared)
      const format = yield* makeFormatter
      const made = files.filter(({ path }) => path !== "index.ts")
        .flatMap(({ path, text }) => declarationsOf(format(path, text)))
      const written = readdirSync("src/operations")
        .flatMap((file) => declarationsOf(format(file, generatedText(readFileSync(`src/operations/${file}`, "utf8")))))
      const missingIn = (all: ReadonlyArray<string>, some: ReadonlyArray<string>) =>
        all.filter((declaration) => !some.includes(declaration)).map((declaration) => declaration.slice(0, 100))
      assert.deepStrictEqual(missingIn(made, written), [])
      assert.deepStrictEqual(missingIn(written, made), [])
      assert.lengthOf(written.filter((declaration) => declaration.includes("Operation . make")), 17)
    }))
})
