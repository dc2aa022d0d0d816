/**
 * The finished pages. Run from source, as here, esbuild makes them when they are first asked for. The build of the package puts
 * the finished texts in place of this module, so the package needs no esbuild.
 */
import { build, type Bundle, type PageName } from "./build.js"

const bundles = new Map<PageName, Promise<Bundle>>()

const folder = decodeURIComponent(new URL(".", import.meta.url).pathname)

export const bundle = (name: PageName): Promise<Bundle> => {
  const known = bundles.get(name)
  if (known !== undefined) return known
  const made = import("esbuild").then((esbuild) => build(esbuild, folder, name))
  bundles.set(name, made)
  return made
}
