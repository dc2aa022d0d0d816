/** Type checks what was written, and groups the errors. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import ts from "typescript"
import { isEffectSpecifier } from "./names.js"
import { here, out, readConfig, root } from "./project.js"

/** Checks the project of the second line; prints the errors in the files whose path begins so, and returns their number. */
export const check = (prefixes: ReadonlyArray<string>): number => {
  const isChosen = (file: string) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix))
  const project = path.join(here, "tsconfig.json")
  const leftovers = readConfig(project).fileNames
    .filter((file) => isChosen(path.relative(out, file)))
    .flatMap(leftoversOf)
  const errors = compile(project).filter(({ file }) => file === undefined || isChosen(file))
  for (const leftover of leftovers) console.log(leftover)
  for (const { text } of errors) console.log(text)
  const folders = new Map<string, number>()
  for (const { file = "." } of errors) folders.set(path.dirname(file), (folders.get(path.dirname(file)) ?? 0) + 1)
  for (const [folder, count] of [...folders].sort(([, a], [, b]) => b - a)) console.log(`${count}\t${folder}`)
  const count = errors.length + leftovers.length
  console.log(`${count} errors`)
  return count
}

/** An error with its file, if it is about one, by the path from the project. */
interface CompileError {
  readonly file: string | undefined
  readonly text: string
}

/** Runs the native compiler. Each of its errors begins a line, at whose start is the file; further lines are indented. */
const compile = (project: string): ReadonlyArray<CompileError> => {
  const compiler = path.join(root, "node_modules/@typescript/native/bin/tsc")
  const { error, status, stdout } = spawnSync(
    process.execPath,
    [compiler, "--noEmit", "--pretty", "false", "--project", project],
    { cwd: out, encoding: "utf8", maxBuffer: 1e9, stdio: ["ignore", "pipe", "inherit"] }
  )
  if (error !== undefined) throw error
  const errors = stdout.split(/\n(?! )/).filter((text) => text !== "")
  if (status !== 0 && errors.length === 0) throw new Error(`the compiler ended with ${status}`)
  return errors.map((text) => ({ file: /^(\S+)\(\d+,\d+\): /.exec(text)?.[1], text }))
}

/** Imports of Effect 3, whose packages lie one folder up: they resolve as well. */
const leftoversOf = (file: string): ReadonlyArray<string> =>
  ts.preProcessFile(fs.readFileSync(file, "utf8")).importedFiles.flatMap(({ fileName }) =>
    isEffectSpecifier(fileName) && !isEffect4(fileName)
      ? [`${path.relative(out, file)}: imports ${fileName}, which Effect 4 does not have`]
      : []
  )

/** Whether the packages beside the rules have a module. */
const isEffect4 = (specifier: string): boolean => {
  const known = effect4.get(specifier)
  if (known !== undefined) return known
  const found = ts.resolveModuleName(
    specifier,
    path.join(out, "any.ts"),
    {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext
    },
    ts.sys,
    undefined,
    undefined,
    ts.ModuleKind.ESNext
  )
  const isFound = found.resolvedModule?.resolvedFileName.startsWith(path.join(here, "node_modules")) ?? false
  effect4.set(specifier, isFound)
  return isFound
}

const effect4 = new Map<string, boolean>()
