/** Puts the finished live page of the tenant in place of the module that bundles it from source. */
import * as esbuild from "esbuild"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { build } from "../../src/tenant/page/build.js"
import { effect3 } from "../line.js"

/** The package whose code is in the page, and its licence, which has to come with it. */
export const pageLibrary = join(effect3.root, "node_modules/preact")
const licence = readFileSync(join(pageLibrary, "LICENSE"), "utf8").trim()

/** The module with the page as texts. */
const finished = async (folder: string): Promise<string> =>
  [
    `/*! The page contains preact.\n\n${licence}\n*/`,
    `export const bundle = () => Promise.resolve(${JSON.stringify(await build(esbuild, folder))})`
  ].join("\n")

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
