/** Type-checks generated files, and loads them. */
import { build } from "esbuild"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import ts from "typescript"
import type { File } from "../../../src/generate/print/files.js"

const root = fileURLToPath(new URL("../../..", import.meta.url))

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
  noEmit: true,
  types: ["node"],
  paths: { "effect-identity-client/*": [join(root, "src/*.ts")] }
}

/** The errors of the compiler in files, which need not exist. */
export const typeErrors = (files: ReadonlyArray<File>): ReadonlyArray<string> => {
  const folder = join(root, "generated")
  const texts = new Map(
    files.filter(({ path }) => path.endsWith(".ts")).map(({ path, text }) => [join(folder, path), text])
  )
  const host = ts.createCompilerHost(options)
  const { directoryExists, fileExists, getSourceFile, readFile } = host
  host.directoryExists = (name) => resolve(name).startsWith(folder) || directoryExists?.(name) === true
  host.fileExists = (name) => texts.has(resolve(name)) || fileExists(name)
  host.readFile = (name) => texts.get(resolve(name)) ?? readFile(name)
  host.getSourceFile = (name, version) => {
    const text = texts.get(resolve(name))
    return text === undefined ? getSourceFile.call(host, name, version) : ts.createSourceFile(name, text, version)
  }
  const program = ts.createProgram([...texts.keys()], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) =>
    `${file?.fileName ?? ""}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`
  )
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
  // Inside the project, so that its packages are found.
  const packages = join(root, "node_modules")
  mkdirSync(packages, { recursive: true })
  const folder = mkdtempSync(join(packages, ".generated-"))
  try {
    const file = join(folder, "index.mjs")
    writeFileSync(file, output?.text ?? "")
    return await import(/* @vite-ignore */ pathToFileURL(file).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
