/** Makes the second line's package of what was written: its `package.json` and its pages. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { effect4, lockedPackages } from "../../.ci/line.js"
import { sentences } from "../pages.js"
import { write } from "./output.js"
import { filesIn, here, out, root } from "./project.js"

interface Manifest {
  readonly version: string
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const read = (file: string): Manifest => JSON.parse(fs.readFileSync(file, "utf8"))
const main = read(path.join(root, "package.json"))
const next = read(path.join(here, "package.json"))

const isEffect = (name: string): boolean => name === "effect" || name.startsWith("@effect/")

/** Packages of Effect 3 that are part of `effect` now. */
const included = Object.keys(main.peerDependencies).filter((name) => isEffect(name) && !(name in next.devDependencies))

const peers = Object.entries(main.peerDependencies).flatMap(([name, range]) =>
  included.includes(name) ? [] : [[name, isEffect(name) ? next.devDependencies[name] ?? range : range] as const]
)

/** The main line's, with other versions, and without what only a clone of the repository needs. */
const manifest = () => {
  const { devDependencies: _, ...all } = main
  const meta = Object.entries(main.peerDependenciesMeta).filter(([name]) => !included.includes(name))
  return JSON.stringify(
    {
      ...all,
      version: next.version,
      scripts: undefined,
      overrides: undefined,
      allowScripts: undefined,
      peerDependencies: Object.fromEntries(peers),
      peerDependenciesMeta: Object.fromEntries(meta),
      engines: { node: ">=22" }
    },
    undefined,
    2
  )
}

/** The version of the package in a source, which the requests name. */
export const withVersion = (text: string): string =>
  text.replace(`version = "${main.version}"`, `version = "${next.version}"`)

const inEffect = included.join("|")

/** Changes the versions and packages that a page tells readers to install, and its sentences on Effect 3. */
const withPackages = (text: string): string => {
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

/** Writes all but the sources. */
export const writePackage = (): void => {
  write("package.json", `${manifest()}\n`)
  const files = ["LICENSE", "README.md", "tsconfig.json", ...filesIn(".assets"), ...filesIn(".github")]
  for (const file of files) write(file, fs.readFileSync(path.join(root, file)))
  const pages = [...files, ...filesIn("examples"), "test/README.md", "test/bench/README.md"].filter((file) =>
    file.endsWith(".md")
  )
  const texts = pages.map((page) => [page, fs.readFileSync(path.join(root, page), "utf8")] as const)
  for (const [before] of sentences) {
    if (!texts.some(([, text]) => text.includes(before))) throw new Error(`.effect4/pages.ts: no page says “${before}”`)
  }
  for (const [page, text] of texts) write(page, withPackages(text))
  // Copies the code of the converted examples into the pages.
  run(out, effect4.node, path.join(root, "node_modules/tsx/dist/cli.mjs"), "test/support/quotedCode.ts")
}

/** Builds the package and packs it. */
export const pack = (): void => {
  run(root, process.execPath, "node_modules/tsx/dist/cli.mjs", ".ci/build/build.ts", "--effect4")
  run(out, "npm", "pack", "--ignore-scripts", "--silent")
}

const run = (cwd: string, command: string, ...args: ReadonlyArray<string>): void => {
  const { status } = spawnSync(command, args, {
    cwd,
    stdio: "inherit",
    shell: command === "npm" && process.platform === "win32"
  })
  if (status !== 0) throw new Error(`${args.join(" ")} failed`)
}
