/** The names that the README's section on telemetry lists: whatever is not among them must not be seen. */
import { readFileSync } from "node:fs"

const [, section = ""] = /^## Telemetry\n([^]*?)^## /m.exec(readFileSync("README.md", "utf8")) ?? []

/** The names in the first column of the table whose header begins with `title`, and all that the row has. */
export const table = (title: string): ReadonlyMap<string, string> => {
  const [, rows = ""] = new RegExp(`^\\| ${title} .*\\n\\| -.*\\n((?:\\|.*\\n)+)`, "m").exec(section) ?? []
  return new Map(
    rows.trim().split("\n").flatMap((row) => {
      const [, names = ""] = row.split("|")
      return [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => [name, row] as const)
    })
  )
}
