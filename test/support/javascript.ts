/**
 * The JavaScript of the package. Modules that are always imported together lie in one file, as Node takes its time for each
 * file that it imports; what can be imported alone has a file of its own.
 */
import { build, type BuildOptions } from "esbuild"
import { readdirSync } from "node:fs"
import { join, relative } from "node:path"

const root = join(import.meta.dirname, "../..")

/** What only names others' exports. Bundled, it would hold objects of them, of which a user's bundler can leave nothing out. */
const namespaces = ["src/index.ts", "src/operations/index.ts"]

/** Writes it into a directory, with maps that lead to the sources. */
export const javascript = async (directory: string): Promise<void> => {
  const options: BuildOptions = {
    absWorkingDir: root,
    outbase: "src",
    outdir: relative(root, directory),
    format: "esm",
    platform: "neutral",
    target: "es2022",
    sourcemap: true,
    sourcesContent: false,
    logLevel: "warning"
  }
  const modules = ["src", "src/operations"].flatMap((folder) =>
    readdirSync(join(root, folder)).filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`)
  )
  await build({
    ...options,
    entryPoints: modules.filter((module) => !namespaces.includes(module)),
    bundle: true,
    splitting: true,
    packages: "external",
    chunkNames: "internal/[hash]"
  })
  await build({ ...options, entryPoints: namespaces })
}
