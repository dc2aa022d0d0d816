/** `npm run build`: what is published, in `dist`: JavaScript, declarations, and the maps of both. */
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { javascript } from "./javascript.js"

const root = join(import.meta.dirname, "../..")
const directory = join(root, "dist")

rmSync(directory, { recursive: true, force: true })
const tsc = join(root, "node_modules/typescript/bin/tsc")
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, ".ci/build")], { stdio: "inherit" })
if (status === 0) await javascript(directory)
else process.exitCode = 1
