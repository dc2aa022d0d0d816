/** Measures the size that the library adds to a bundle, without the platform's modules that it imports. */
import { buildSync } from "esbuild"
import { gzipSync } from "node:zlib"

const options = { bundle: true, format: "esm", platform: "browser", write: false, logLevel: "error" } as const

/** Bundles a script as if it were in `test/bench/start`. */
const bundle = (code: string, more: Parameters<typeof buildSync>[0] = {}): string => {
  const { outputFiles: [output] } = buildSync({
    ...options,
    ...more,
    write: false,
    stdin: { contents: code, loader: "ts", resolveDir: import.meta.dirname }
  })
  return output?.text ?? ""
}

/** The size of a script with all that it imports, in kB, minified and gzipped. */
export const kilobytes = (code: string): number => gzipSync(bundle(code, { minify: true }), { level: 9 }).length / 1000

const platform = ["effect", "effect/*", "@effect/platform/*"]

/** The platform's modules that a script imports, and the names that it uses of each. */
const imports = (code: string): ReadonlyArray<{ readonly from: string; readonly used: ReadonlyArray<string> }> => {
  const own = bundle(code, { external: platform, minify: false })
  return Array.from(own.matchAll(/^import (?:\* as (\w+)|\{([^}]*)\}) from "([^"]+)";$/gm), (found) => {
    const [, namespace, names, from = ""] = found
    const used = namespace === undefined
      ? (names ?? "").split(",").map((name) => name.trim().split(" ")[0] ?? "")
      : Array.from(own.matchAll(new RegExp(`\\b${namespace}\\.(\\w+)`, "g")), ([, name = ""]) => name)
    return { from, used: Array.from(new Set(used)) }
  })
}

/** The platform's modules that a script imports. */
export const modulesOf = (code: string): ReadonlyArray<string> => imports(code).map(({ from }) => from)

/** A script that only keeps the platform's names that another script uses. */
const platformOf = (code: string): string =>
  imports(code).map(({ from, used }, index) =>
    `import * as m${index} from "${from}"\nglobalThis["m${index}"] = [${
      used.map((name) => `m${index}.${name}`).join(", ")
    }]`
  ).join("\n")

/** The size of a script without what it uses of the platform, in kB, minified and gzipped. */
export const overPlatform = (code: string): number => kilobytes(code) - kilobytes(platformOf(code))
