/** Puts the guides and the front page into the site: links lead to its own pages, and other links of the repository become text. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

const readme = readFileSync(at("README.md"), "utf8")

/** The names of the guides, in the order in which the README first links to them below its heading "Guides". */
export const guides: ReadonlyArray<string> = [
  ...new Set(
    Array.from(
      readme.slice(readme.indexOf("\n## Guides")).matchAll(/\]\(examples\/guides\/([\w-]+)\.md/g),
      ([, name = ""]) => name
    )
  )
]

const files = readdirSync(at("examples/guides")).map((file) => file.replace(/\.md$/, ""))
const unlisted = files.filter((file) => !guides.includes(file))
if (unlisted.length > 0) throw new Error(`the README's list of guides lacks ${unlisted.join(", ")}`)

/** Splits Markdown into text and fenced code, in turn. */
const fences = /^(```[^]*?^```$)/gm

/** Adapts the links of a page of the repository to the site, where all pages lie in one folder. */
const adaptLinks = (markdown: string): string =>
  markdown.split(fences).map((part, nth) =>
    nth % 2 === 1 ?
      part :
      part.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (link, image: string, text: string, to: string) => {
        const guide = /(?:^|\/)([\w-]+)\.md(#.*)?$/.exec(to)
        if (image !== "") return `![${text}](../../.assets/${to.split("/").at(-1)})`
        if (/^(?:[a-z]+:|#)/.test(to)) return link
        if (guide !== null && guides.includes(guide[1] ?? "")) return `[${text}](${guide[1]}.md${guide[2] ?? ""})`
        return text
      })
  ).join("")

/** Returns a guide as a page of the site. */
export const guide = (name: string): string =>
  `---\ntitle: ${name}\ngroup: Guides\n---\n\n${adaptLinks(readFileSync(at(`examples/guides/${name}.md`), "utf8"))}`

/** Returns the introduction of the README and those of its sections that have these headings. */
export const sectionsOfReadme = (...headings: ReadonlyArray<string>): string => {
  const [introduction = "", ...sections] = readme.split(/^(?=## )/m)
  const found = headings.map((heading) => {
    const section = sections.find((section) => section.startsWith(`## ${heading}\n`))
    if (section === undefined) throw new Error(`the README has no section "${heading}"`)
    return section
  })
  return adaptLinks([introduction.replace(/^# .*\n/, ""), ...found].join(""))
}
