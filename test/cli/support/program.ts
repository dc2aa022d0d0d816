/** Bundles the command, as the package does. Loaded module by module, as `tsx` does, it takes two seconds of processor time to start. */
import { build } from "esbuild"
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"

// Inside the project, so that the packages of `generate` are found.
const packages = resolve("node_modules")
mkdirSync(packages, { recursive: true })
const folder = mkdtempSync(join(packages, ".command-"))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
// Vitest ends its processes with this signal, which would end them without that.
process.once("SIGTERM", () => process.exit())

/** Packages of CommonJS load the modules of Node by `require`. */
const banner =
  "import { createRequire as requireFrom } from \"node:module\"; const require = requireFrom(import.meta.url);"

const bundle = async () => {
  // It reads its version from there.
  cpSync("package.json", join(folder, "package.json"))
  await build({
    entryPoints: ["src/cli/bin.ts"],
    outbase: "src",
    outdir: join(folder, "dist"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node20",
    format: "esm",
    external: ["esbuild", "@seriousme/openapi-schema-validator", "@dprint/formatter", "@dprint/typescript", "yaml"],
    banner: { js: banner },
    logLevel: "error"
  })
}

let built: ReturnType<typeof bundle> | undefined

/** Bundles it once for each process of the tests, and gives the words that start it. */
export const bundledCommand = async (): Promise<readonly [node: string, file: string]> => {
  await (built ??= bundle())
  return [process.execPath, join(folder, "dist", "cli", "bin.mjs")]
}
