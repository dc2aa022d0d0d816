/**
 * Installs the runtimes from npm packages with their binaries. They have 850 MB, so they are not dependencies of the project:
 * `npm run test:runtimes` installs the versions of `packages/package-lock.json` below `node_modules/.cache`. To change a version,
 * run `npm install --package-lock-only --omit-lockfile-registry-resolved` in the folder of that file.
 */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"

const manifests = join(import.meta.dirname, "packages")
const folder = join(import.meta.dirname, "../../node_modules/.cache/runtimes")

const isWindows = process.platform === "win32" // npm is a script on Windows

/** Installs the packages for this machine, unless they are installed. npm leaves out those for other machines. */
export const install = async (): Promise<void> => {
  const lock = readFileSync(join(manifests, "package-lock.json"))
  const digest = createHash("sha256").update(lock).digest("hex")
  const stamp = join(folder, "installed")
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of ["package.json", "package-lock.json"]) cpSync(join(manifests, file), join(folder, file))
  const options = ["--ignore-scripts", "--no-audit", "--no-fund"]
  await promisify(execFile)("npm", ["ci", ...options], { cwd: folder, shell: isWindows })
  writeFileSync(stamp, digest)
}

const machine = `${process.platform}-${process.arch}`

/** Returns the path of a package's program; `undefined` if there is no package for this machine. */
export const binary = (name: string, path: string): string | undefined => {
  const file = join(folder, "node_modules", `${name}-${machine}`, path)
  return existsSync(file) ? file : undefined
}
