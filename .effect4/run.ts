/**
 * `npm run effect4`: makes the line for Effect 4 from the sources, checks its types, lints it, and runs its tests on Node 22. `--quick` runs the
 * tests of what differs. With other options it only converts: they are those of `convert.ts`.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { filesIn, here, out, root } from "./convert/project.js"
import { quickTests } from "./convert/quickTests.js"

/** Runs a command in a folder, and ends this process if it fails. */
const run = (cwd: string, command: string, ...args: ReadonlyArray<string>): void => {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

const node = path.join(here, "node_modules/.bin/node")

/** Installs the packages of the lock, unless these are installed. */
const install = (): void => {
  const lock = fs.readFileSync(path.join(here, "package-lock.json"), "utf8")
  const installed = path.join(here, "node_modules/.installed-lock.json")
  if (fs.existsSync(installed) && fs.readFileSync(installed, "utf8") === lock) return
  run(here, "npm", "ci", "--no-audit", "--no-fund")
  fs.writeFileSync(installed, lock)
}

/** Lints what was written. The linter leaves out what git ignores, but for files that are named. */
const lint = (): void => {
  const files = ["src", "test", "examples"].flatMap((folder) => filesIn(folder, out))
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => path.join(path.relative(root, out), file))
  run(root, path.join(root, "node_modules/.bin/oxlint"), ...files)
}

const options = process.argv.slice(2)
const isQuick = options.includes("--quick")
const converter = options.filter((option) => option !== "--quick")

if (isQuick && converter.length > 0) {
  console.error(`--quick is about tests, and ${converter.join(" ")} runs none`)
  process.exit(1)
}
install()
run(here, process.execPath, "--import", "tsx", "convert.ts", ...converter.length > 0 ? converter : ["--check"])
if (converter.length === 0) {
  lint()
  const vitest = path.join(here, "node_modules/vitest/vitest.mjs")
  const config = path.join(here, "vitest.config.ts")
  run(out, node, vitest, "run", "--config", config, ...isQuick ? quickTests() : [])
}
