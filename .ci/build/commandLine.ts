/**
 * Bundles the command line with all that it needs but Swagger UI, which would be most of it, so that installing the package brings no
 * other: only `generate` needs packages of its own. The quick commands are one file; each of the others is loaded with what it needs alone.
 */
import { build, type BuildOptions, type Metafile } from "esbuild"
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

/** Writes the command line into `cli` of a directory, with the licences of the packages in it. */
export const buildCommandLine = async (directory: string, { root, target }: Line = effect3): Promise<void> => {
  const options = {
    absWorkingDir: root,
    outbase: "src",
    outdir: directory,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    target,
    legalComments: "linked",
    logLevel: "warning"
  } satisfies BuildOptions
  // The start is one small file: `--version` loads nothing else.
  await build({ ...options, entryPoints: ["src/cli/bin.ts"], external: ["./main.js", "./quick.js"] })
  const whole = {
    ...options,
    external,
    // Modules in CommonJS require Node's own.
    banner: {
      js: "import{createRequire as makeRequire}from\"node:module\";const require=makeRequire(import.meta.url);"
    }
  }
  // A build of its own, so that esbuild leaves out what only other commands use, and one file, because each costs Node a millisecond.
  await build({ ...whole, entryPoints: ["src/cli/quick.ts"] })
  const { metafile } = await build({
    ...whole,
    entryPoints: ["src/cli/main.ts"],
    splitting: true,
    chunkNames: "cli/[name]-[hash]",
    plugins: [finishedPages(root)],
    metafile: true
  })
  const folders = [...packagesIn(metafile), relative(root, pageLibrary)].sort().filter((folder) =>
    existsSync(join(root, folder, "package.json"))
  )
  writeFileSync(join(directory, "cli", "LICENSES.txt"), `${licences(root, folders)}\n`)
}
