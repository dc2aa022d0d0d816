/**
 * `npm run check:effect`: checks the use of Effect with a copy of TypeScript 5 that the language service has patched. Its own
 * command loads the project anew for each fifty files, which takes twice as long.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Pages for a browser, and examples, use the functions of their platform, which these rules are about. */
const platform = /^(?:examples|src\/tenant\/page\/(?:docs|live|ui))\/.* effect\((\w+)\)\s*$/
const platformFunctions = ["globalDate", "globalFetch", "globalRandom", "globalTimers", "processEnv"]
const platformRules = new Set([
  "asyncFunction",
  "newPromise",
  ...platformFunctions,
  ...platformFunctions.map((rule) => `${rule}InEffect`)
])

const directory = mkdtempSync(join(tmpdir(), "effect-rules-"))
try {
  const typescript = join(directory, "typescript")
  cpSync("node_modules/typescript", typescript, { recursive: true })
  const service = "node_modules/@effect/language-service/cli.js"
  execFileSync(process.execPath, [service, "patch", "--dir", typescript], { stdio: ["ignore", "ignore", "inherit"] })
  const project = [".ci/build/effect.tsconfig.json", "--noEmit", "--pretty", "false"]
  const { error, status, stdout } = spawnSync(
    process.execPath,
    ["--max-semi-space-size=64", join(typescript, "bin/tsc"), "--project", ...project],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }
  )
  if (error !== undefined) throw error
  const findings = stdout.split("\n")
    .filter((line) => line !== "" && !platformRules.has(platform.exec(line)?.[1] ?? ""))
  for (const finding of findings) console.log(finding)
  // With findings, the compiler ends with 1 or 2.
  if (findings.length > 0 || status === null || status > 2) process.exitCode = 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
