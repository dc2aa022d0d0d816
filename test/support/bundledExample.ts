/** Bundles the programs of `examples`. Loaded module by module, as `tsx` does, each takes three seconds of processor time to start. */
import { build } from "esbuild"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = mkdtempSync(join(tmpdir(), "examples-"))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
// Vitest ends its processes with this signal, which would end them without that.
process.once("SIGTERM", () => process.exit())

/** Packages of CommonJS load the modules of Node by `require`. */
const banner =
  "import { createRequire as requireFrom } from \"node:module\"; const require = requireFrom(import.meta.url);"

const bundle = () =>
  build({
    entryPoints: readdirSync("examples").filter((name) => /^\w+\.ts$/.test(name)).map((name) => `examples/${name}`),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true, // a program that imports another one does not become it
    platform: "node",
    target: "node20",
    format: "esm",
    external: ["esbuild"], // for the tenant's live page, which no example serves
    banner: { js: banner },
    logLevel: "error"
  })

let built: ReturnType<typeof bundle> | undefined

/** Bundles them once for each process of the tests, and gives the path of `examples/NAME.ts`. */
export const bundledExample = async (name: string): Promise<string> => {
  await (built ??= bundle())
  return join(folder, `${name}.mjs`)
}
