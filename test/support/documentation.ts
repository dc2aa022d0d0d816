/** The README, the guides, and the pages for maintainers. */
import { readdirSync, readFileSync } from "node:fs"

const root = new URL("../../", import.meta.url)

/** The paths of all pages, from the root. */
export const pages = [
  "README.md",
  ...readdirSync(new URL("examples/guides/", root)).sort().map((name) => `examples/guides/${name}`),
  ...readdirSync(new URL("examples/operations/", root)).filter((name) => name.endsWith(".md")).sort().map((name) =>
    `examples/operations/${name}`
  ),
  ...readdirSync(new URL(".github/", root)).filter((name) => name.endsWith(".md")).sort().map((name) =>
    `.github/${name}`
  ),
  "test/README.md",
  "test/bench/README.md"
]

/** Reads a page. */
export const page = (path: string): string => readFileSync(new URL(path, root), "utf8")

/** Reads a guide. */
export const guide = (name: string): string => page(`examples/guides/${name}.md`)

/** The text of all pages. */
export const documentation = pages.map(page).join("\n")
