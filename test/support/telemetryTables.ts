/** Reads the names in the README's section on telemetry; the library must not use others. */
import { readFileSync } from "node:fs"

const [, section = ""] = /^## Telemetry\n([^]*?)^## /m.exec(readFileSync("README.md", "utf8")) ?? []

/** Maps the names in the first column of the table with this header to their rows. */
export const table = (title: string): ReadonlyMap<string, string> => {
  const [, rows = ""] = new RegExp(`^\\| ${title} .*\\n\\| -.*\\n((?:\\|.*\\n)+)`, "m").exec(section) ?? []
  return new Map(
    rows.trim().split("\n").flatMap((row) => {
      const [, names = ""] = row.split("|")
      return [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => [name, row] as const)
    })
  )
}
