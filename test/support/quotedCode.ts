/** Copies code into the README and the guides: each block below `<!-- file -->` or `<!-- file: part -->` comes from that file. */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { page, pages } from "./documentation.js"

const root = new URL("../../", import.meta.url)

/** Returns a file, or its part from the comment that begins with `part` to the next comment at the start of a line. */
const cut = (file: string, part: string | undefined): string => {
  const text = readFileSync(new URL(file, root), "utf8")
  if (part === undefined) return text.trim()
  const [found] = text.split(/^(?=\/\/ )/m).filter((piece) => piece.startsWith(`// ${part}`))
  if (found === undefined) throw new Error(`${file} has no part "${part}"`)
  return found.trim()
}

/** Returns a page's text with the current code. */
export const withCode = (path: string): string =>
  page(path).replace(
    /<!-- ([\w./]+)(?:: (.+?))? -->\n\n```ts\n[^]*?```/g,
    (_, file: string, part: string | undefined) =>
      `<!-- ${part === undefined ? file : `${file}: ${part}`} -->\n\n\`\`\`ts\n${cut(file, part)}\n\`\`\``
  )

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const path of pages) writeFileSync(new URL(path, root), withCode(path))
}
