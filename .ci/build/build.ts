/**
 * `npm run build`: writes the published JavaScript, and declarations with their maps, to `dist`. `--effect4` builds what
 * `npm run effect4` wrote.
 */
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { chosenLine, effect3 } from "../line.js"
import { buildCommandLine } from "./commandLine.js"
import { pruneDeclarations } from "./declarations.js"
import { buildJavascript } from "./javascript.js"

const { root } = chosenLine
const directory = join(root, "dist")

rmSync(directory, { recursive: true, force: true })
const tsc = join(effect3.root, "node_modules/@typescript/native/bin/tsc")
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, ".ci/build")], { stdio: "inherit" })
if (status === 0) {
  pruneDeclarations(directory)
  await Promise.all([buildJavascript(directory, chosenLine), buildCommandLine(directory, chosenLine)])
} else process.exitCode = 1
