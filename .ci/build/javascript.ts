/**
 * Bundles the JavaScript of the package. Modules that are always imported together share one file, because Node needs time for
 * each file; each module that users can import keeps its own name. A bundler for libraries such as tsup, which is esbuild with
 * the same options, would leave no namespace unbundled in the same build, and keep imports without names.
 */
import { build, type BuildOptions } from "esbuild"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { effect3, type Line } from "../line.js"
import { published } from "./declarations.js"
import { finishedPages } from "./pages.js"

/** Modules that only re-export. Bundled, they would hold objects of exports, from which a user's bundler can remove nothing. */
const namespaces = ["src/index.ts", "src/operations/index.ts"]

const modulesIn = (root: string): ReadonlyArray<string> =>
  published.map((folder) => posix.join("src", folder)).flatMap((folder) =>
    readdirSync(join(root, folder)).filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`)
  )

/** Writes the JavaScript into a directory. */
export const buildJavascript = async (directory: string, { root }: Line = effect3): Promise<void> => {
  const options = {
    absWorkingDir: root,
    outbase: "src",
    outdir: directory,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    logLevel: "warning"
  } satisfies BuildOptions
  const { outputFiles } = await build({
    ...options,
    entryPoints: modulesIn(root).filter((module) => !namespaces.includes(module)),
    bundle: true,
    splitting: true,
    packages: "external",
    chunkNames: "internal/[hash]",
    plugins: [finishedPages(root)],
    write: false
  })
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    // No module has side effects, so an import without names is removed.
    writeFileSync(path, text.replace(/^import "\.{1,2}\/.*";\n/gm, ""))
  }
  await build({ ...options, entryPoints: namespaces })
}
