/** Puts the finished pages of the tenant in place of the module that bundles them from source. */
import * as esbuild from "esbuild"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { build, pageNames } from "../../src/tenant/page/build.js"

const root = join(import.meta.dirname, "../..")
const folder = join(root, "src/tenant/page")

/** The package whose code is in the pages, and its licence, which has to come with it. */
export const pageLibrary = "node_modules/preact"
const licence = readFileSync(join(root, pageLibrary, "LICENSE"), "utf8").trim()

/** The module with the pages as texts. */
const finished = async (): Promise<string> => {
  const bundles = await Promise.all(pageNames.map(async (name) => [name, await build(esbuild, folder, name)] as const))
  return [
    `/*! The pages contain preact.\n\n${licence}\n*/`,
    `const bundles = ${JSON.stringify(Object.fromEntries(bundles))}`,
    "export const bundle = (name) => Promise.resolve(bundles[name])"
  ].join("\n")
}

/** Replaces `src/tenant/page/bundle.ts`. */
export const finishedPages: esbuild.Plugin = {
  name: "finished-pages",
  setup({ onLoad }) {
    onLoad(
      { filter: /[\\/]tenant[\\/]page[\\/]bundle\.ts$/ },
      async () => ({ contents: await finished(), loader: "js" })
    )
  }
}
