/** Makes the pages of the second line: what they tell readers to install, and its own sentences. */
import * as fs from "node:fs"
import * as path from "node:path"
import { effect4, lockedPackages } from "../../.ci/line.js"
import { sentences } from "../pages.js"
import { here, root } from "./project.js"

interface Manifest {
  readonly version: string
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const read = (file: string): Manifest => JSON.parse(fs.readFileSync(file, "utf8"))
export const main = read(path.join(root, "package.json"))
export const next = read(path.join(here, "package.json"))

const isEffect = (name: string): boolean => name === "effect" || name.startsWith("@effect/")

/** Packages of Effect 3 that are part of `effect` now. */
export const included = Object.keys(main.peerDependencies).filter((name) =>
  isEffect(name) && !(name in next.devDependencies)
)

export const peers = Object.entries(main.peerDependencies).flatMap(([name, range]) =>
  included.includes(name) ? [] : [[name, isEffect(name) ? next.devDependencies[name] ?? range : range] as const]
)

const inEffect = included.join("|")

/** Changes the versions and packages that a page tells readers to install, and its sentences on Effect 3. */
export const withPackages = (text: string): string => {
  const edited = text
    .replace(new RegExp(` (?:${inEffect})(?:@[\\d.]+)?(?=[ \\n][^|])`, "g"), "")
    .replace(new RegExp(`^\\| \`(?:${inEffect})\`.*\\n`, "gm"), "")
    .replace(/(?<=[ `])(@?[\w-]+(?:\/[\w-]+)?)@\d[\d.]*(?=[ \n`])/g, (word, name: string) => locked(name) ?? word)
    .replace(/^(\| `(.+?)` *\| )`\^.*?`(?= *\|)/gm, (row, start: string, name: string) => {
      const peer = peers.find(([peer]) => peer === name)
      return peer === undefined ? row : `${start}\`${peer[1]}\``
    })
  return sentences.reduce((page, [before, after]) => page.replaceAll(before, after), edited)
}

const locked = (name: string): string | undefined => {
  try {
    return lockedPackages(effect4, name)[0]
  } catch {
    return undefined
  }
}
