/** The licences of all that an installed package brings, from the lockfile: peers, and what they need in turn. */
import { readFileSync } from "node:fs"

interface Locked {
  readonly license?: string
  /** Set of builds for one system. */
  readonly os?: ReadonlyArray<string>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

const { packages }: { packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")
)

/** Where a package finds another: beside its own, or further up. */
const find = (from: string, name: string): string | undefined => {
  const path = `${from === "" ? "" : `${from}/`}node_modules/${name}`
  if (path in packages) return path
  return from === "" ? undefined : find(from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/"))), name)
}

/** Where all lie that these packages need, themselves included. */
const closure = (roots: ReadonlyArray<string>): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (from: string, name: string) => {
    const path = find(from, name)
    const locked = path === undefined ? undefined : packages[path]
    if (path === undefined || locked === undefined) {
      throw new Error(`${name}, which ${from} needs, is not in the lockfile`)
    }
    if (found.has(path)) return
    found.add(path)
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = locked
    const peers = Object.keys(peerDependencies ?? {}).filter((peer) => peerDependenciesMeta?.[peer]?.optional !== true)
    for (const needed of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) visit(path, needed)
  }
  for (const root of roots) visit("", root)
  return found
}

/** Which peers each part of the package needs. */
const needs: Readonly<Record<string, ReadonlyArray<string>>> = {
  "the core": ["effect", "@effect/platform"],
  "`/Node`": ["@effect/platform-node"],
  "`/Redis`": ["ioredis"],
  "`/Tenant`": ["jose"]
}

const told = new Set<string>()

/** Each package once, with its licence, by the first part that needs it. `path` is where it lies, if it is installed. */
export const licences = Object.entries(needs).flatMap(([by, roots]) =>
  [...closure(roots)].filter((path) => !told.has(path) && told.add(path)).map((path) => ({
    by,
    path,
    name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
    licence: packages[path]?.license ?? "none",
    isBuild: packages[path]?.os !== undefined
  }))
)

/** The items of the README's list. The builds of a package for each system are not listed beside it. */
export const items: ReadonlyArray<string> = Object.keys(needs).flatMap((by) => {
  const own = licences.filter((one) => one.by === by && !one.isBuild)
  return [...new Set(own.map(({ licence }) => licence))].sort().map((licence) => {
    const names = own.filter((one) => one.licence === licence).map(({ name }) => name).sort()
    return `- ${by}, ${licence}: ${names.map((name) => `\`${name}\``).join(", ")}`
  })
})
