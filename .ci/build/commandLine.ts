/**
 * Bundles the command line with all that it needs but Swagger UI, which would be most of it, so that installing the package brings no
 * other: only `generate` needs packages of its own. Each command is loaded with what it needs alone.
 */
import { build, type Metafile, type Plugin } from "esbuild"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { effect3, type Line } from "../line.js"
import { finishedPages, pageLibrary } from "./pages.js"

/** Packages of `generate`, which it loads if they are installed, and the module with Swagger UI, whose package is a peer. */
const external = [
  "@effect/platform/HttpApiSwagger",
  "effect/http-api/HttpApiSwagger", // of Effect 4
  "@seriousme/openapi-schema-validator",
  "@dprint/formatter",
  "@dprint/typescript",
  "yaml"
]

/** Folders of the packages that are in a bundle. */
const packagesIn = ({ inputs }: Metafile): ReadonlyArray<string> =>
  [
    ...new Set(Object.keys(inputs).flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []))
  ].sort()

/** The licences of these packages, which have to come with their code. */
const licences = (root: string, folders: ReadonlyArray<string>): string =>
  folders.map((folder) => {
    const { license, name, version }: Record<"license" | "name" | "version", string> = JSON.parse(
      readFileSync(join(root, folder, "package.json"), "utf8")
    )
    const file = readdirSync(join(root, folder)).find((file) => /^licen[cs]e/i.test(file))
    const text = file === undefined ? "" : readFileSync(join(root, folder, file), "utf8").trim()
    return `${name} ${version} (${license})\n\n${text}`.trim()
  }).join(`\n\n${"-".repeat(72)}\n\n`)

/**
 * The parts of undici that `src/node` and the platform use. All of undici would be a third of the command line, and commands without it would
 * load it, too.
 */
const undici = `import api from "undici/lib/api/index.js"
import Dispatcher from "undici/lib/dispatcher/dispatcher.js"
Object.assign(Dispatcher.prototype, api) // as undici's own index does
export { default as buildConnector } from "undici/lib/core/connect.js"
export { default as Agent } from "undici/lib/dispatcher/agent.js"
export { default as Client } from "undici/lib/dispatcher/client.js"
export { default as Pool } from "undici/lib/dispatcher/pool.js"
export { default as ProxyAgent } from "undici/lib/dispatcher/proxy-agent.js"
export { getGlobalDispatcher } from "undici/lib/global.js"
export { FormData } from "undici/lib/web/fetch/formdata.js"
export default undefined // nobody uses all of it by one name`

/**
 * Puts these parts in place of undici, and of the platform's module with it. What the platform imports is a module of its own: else esbuild
 * would load undici with all that imports the platform's clients.
 */
const partsOfUndici = (root: string): Plugin => ({
  name: "parts-of-undici",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(?:@effect\/platform-node\/U|u)ndici$/ }, ({ importer }) => ({
      path: importer.includes("node_modules") ? "platform" : "src",
      namespace: "undici"
    }))
    onLoad({ filter: /./, namespace: "undici" }, () => ({ contents: undici, resolveDir: root }))
  }
})

/** The files that a command loads. */
const loadedBy = ({ outputs }: Metafile, command: string): ReadonlyArray<string> => {
  const [first = ""] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === command) ?? []
  const files = new Set([first])
  for (const file of files) { // a set iterates over what is added on the way, too
    for (const { kind, path } of outputs[file]?.imports ?? []) if (kind === "import-statement") files.add(path)
  }
  return [...files].flatMap((file) => Object.keys(outputs[file]?.inputs ?? {}))
}

/** Writes the command line into `cli` of a directory, with the licences of the packages in it. */
export const buildCommandLine = async (directory: string, { root, target }: Line = effect3): Promise<void> => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/cli/bin.ts"],
    outbase: "src",
    outdir: directory,
    chunkNames: "cli/[name]-[hash]",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "node",
    target,
    external,
    // Modules in CommonJS require Node's own.
    banner: {
      js: "import{createRequire as makeRequire}from\"node:module\";const require=makeRequire(import.meta.url);"
    },
    legalComments: "linked",
    plugins: [finishedPages(root), partsOfUndici(root)],
    metafile: true,
    logLevel: "warning"
  })
  const loaded = loadedBy(metafile, "src/cli/commands/versions.ts")
  if (loaded.length === 0 || loaded.some((file) => file.includes("node_modules/undici/"))) {
    throw new Error("commands over Node's own HTTP load undici, too")
  }
  const folders = [...packagesIn(metafile), relative(root, pageLibrary)].sort().filter((folder) =>
    existsSync(join(root, folder, "package.json"))
  )
  writeFileSync(join(directory, "cli", "LICENSES.txt"), `${licences(root, folders)}\n`)
}
