/** Follows the five steps of `CONTRIBUTING.md` to a new operation in a copy of the sources. */
import { assert, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { page } from "../support/documentation.js"

/** The steps of the section. */
const steps =
  page(".github/CONTRIBUTING.md").split("\n## Adding an operation\n")[1]?.split(/\n## /)[0]?.split(/^(?=\*\*\d\. )/m)
    .slice(1) ?? []

/** Code of a step. */
const block = (step: number): string => /```\w*\n([^]*?)```/.exec(steps[step - 1] ?? "")?.[1] ?? ""

/** File that a step names. */
const file = (step: number): string => /`((?:src|test)\/\S+)`/.exec(steps[step - 1] ?? "")?.[1] ?? ""

/** Runs a script with Node. Returns whether it failed, and its output. */
const run = (cwd: string, ...args: ReadonlyArray<string>) =>
  new Promise<readonly [failed: boolean, output: string]>((resolve) =>
    execFile(
      process.execPath,
      args,
      { cwd, timeout: 600_000, env: { PATH: process.env["PATH"] } },
      (error, ...output) => resolve([error !== null, output.join("\n")])
    )
  )

it(
  "the five steps add an operation that compiles, has an entry in the README, and works against the tenant",
  async () => {
    assert.deepStrictEqual(steps.map((step) => step.slice(2, 4)), ["1.", "2.", "3.", "4.", "5."])
    const copy = mkdtempSync(join(tmpdir(), "effect-identity-client-steps-"))
    const edit = (name: string, change: (text: string) => string) => {
      const before = readFileSync(name, "utf8")
      const after = change(before)
      assert.notStrictEqual(after, before, name)
      writeFileSync(join(copy, name), after)
    }
    try {
      for (const name of ["src", "test", "examples", ".ci", ".github", "package.json", "tsconfig.json"]) {
        cpSync(name, join(copy, name), { recursive: true })
      }
      symlinkSync(join(process.cwd(), "node_modules"), join(copy, "node_modules"))
      writeFileSync(join(copy, file(1)), block(1))
      edit(file(2), (text) => text + block(2))
      const [imported = "", code = ""] = block(3).split("\n\n")
      const [opening = "", handler = ""] = code.split(/(?<=\{\n)([^]*)\n {2}\/\/ .*\n\}\n$/)
      edit(
        file(3),
        (text) => text.replace(/^import type \{ Handlers \}.*/m, imported).replace(opening, `${opening}${handler},\n`)
      )
      edit("README.md", (text) => text.replace(/(?<=^\| `deleteEventStream` .*\n)/m, block(4)))
      writeFileSync(join(copy, file(5)), block(5))
      writeFileSync(
        join(copy, "tsconfig.steps.json"),
        // It imports the client and the tenant: all that the steps change, and all that names each operation.
        JSON.stringify({ extends: "./tsconfig.json", include: [file(5)] })
      )

      const tests = [file(5), "test/package/readme.test.ts", "-t", "a connection|lists each operation"]
      const [compiled, [failed, output]] = await Promise.all([
        run(copy, "node_modules/@typescript/native/bin/tsc", "--project", "tsconfig.steps.json"),
        run(copy, "node_modules/vitest/vitest.mjs", "run", "--config", "test/vitest.config.ts", ...tests)
      ])
      assert.deepStrictEqual(compiled, [false, "\n"])
      assert.isFalse(failed, output)
      assert.match(output, /Tests +2 passed/)
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  },
  120_000
)

it("the section names existing files with tables of all operations", () => {
  const [, after = ""] = steps.at(-1)?.split(/^```\n\n/m) ?? []
  const named = [...after.matchAll(/`((?:src|test)\/\S+)`/g)].map(([, file]) => file ?? "")
  assert.isAbove(named.length, 0)
  for (const name of named) {
    assert.isTrue(existsSync(name), name)
    assert.include(readFileSync(name, "utf8"), "deleteEventStream", name)
  }
})
