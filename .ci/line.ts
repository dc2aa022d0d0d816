/**
 * The two lines of the package: the one for Effect 3, and the one for Effect 4, whose sources `npm run effect4` writes. The option
 * `--effect4` of a command chooses the second.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"

export interface Line {
  /** The folder of its `package.json`, `src` and `examples`. */
  readonly root: string
  /** The lowest version of Node that it runs on, as esbuild names it. */
  readonly target: string
  /** The program that runs it. */
  readonly node: string
  /** Lockfiles with the versions that it is developed with, the first that has a package counts. */
  readonly locks: ReadonlyArray<string>
  /** Peers of its core, without which nothing can be imported. */
  readonly corePeers: ReadonlyArray<string>
}

const root = join(import.meta.dirname, "..")
const beside = join(root, ".effect4")

export const effect3: Line = {
  root,
  target: "node20",
  node: process.execPath,
  locks: [join(root, "package-lock.json")],
  corePeers: ["effect", "@effect/platform"]
}

export const effect4: Line = {
  root: join(beside, "out"),
  target: "node22",
  node: join(beside, "node_modules/.bin/node"),
  locks: [join(beside, "package-lock.json"), join(root, "package-lock.json")],
  corePeers: ["effect"]
}

/** The line that the command's options choose. */
export const chosenLine: Line = process.argv.includes("--effect4") ? effect4 : effect3

/** Returns the versions of packages that a line is developed with, as `name@version`. */
export const lockedPackages = ({ locks }: Line, ...names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const files = locks.map((file): { readonly packages: Record<string, { readonly version: string }> } =>
    JSON.parse(readFileSync(file, "utf8"))
  )
  return names.map((name) => {
    const entry = files.map(({ packages }) => packages[`node_modules/${name}`]).find((entry) => entry !== undefined)
    if (entry === undefined) throw new Error(`${name} is in no lockfile`)
    return `${name}@${entry.version}`
  })
}
