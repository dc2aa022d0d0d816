/**
 * `npm run pages`: copies code and results into the pages, and draws the chart. Each block below
 * `<!-- file -->`, `<!-- file: part -->` or `<!-- file: imports -->` comes from that file.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { plot } from "../bench/calls/plot.js"
import { type Figures, table } from "../bench/calls/result.js"
import { result } from "../bench/results.js"
import { page, pages } from "./documentation.js"

const root = new URL("../../", import.meta.url)

/** The figures of the last full run of `npm run bench`. */
export const figures: Figures = JSON.parse(result("calls.json"))

/** The chart of these figures. */
export const chart = plot(figures)

const results = "test/bench/results/"

/**
 * Returns a file, its imports, or its part from the comment that begins with `part` to the next comment at the start of a line.
 * Figures are returned as their table.
 */
const cut = (file: string, part: string | undefined): string => {
  if (file === `${results}calls.json`) return table(figures)
  if (file.startsWith(results)) return result(file.slice(results.length))
  const text = readFileSync(new URL(file, root), "utf8")
  if (part === undefined) return text.trim()
  if (part === "imports") return (text.match(/^import [^]*? from ".*"$/gm) ?? []).join("\n")
  const [found] = text.split(/^(?=\/\/ )/m).filter((piece) => piece.startsWith(`// ${part}`))
  if (found === undefined) throw new Error(`${file} has no part "${part}"`)
  return found.trim()
}

/** Returns a page's text with the current code and results. */
export const withCode = (path: string): string =>
  page(path).replace(
    /<!-- ([\w./-]+)(?:: (.+?))? -->\n\n```(ts|)\n[^]*?```/g,
    (_, file: string, part: string | undefined, language: string) =>
      `<!-- ${part === undefined ? file : `${file}: ${part}`} -->\n\n\`\`\`${language}\n${cut(file, part)}\n\`\`\``
  )

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const path of pages) writeFileSync(new URL(path, root), withCode(path))
  writeFileSync(new URL(".assets/calls.svg", root), chart)
}
