/**
 * Puts the guides, the pages about the project and the front page into the site. Links lead to its own pages and modules, and other
 * links of the repository become text.
 */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path/posix"
import { fileURLToPath } from "node:url"
import { operations } from "../../test/support/operations.js"

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

/** The pages about the project, by their names on the site. */
export const projectPages = {
  tests: "test/README.md",
  benchmarks: "test/bench/README.md",
  contributing: ".github/CONTRIBUTING.md",
  changelog: ".github/CHANGELOG.md",
  reporting: ".github/SECURITY.md"
} as const

const operationNames = operations.map(({ endpoint: { name } }) => name)

/** The name on the site of a page of the repository. */
const nameOnSite = (path: string): string | undefined => {
  const [, guide] = /^examples\/guides\/([\w-]+)\.md$/.exec(path) ?? []
  if (guide !== undefined && guides.includes(guide)) return guide
  const [, operation] = /^examples\/operations\/(\w+)\.md$/.exec(path) ?? []
  if (operation !== undefined && operationNames.includes(operation)) return operation
  return Object.entries(projectPages).find(([, file]) => file === path)?.[0]
}

/** The module of a source file that users can import. */
const moduleOf = (path: string): string | undefined => {
  const [, name] = /^src\/(\w+)\.ts$/.exec(path) ?? []
  return name === undefined ? undefined : name === "index" ? "effect-identity-client" : `effect-identity-client/${name}`
}

/** Splits Markdown into text and fenced code, in turn. */
const fences = /^(```[^]*?^```$)/gm

/** Adapts the links of a page at a path of the repository to the site, where all pages lie in one folder. */
const adaptLinks = (page: string, markdown: string): string =>
  markdown.split(fences).map((part, nth) =>
    nth % 2 === 1 ?
      part :
      part.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (link, image: string, text: string, to: string) => {
        if (image !== "") return `![${text}](../../.assets/${to.split("/").at(-1)})`
        if (/^(?:[a-z]+:|#)/.test(to)) return link
        const [path = "", anchor] = to.split("#")
        const target = join(dirname(page), path)
        const [name, module] = [nameOnSite(target), moduleOf(target)]
        if (name !== undefined) return `[${text}](${name}.md${anchor === undefined ? "" : `#${anchor}`})`
        return module === undefined ? text : `{@link "${module}"! ${text}}`
      })
  ).join("")

const pageOfSite = (title: string, group: string, path: string): string =>
  `---\ntitle: ${title}\ngroup: ${group}\n---\n\n${adaptLinks(path, readFileSync(at(path), "utf8"))}`

/** Returns a guide as a page of the site. */
export const guide = (name: string): string => pageOfSite(name, "Guides", `examples/guides/${name}.md`)

/** Returns a page about the project as a page of the site. */
export const projectPage = (name: keyof typeof projectPages): string => pageOfSite(name, "Project", projectPages[name])

/** Returns the introduction of the README and those of its sections that have these headings. */
export const sectionsOfReadme = (...headings: ReadonlyArray<string>): string => {
  const [introduction = "", ...sections] = readme.split(/^(?=## )/m)
  const found = headings.map((heading) => {
    const section = sections.find((section) => section.startsWith(`## ${heading}\n`))
    if (section === undefined) throw new Error(`the README has no section "${heading}"`)
    return section
  })
  return adaptLinks("README.md", [introduction.replace(/^# .*\n/, ""), ...found].join(""))
}
