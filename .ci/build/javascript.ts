/**
 * The JavaScript of the package. Modules that are always imported together lie in one file, as Node takes its time for each
 * that it imports; what can be imported alone has a name of its own.
 */
import { build, type BuildOptions } from "esbuild"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** What only names others' exports. Bundled, it would hold objects of them, of which a user's bundler can leave nothing out. */
const namespaces = ["src/index.ts", "src/operations/index.ts"]

/** What operations have in common; users cannot import it. */
const shared = "src/operations/schemas.ts"

const modules = ["src", "src/operations"].flatMap((folder) =>
  readdirSync(join(root, folder)).filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`)
)

/** Writes it into a directory, with maps that lead to the sources. */
export const javascript = async (directory: string): Promise<void> => {
  const options = {
    absWorkingDir: root,
    outbase: "src",
    outdir: directory,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    sourcemap: true,
    sourcesContent: false,
    logLevel: "warning"
  } satisfies BuildOptions
  const { outputFiles } = await build({
    ...options,
    entryPoints: modules.filter((module) => module !== shared && !namespaces.includes(module)),
    bundle: true,
    splitting: true,
    packages: "external",
    chunkNames: "internal/[hash]",
    write: false
  })
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    // Importing a module does nothing, so none is imported for that. The line stays: the map counts it.
    writeFileSync(path, text.replace(/^import "\.{1,2}\/.*";$/gm, ""))
  }
  await build({ ...options, entryPoints: namespaces })
}
