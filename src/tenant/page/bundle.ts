/**
 * The finished live page. Run from source, as here, esbuild makes it whenever it is asked for, so a change shows when the page is
 * loaded again. The build of the package puts the finished texts in place of this module, so the package needs no esbuild.
 */
import { build, type Bundle } from "./build.js"

const folder = decodeURIComponent(new URL(".", import.meta.url).pathname)

export const bundle = (): Promise<Bundle> => import("esbuild").then((esbuild) => build(esbuild, folder))
