/** Type checks what was written, and groups the errors. */
import * as fs from "node:fs"
import * as path from "node:path"
import ts from "typescript"
import { isEffectSpecifier } from "./names.js"
import { here, out, readConfig } from "./project.js"

/** Checks the project of the second line; prints the errors in the files whose path begins so, and returns their number. */
export const check = (prefixes: ReadonlyArray<string>): number => {
  const config = readConfig(path.join(here, "tsconfig.json"))
  const program = ts.createIncrementalProgram({
    rootNames: config.fileNames.filter((file) => matches(file, prefixes)),
    options: {
      ...config.options,
      incremental: true,
      tsBuildInfoFile: path.join(out, `${nameOf(prefixes)}.tsbuildinfo`)
    }
  })
  const errors = [
    ...program.getOptionsDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getSemanticDiagnostics()
  ].filter((error) => error.file === undefined || matches(error.file.fileName, prefixes))
  program.emit()
  const leftovers = config.fileNames.filter((file) => matches(file, prefixes)).flatMap(leftoversOf)
  for (const leftover of leftovers) console.log(leftover)
  for (const error of errors) console.log(print(error))
  const folders = new Map<string, number>()
  for (const { file } of errors) {
    const folder = file === undefined ? "." : path.dirname(path.relative(out, file.fileName))
    folders.set(folder, (folders.get(folder) ?? 0) + 1)
  }
  for (const [folder, count] of [...folders].sort(([, a], [, b]) => b - a)) console.log(`${count}\t${folder}`)
  const count = errors.length + leftovers.length
  console.log(`${count} errors`)
  return count
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

const matches = (file: string, prefixes: ReadonlyArray<string>): boolean =>
  prefixes.length === 0 || prefixes.some((prefix) => path.relative(out, file).startsWith(prefix))

const nameOf = (prefixes: ReadonlyArray<string>): string =>
  prefixes.length === 0 ? "all" : prefixes.join("+").replaceAll("/", "-")

const print = ({ code, file, messageText, start = 0 }: ts.Diagnostic): string => {
  const text = ts.flattenDiagnosticMessageText(messageText, "\n")
  if (file === undefined) return `TS${code}: ${text}`
  const { character, line } = file.getLineAndCharacterOfPosition(start)
  return `${path.relative(out, file.fileName)}:${line + 1}:${character + 1} TS${code}: ${text}`
}
