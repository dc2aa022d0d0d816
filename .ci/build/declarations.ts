/** Keeps of the declarations what users can reach, and of their maps those to sources that the package contains. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** Folders of public modules. The package contains their sources. */
export const published = ["", "operations"]

const modulesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder).filter((name) => name.endsWith(".d.ts")).map((name) => join(folder, name))

const text = (file: string): string => readFileSync(file, "utf8")

/** Declarations of these modules, and of all that they name. */
const reachable = (modules: ReadonlyArray<string>): ReadonlySet<string> => {
  const found = new Set(modules)
  for (const file of found) { // a set iterates over what is added on the way, too
    for (const [, path = ""] of text(file).matchAll(/(?:from |import ?\(?)"(\.{1,2}\/[^"]+)\.js"/g)) {
      found.add(join(dirname(file), `${path}.d.ts`))
    }
  }
  return found
}

/** Removes the other declarations and maps from a directory. */
export const pruneDeclarations = (directory: string): void => {
  const modules = published.flatMap((folder) => modulesIn(join(directory, folder)))
  const kept = reachable(modules)
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const file = join(directory, name)
    if (!file.endsWith(".d.ts")) continue
    if (!kept.has(file)) rmSync(file)
    if (modules.includes(file)) continue
    rmSync(`${file}.map`)
    if (existsSync(file)) writeFileSync(file, text(file).replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n"))
  }
}
