/** `npm run build`: writes the published JavaScript, declarations and source maps to `dist`. */
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { buildCommandLine } from "./commandLine.js"
import { buildJavascript } from "./javascript.js"

const root = join(import.meta.dirname, "../..")
const directory = join(root, "dist")

rmSync(directory, { recursive: true, force: true })
const tsc = join(root, "node_modules/typescript/bin/tsc")
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, ".ci/build")], { stdio: "inherit" })
if (status === 0) await Promise.all([buildJavascript(directory), buildCommandLine(directory)])
else process.exitCode = 1
