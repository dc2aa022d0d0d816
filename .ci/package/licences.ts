/** Licences of the peer dependencies and of their dependencies, read from the lockfile. */
import { readFileSync } from "node:fs"

/** Entry of the lockfile. */
interface LockedPackage {
  readonly license?: string
  /** Present in a build for certain systems only. */
  readonly os?: ReadonlyArray<string>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

const { packages }: { packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
  readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")
)

/** Resolves a dependency like Node: below the package itself, then below each parent. */
const resolve = (from: string, name: string): string | undefined => {
  const path = `${from === "" ? "" : `${from}/`}node_modules/${name}`
  if (path in packages) return path
  return from === "" ? undefined : resolve(from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/"))), name)
}

/** Paths of these packages and of all their dependencies. */
const closure = (roots: ReadonlyArray<string>): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (from: string, name: string) => {
    const path = resolve(from, name)
    const locked = path === undefined ? undefined : packages[path]
    if (path === undefined || locked === undefined) {
      throw new Error(`package-lock.json lacks ${name}, a dependency of ${from}`)
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

/** Peers by the part of the package that needs them. */
const needs: Readonly<Record<string, ReadonlyArray<string>>> = {
  "the core": ["effect", "@effect/platform"],
  "`/Node`": ["@effect/platform-node"],
  "`/Cluster`": [
    "@effect/cluster",
    "@effect/experimental",
    "@effect/rpc",
    "@effect/sql",
    "@effect/sql-pg",
    "@effect/workflow"
  ],
  "`/Redis`": ["ioredis"],
  "`/Tenant`": ["jose"],
  "the command `generate`": [
    "@dprint/formatter",
    "@dprint/typescript",
    "@seriousme/openapi-schema-validator",
    "yaml"
  ]
}

const listed = new Set<string>()

/** Each package once, with its licence and the first part that needs it. `path` is its folder, if it is installed. */
export const licences = Object.entries(needs).flatMap(([by, roots]) =>
  [...closure(roots)].filter((path) => !listed.has(path) && listed.add(path)).map((path) => ({
    by,
    path,
    name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
    licence: packages[path]?.license ?? "none",
    isBuild: packages[path]?.os !== undefined
  }))
)

/** Items of the list in the guide to the package, without a package's builds for single systems. */
export const items: ReadonlyArray<string> = Object.keys(needs).flatMap((by) => {
  const own = licences.filter((one) => one.by === by && !one.isBuild)
  return [...new Set(own.map(({ licence }) => licence))].sort().map((licence) => {
    const names = [...new Set(own.filter((one) => one.licence === licence).map(({ name }) => name))].sort()
    return `- ${by}, ${licence}: ${names.map((name) => `\`${name}\``).join(", ")}`
  })
})
