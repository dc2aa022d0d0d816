/** Tests that `npm run test:runtimes` reports failures. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { guide } from "../support/documentation.js"
import { operations } from "../support/operations.js"
import { differences } from "./differences.js"
import { type Kind, kinds } from "./kinds.js"
import { runRow } from "./row.js"
import { matrixOf, serve } from "./stage.js"
import { suite } from "./suite.js"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "runtimes-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const here: Kind = { name: "Here, fetch", program: process.execPath, entry: "fetch", flags: [], conditions: ["node"] }

/** Runs the suite on this Node, with a few cases of the fault matrix. */
const rowFor = (kind: Kind, also: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    const all = matrixOf(true)
    const matrix = { ...all, cases: all.cases.slice(0, 4) }
    const stage = yield* serve(matrix)
    const tests = suite(matrix).map(({ name }) => name)
    const path = yield* directory
    return { row: yield* Effect.promise(() => runRow(kind, [...tests, ...also], path, stage)), tests }
  }).pipe(Effect.scoped)

describe("a row of test:runtimes", () => {
  it.live("counts passed tests and names tests without a result", () =>
    Effect.gen(function*() {
      const { row, tests } = yield* rowFor(here, ["a test that does not exist"])
      assert.deepStrictEqual(row.failures, [{ test: "a test that does not exist", reason: "no result" }])
      assert.strictEqual(row.passed, tests.length)
      assert.isAtLeast(row.passed, 40)
      assert.strictEqual(row.version, process.versions.node)
    }))

  it.live("fails if the runtime does not start or is not installed", () =>
    Effect.gen(function*() {
      for (const program of ["/bin/false", undefined]) {
        const { row, tests } = yield* rowFor({ ...here, program })
        assert.strictEqual(row.passed, 0)
        assert.strictEqual(row.failures[0]?.test, "the start")
        assert.lengthOf(row.failures, tests.length + 1)
      }
    }))
})

describe("the suite", () => {
  it("has unique names, and a test for each cell of the fault matrix", () => {
    const matrix = matrixOf(false)
    const names = suite(matrix).map(({ name }) => name)
    assert.lengthOf(new Set(names), names.length)
    assert.lengthOf(matrix.cases, matrixOf(true).cases.length / 2 * operations.length)
    for (const { operation, row } of matrix.cases) assert.include(names, `${row}: ${operation}`)
  })

  it("has differences for existing runtimes and rows, and the guide lists each", () => {
    const rows = matrixOf(false).cases.map(({ row }) => row)
    const names = kinds().map(({ name }) => name)
    const text = guide("runtimes")
    for (const { rows: of, runtimes, why } of differences) {
      assert.includeMembers(rows, [...of])
      assert.includeMembers(names, [...runtimes])
      assert.include(text, why)
    }
  })
})
