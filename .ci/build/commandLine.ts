/**
 * Bundles the command line with all that it needs, so that installing the package brings no other: only `generate` needs packages
 * of its own. Each command is loaded with what it needs alone.
 */
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** Packages of `generate`, which it loads if they are installed. */
const external = [
  "@seriousme/openapi-schema-validator",
  "@dprint/formatter",
  "@dprint/typescript",
  "yaml",
  // Three megabytes for the page of the tenant, from a peer that is always installed.
  "@effect/platform/HttpApiScalar"
]

/**
 * Gives `src/cli/client.ts` a copy of the platform's module for clients, from which undici is removed, since nothing there uses it.
 * With one module for all commands, each of them would load undici.
 */
const withoutUndici: Plugin = {
  name: "without undici",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /\/NodeHttpClient$/ }, async ({ importer, kind, path, pluginData, resolveDir }) => {
      if (pluginData === "resolving" || !importer.endsWith(join("cli", "client.ts"))) return undefined
      const resolved = await resolve(path, { importer, kind, pluginData: "resolving", resolveDir })
      return { ...resolved, suffix: "?without-undici" }
    })
  }
}

/** Folders of the packages that are in a bundle. */
const packagesIn = ({ inputs }: Metafile): ReadonlyArray<string> =>
  [
    ...new Set(Object.keys(inputs).flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []))
  ].sort()

/** The licences of these packages, which have to come with their code. */
const licences = (folders: ReadonlyArray<string>): string =>
  folders.map((folder) => {
    const { license, name, version }: Record<"license" | "name" | "version", string> = JSON.parse(
      readFileSync(join(root, folder, "package.json"), "utf8")
    )
    const file = readdirSync(join(root, folder)).find((file) => /^licen[cs]e/i.test(file))
    const text = file === undefined ? "" : readFileSync(join(root, folder, file), "utf8").trim()
    return `${name} ${version} (${license})\n\n${text}`.trim()
  }).join(`\n\n${"-".repeat(72)}\n\n`)

/** Writes the command line into `cli` of a directory, with the licences of the packages in it. */
export const buildCommandLine = async (directory: string): Promise<void> => {
  const options = {
    absWorkingDir: root,
    outbase: "src",
    outdir: directory,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node20",
    legalComments: "linked",
    logLevel: "warning"
  } satisfies BuildOptions
  // The start is one small file: `--version` loads nothing else.
  await build({ ...options, entryPoints: ["src/cli/bin.ts"], external: ["./main.js"] })
  const { metafile } = await build({
    ...options,
    entryPoints: ["src/cli/main.ts"],
    splitting: true,
    external,
    chunkNames: "cli/[name]-[hash]",
    // Modules in CommonJS require Node's own.
    banner: {
      js: "import{createRequire as makeRequire}from\"node:module\";const require=makeRequire(import.meta.url);"
    },
    metafile: true,
    plugins: [withoutUndici]
  })
  const folders = packagesIn(metafile).filter((folder) => existsSync(join(root, folder, "package.json")))
  writeFileSync(join(directory, "cli", "LICENSES.txt"), `${licences(folders)}\n`)
}
