/** `npm run docs`: writes the site to `.docs/html`: a front page, the guides, a page for each operation, and the reference. */
import { Struct } from "effect"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"
import { Application, Comment, Converter, ReflectionKind } from "typedoc"
import { operations } from "../../test/support/operations.js"
import { adaptComments, withoutContract } from "./comments.js"
import { guide, guides, projectPage, projectPages, sectionsOfReadme } from "./guides.js"
import { docstring, example, linkToModule, page } from "./operationPage.js"
import { makeTheme } from "./theme.js"

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

const { exports, name: core }: {
  readonly name: string
  readonly exports: Readonly<Record<string, { types?: string }>>
} = JSON.parse(readFileSync(at("package.json"), "utf8"))

/** The modules in the order in which one reads about them. */
const readingOrder = [
  "index",
  "IdentityClient",
  "Errors",
  "TokenProvider",
  "RateLimiter",
  "Retry",
  "Pagination",
  "Deliveries",
  "Redelivery",
  "Actions",
  "Exports",
  "Jobs",
  "Cluster",
  "Node",
  "Tenant",
  "Testing",
  "Operation",
  "Schemas",
  "Endpoint",
  "Timestamp",
  "Fleet",
  "SharedStore",
  "Redis"
]

const modules = Object.values(exports).flatMap(({ types }) => types?.replace(/^\.\/dist\/(.*)\.d\.ts$/, "$1") ?? [])
if (modules.toSorted().join() !== readingOrder.toSorted().join()) {
  throw new Error(
    `.ci/docs/build.ts: readingOrder must have exactly the modules of package.json: ${modules.join(", ")}`
  )
}

/** Modules that users can import, each with its source file. */
const entries = readingOrder.map((name) => ({
  module: name === "index" ? core : `${core}/${name}`,
  file: `src/${name}.ts`
}))

/** Returns the comment at the top of a file. */
const header = (file: string) =>
  withoutContract(
    /^\/\*\*([^]*?)\*\//.exec(readFileSync(at(file), "utf8"))?.[1]?.replace(/\n \* ?/g, "\n").trim() ?? ""
  )

const write = (path: string, text: string) => writeFileSync(at(path), text)

const firstSentence = (text: string) => /^[^]*?\.(?=\s|$)/.exec(text)?.[0].replace(/\s+/g, " ") ?? text

for (const folder of [".docs/pages", ".docs/examples", ".docs/html"]) {
  rmSync(at(folder), { recursive: true, force: true })
  mkdirSync(at(folder), { recursive: true })
}

for (const name of guides) write(`.docs/pages/${name}.md`, guide(name))

const projectNames = Struct.keys(projectPages)
for (const name of projectNames) write(`.docs/pages/${name}.md`, projectPage(name))

for (const { endpoint } of operations) {
  write(`.docs/pages/${endpoint.name}.md`, page(endpoint))
  write(`.docs/examples/${endpoint.name}.ts`, example(endpoint))
}

const operationList = operations.map(({ endpoint: { name } }) =>
  `- [${name}](${name}.md): ${firstSentence(docstring(`operations/${name}.ts`, name))}`
)

const moduleList = entries.map(({ file, module }) => `- ${linkToModule(module)}: ${firstSentence(header(file))}`)

write(
  ".docs/pages/front.md",
  readFileSync(at(".ci/docs/front.md"), "utf8")
    .replace("<!-- introduction -->", () => sectionsOfReadme("Install", "A first call", "Guides"))
    .replace("<!-- operations -->", operationList.join("\n"))
    .replace("<!-- modules -->", moduleList.join("\n"))
)

const app = await Application.bootstrap({
  name: core,
  entryPoints: entries.map(({ file }) => at(file)),
  tsconfig: at(".ci/build/tsconfig.json"),
  readme: at(".docs/pages/front.md"),
  projectDocuments: [...guides, ...operations.map(({ endpoint }) => endpoint.name), ...projectNames].map((name) =>
    at(`.docs/pages/${name}.md`)
  ),
  router: "structure",
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  searchInComments: true,
  searchInDocuments: true,
  useFirstParagraphOfCommentAsSummary: true,
  theme: "site",
  sort: ["source-order"],
  navigation: { includeGroups: true, includeCategories: false },
  validation: { notExported: true, invalidLink: true, invalidPath: true, rewrittenLink: true, notDocumented: true },
  // Helper types whose result is shown where they are used.
  intentionallyNotExported: [
    "AllFields",
    "AnyOperation",
    "BodyKind",
    "ByteStream",
    "Check",
    "ClientCall",
    "Declared",
    "exportReasons",
    "Extends",
    "FailedDeployment",
    "IsPaged",
    "IsUnion",
    "ItemsOf",
    "Limiter",
    "Lists",
    "Part",
    "Placeholder",
    "Result",
    "SharedNames",
    "SuccessOf",
    "Tokens",
    "Unbranded",
    "ValidatedCheck",
    "ValidatedHeaders"
  ],
  requiredToBeDocumented: [
    "Module",
    "Namespace",
    "Variable",
    "Function",
    "Class",
    "Interface",
    "TypeAlias"
  ],
  treatWarningsAsErrors: true,
  treatValidationWarningsAsErrors: true,
  hideGenerator: true,
  customCss: at(".ci/docs/style.css")
})

// Gives each module its import name and the comment at the top of its file.
app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_context, reflection) => {
  if (!reflection.kindOf([ReflectionKind.Module, ReflectionKind.Namespace])) return
  reflection.comment ??= new Comment([{ kind: "text", text: header(`src/${reflection.name}.ts`) }])
  const entry = entries.find(({ file }) => file === `src/${reflection.name}.ts`)
  if (entry !== undefined) reflection.name = entry.module
})

app.converter.on(
  Converter.EVENT_RESOLVE_BEGIN,
  ({ project }) => {
    adaptComments(project, operations.map(({ endpoint: { name } }) => name))
    // A module that another one exports has its line there, too.
    for (const reflection of Object.values(project.reflections)) {
      if (!reflection.isReference()) continue
      const file = entries.find(({ module }) => module === reflection.tryGetTargetReflection()?.name)?.file
      if (file !== undefined) reflection.comment ??= new Comment([{ kind: "text", text: firstSentence(header(file)) }])
    }
  }
)
app.renderer.defineTheme("site", makeTheme(core, entries.map(({ module }) => module)))

const out = at(".docs/html")
const project = await app.convert()
if (project === undefined) process.exit(1)
app.validate(project)
await app.generateDocs(project, out)
console.log(`${relative(process.cwd(), out)}/index.html`)
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1)
