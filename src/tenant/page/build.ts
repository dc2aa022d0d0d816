/** Builds the script and the style sheet of the live page: at run time from source, and once for the package. */
import type * as Esbuild from "esbuild"

/** The parts of the page, as texts to put into its HTML. */
export interface Bundle {
  readonly script: string
  readonly style: string
}

/** Bundles the page. `folder` is the path of the folder of this file. */
export const build = (esbuild: typeof Esbuild, folder: string): Promise<Bundle> =>
  esbuild.build({
    absWorkingDir: folder,
    entryPoints: ["live/main.tsx", "live/style.css"],
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
