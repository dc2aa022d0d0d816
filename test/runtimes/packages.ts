/**
 * The runtimes as npm packages that hold their binaries. They weigh 850 MB, so they are no dependencies of the project's:
 * they are installed when they are needed, below `node_modules/.cache`, in the exact versions and by the hashes of
 * `packages/package-lock.json`. To change a version: `npm install --package-lock-only --omit-lockfile-registry-resolved`
 * beside that file.
 */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"

const manifests = join(import.meta.dirname, "packages")
const folder = join(import.meta.dirname, "../../node_modules/.cache/runtimes")

const isWindows = process.platform === "win32" // npm is a script there

/** Installs what there is for this machine, unless it is there. Packages for other machines are left out by npm. */
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

/** Where a program of a package lies for this machine; none if there is no package. */
export const binary = (name: string, path: string): string | undefined => {
  const file = join(folder, "node_modules", `${name}-${machine}`, path)
  return existsSync(file) ? file : undefined
}
