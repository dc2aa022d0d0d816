/**
 * `npm run check:effect`: checks the use of Effect with a copy of TypeScript 5 that the language service has patched. Its own
 * command loads the project anew for each fifty files, which takes twice as long.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const directory = mkdtempSync(join(tmpdir(), "effect-rules-"))
try {
  const typescript = join(directory, "typescript")
  cpSync("node_modules/typescript", typescript, { recursive: true })
  const service = "node_modules/@effect/language-service/cli.js"
  execFileSync(process.execPath, [service, "patch", "--dir", typescript], { stdio: ["ignore", "ignore", "inherit"] })
  // The second has more rules, for what is published.
  for (const project of [".ci/build/effect.tsconfig.json", ".ci/build"]) {
    const options = ["--max-semi-space-size=64", join(typescript, "bin/tsc"), "--noEmit", "--project", project]
    const { error, status } = spawnSync(process.execPath, options, { stdio: "inherit" })
    if (error !== undefined) throw error
    if (status !== 0) process.exitCode = 1
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
