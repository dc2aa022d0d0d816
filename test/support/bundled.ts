/**
 * `tsx test/support/bundled.ts FILE OPTION...`: runs a program from a bundle. `tsx` sets the name of each function that code makes, which
 * takes a quarter of the time of a program that only calculates. In a bundle, all modules have the same `import.meta.url`.
 */
import { build } from "esbuild"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"

const [node = "", , program = "", ...options] = process.argv
const parent = join(import.meta.dirname, "../../.bundled") // within the project, whose packages are found from there
mkdirSync(parent, { recursive: true })
const folder = mkdtempSync(join(parent, "program-"))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))

const file = join(folder, `${basename(program, ".ts")}.mjs`)
await build({
  entryPoints: [program],
  outfile: file,
  bundle: true,
  platform: "node",
  packages: "external",
  format: "esm",
  sourcemap: "inline",
  logLevel: "error"
})
process.setSourceMapsEnabled(true)
process.argv = [node, file, ...options]
await import(pathToFileURL(file).href)
