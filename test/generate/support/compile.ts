/** Type-checks generated files, and loads them. */
import { build } from "esbuild"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { File } from "../../../src/generate/print/files.js"
import { projectErrors } from "../../support/typeCheck.js"

const root = fileURLToPath(new URL("../../..", import.meta.url))

const options = {
  target: "ES2022",
  lib: ["ES2023", "DOM", "DOM.Iterable"],
  module: "NodeNext",
  moduleResolution: "NodeNext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
  types: ["node"],
  paths: { "effect-identity-client/*": [join(root, "src/*.ts")] }
}

/** Makes a folder inside the project, so that its packages are found. */
const newFolder = (): string => {
  const packages = join(root, "node_modules")
  mkdirSync(packages, { recursive: true })
  return mkdtempSync(join(packages, ".generated-"))
}

/** The errors of the compiler in files. */
export const typeErrors = (files: ReadonlyArray<File>): ReadonlyArray<string> => {
  const folder = newFolder()
  try {
    const typed = files.filter(({ path }) => path.endsWith(".ts"))
    for (const { path, text } of typed) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    writeFileSync(join(folder, "package.json"), "{\"type\":\"module\"}")
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: typed.map(({ path }) => path) })
    )
    return projectErrors(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Loads generated files: the exports of their index. */
export const load = async (files: ReadonlyArray<File>): Promise<Readonly<Record<string, any>>> => {
  const texts = new Map(files.map(({ path, text }) => [`/${path}`, text]))
  const { outputFiles: [output] } = await build({
    entryPoints: ["/index.ts"],
    bundle: true,
    format: "esm",
    write: false,
    plugins: [{
      name: "generated",
      setup({ onLoad, onResolve }) {
        onResolve({ filter: /^(?:effect|@effect\/platform)(?:\/|$)/ }, ({ path }) => ({ path, external: true }))
        onResolve({ filter: /^effect-identity-client\// }, ({ path }) => ({
          path: join(root, `${path.replace("effect-identity-client", "src")}.ts`)
        }))
        onResolve({ filter: /./ }, ({ importer, path }) => {
          const name = resolve(importer === "" ? "/" : dirname(importer), path).replace(/\.js$/, ".ts")
          return existsSync(name) ? { path: name } : { path: name, namespace: "generated" }
        })
        onLoad(
          { filter: /./, namespace: "generated" },
          ({ path }) => ({ contents: texts.get(path) ?? "", loader: "ts" })
        )
      }
    }]
  })
  const folder = newFolder()
  try {
    const file = join(folder, "index.mjs")
    writeFileSync(file, output?.text ?? "")
    return await import(/* @vite-ignore */ pathToFileURL(file).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
