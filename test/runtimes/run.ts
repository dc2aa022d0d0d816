/**
 * `npm run test:runtimes`: runs the suite on all runtimes, one after the other, and prints a table. Arguments choose rows:
 * `npm run test:runtimes -- Bun workerd`. `--quick` runs a part of the fault matrix. The last line is JSON; the exit code is 1 if a
 * test failed.
 */
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { kinds } from "./kinds.js"
import { install } from "./packages.js"
import { type Row, runRow } from "./row.js"
import { matrixOf, serve } from "./stage.js"
import { suite } from "./suite.js"

const line = (runtime: string, version: string, passed: string, failed: string, seconds: string) =>
  `${runtime.padEnd(16)} ${version.padEnd(12)} ${passed.padStart(6)} ${failed.padStart(6)} ${seconds.padStart(7)}`

const shown = ({ failures, passed, runtime, seconds, version }: Row) =>
  line(runtime, version, String(passed), String(failures.length), seconds.toFixed(1))

const { positionals: words, values: { quick } } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false } }
})
const matrix = matrixOf(quick)

const all = (stage: string, directory: string) =>
  Effect.gen(function*() {
    const tests = suite(matrix).map(({ name }) => name)
    const chosen = kinds().filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
    console.log(line("runtime", "version", "passed", "failed", "s"))
    const rows = yield* Effect.forEach(chosen, (kind) =>
      Effect.tap(
        Effect.promise(() => runRow(kind, tests, directory, stage)),
        (row) => Effect.sync(() => console.log(shown(row)))
      ))
    for (const { failures, runtime } of rows) {
      for (const { reason, test } of failures) console.log(`\n${runtime}: ${test}\n${reason.replaceAll(/^/gm, "  ")}`)
    }
    const failed = rows.reduce((sum, { failures }) => sum + failures.length, 0)
    console.log(`\n${JSON.stringify({ runtimes: rows.length, tests: tests.length, failed })}`)
    if (failed > 0 || rows.length === 0) process.exitCode = 1
  })

const directory = mkdtempSync(join(tmpdir(), "runtimes-"))
try {
  await install()
  await Effect.runPromise(Effect.scoped(Effect.flatMap(serve(matrix), (stage) => all(stage, directory))))
} finally {
  rmSync(directory, { recursive: true, force: true })
}
