/** Copies code into the README: each block below `<!-- file -->` or `<!-- file: part -->` comes from that file. */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = new URL("../../", import.meta.url)
const path = new URL("README.md", root)

/** Returns a file, or its part from the comment that begins with `part` to the next comment at the start of a line. */
const cut = (file: string, part: string | undefined): string => {
  const text = readFileSync(new URL(file, root), "utf8")
  if (part === undefined) return text.trim()
  const [found] = text.split(/^(?=\/\/ )/m).filter((piece) => piece.startsWith(`// ${part}`))
  if (found === undefined) throw new Error(`${file} has no part "${part}"`)
  return found.trim()
}

/** Returns the README's current and expected text. */
export const readme = (): { readonly actual: string; readonly expected: string } => {
  const actual = readFileSync(path, "utf8")
  return {
    actual,
    expected: actual.replace(
      /<!-- ([\w./]+)(?:: (.+?))? -->\n\n```ts\n[^]*?```/g,
      (_, file: string, part: string | undefined) =>
        `<!-- ${part === undefined ? file : `${file}: ${part}`} -->\n\n\`\`\`ts\n${cut(file, part)}\n\`\`\``
    )
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(path, readme().expected)
