/** Makes the second line's package of what was written: its `package.json` and its pages. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { effect4 } from "../../.ci/line.js"
import { sentences } from "../pages.js"
import { write } from "./output.js"
import { included, main, next, peers, withPackages } from "./page.js"
import { filesIn, out, root } from "./project.js"

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
