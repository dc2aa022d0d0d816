/** Reads the names in the guide to telemetry; the library must not use others. */
import { guide } from "./documentation.js"

const section = guide("telemetry")

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
