/** Puts the finished pages of the tenant in place of the module that bundles them from source. */
import * as esbuild from "esbuild"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { build, pageNames } from "../../src/tenant/page/build.js"
import { effect3 } from "../line.js"

/** The package whose code is in the pages, and its licence, which has to come with it. */
export const pageLibrary = join(effect3.root, "node_modules/preact")
const licence = readFileSync(join(pageLibrary, "LICENSE"), "utf8").trim()

/** The module with the pages as texts. */
const finished = async (folder: string): Promise<string> => {
  const bundles = await Promise.all(pageNames.map(async (name) => [name, await build(esbuild, folder, name)] as const))
  return [
    `/*! The pages contain preact.\n\n${licence}\n*/`,
    `const bundles = ${JSON.stringify(Object.fromEntries(bundles))}`,
    "export const bundle = (name) => Promise.resolve(bundles[name])"
  ].join("\n")
}

/** Replaces `src/tenant/page/bundle.ts` of a line. */
export const finishedPages = (root: string): esbuild.Plugin => ({
  name: "finished-pages",
  setup({ onLoad }) {
    onLoad(
      { filter: /[\\/]tenant[\\/]page[\\/]bundle\.ts$/ },
      async () => ({ contents: await finished(join(root, "src/tenant/page")), loader: "js" })
    )
  }
})
