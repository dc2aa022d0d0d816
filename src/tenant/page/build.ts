/** Builds the script and the style sheet of a page: at run time from source, and once for the package. */
import type * as Esbuild from "esbuild"

/** The pages, each a folder beside this file. */
export const pageNames = ["live", "docs"] as const

export type PageName = typeof pageNames[number]

/** The parts of a page, as texts to put into its HTML. */
export interface Bundle {
  readonly script: string
  readonly style: string
}

/** Bundles a page. `folder` is the path of the folder of this file. */
export const build = (esbuild: typeof Esbuild, folder: string, name: PageName): Promise<Bundle> =>
  esbuild.build({
    absWorkingDir: folder,
    entryPoints: [`${name}/main.tsx`, `${name}/style.css`],
    outdir: "out",
    write: false,
    bundle: true,
    minify: true,
    target: "es2022",
    charset: "utf8"
  }).then(({ outputFiles }) => {
    const text = (extension: string) =>
      outputFiles.filter(({ path }) => path.endsWith(extension)).map(({ text }) => text.trim()).join("")
    return { script: text(".js"), style: text(".css") }
  })
