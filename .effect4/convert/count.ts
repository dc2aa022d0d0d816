/** Counts the lines of the replacements that the converter would not write. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { here } from "./project.js"

/**
 * Compares each replacement with what the converter makes of its module: prints the lines that only the replacement has, and their sum.
 * Modules that the main line does not have are named, but replace nothing. Prints the differences, too, where the path begins so.
 */
export const count = (
  replacements: ReadonlyArray<string>,
  convert: (file: string) => string | undefined,
  prefixes: ReadonlyArray<string>
): void => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "effect4-"))
  const converted = path.join(folder, "converted")
  const diff = (option: string, file: string): string =>
    spawnSync("git", ["diff", "--no-index", "--minimal", option, converted, path.join(here, "replacements", file)], {
      encoding: "utf8"
    }).stdout
  const counts = replacements.flatMap((file) => {
    const text = convert(file)
    if (text === undefined) {
      console.log(`(new)\t${file}`)
      return []
    }
    fs.writeFileSync(converted, text)
    if (prefixes.some((prefix) => file.startsWith(prefix))) console.log(diff("--unified=1", file))
    return [[file, Number(diff("--numstat", file).split("\t")[0])] as const]
  })
  fs.rmSync(folder, { recursive: true })
  for (const [file, lines] of [...counts].sort(([, a], [, b]) => b - a)) console.log(`${lines}\t${file}`)
  console.log(`${counts.reduce((sum, [, lines]) => sum + lines, 0)} lines differ`)
}
