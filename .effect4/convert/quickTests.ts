/** Chooses the tests of a quick run by what they import: those of what differs on Effect 4. */
import * as fs from "node:fs"
import * as path from "node:path"
import ts from "typescript"
import { filesIn, here, out } from "./project.js"

/** The modules that a file imports or exports at run time: those of the project by their paths from its root, others by their names. */
const importsOf = (file: string): ReadonlyArray<string> =>
  ts.createSourceFile(file, fs.readFileSync(path.join(out, file), "utf8"), ts.ScriptTarget.Latest).statements.flatMap(
    (statement) => {
      const isImport = ts.isImportDeclaration(statement) && statement.importClause?.isTypeOnly !== true
      const isExport = ts.isExportDeclaration(statement) && !statement.isTypeOnly
      const specifier = isImport || isExport ? statement.moduleSpecifier : undefined
      if (specifier === undefined || !ts.isStringLiteral(specifier)) return []
      const { text } = specifier
      return text.startsWith(".") ? path.join(path.dirname(file), text).replace(/\.js$/, ".ts") : text
    }
  )

/** The number of folders that a test shares with a module. */
const shared = (test: string, module: string): number => {
  const [folders, others] = [test.split("/").slice(1), module.split("/").slice(1)]
  const differs = folders.findIndex((folder, nth) => folder !== others[nth])
  return differs < 0 ? folders.length : differs
}

const sizeOf = (file: string): number => fs.statSync(path.join(out, file)).size

/** What takes long: processes, sockets, compilers, and hours of virtual time. */
const isSlow = (module: string): boolean =>
  /^node:(?:child_process|https?|net|tls)$|^undici$|^typescript|platform-node|^test\/support\/(?:fleet\w*|virtualTime)\.ts$/
    .test(module)

/** So many tests are run of a replacement that the others do not reach. */
const testsOfTheRest = 3

/**
 * The tests that import a replacement, and the tests that import a module that stands on one, as far as they are not slow: themselves, or
 * what of the tests they import. Of a replacement that none of these reaches, the nearest and smallest
 * tests that do.
 */
export const quickTests = (): ReadonlyArray<string> => {
  const imports = new Map(
    ["src", "test", "examples"].flatMap((folder) => filesIn(folder, out)).filter((file) => file.endsWith(".ts"))
      .map((file) => [file, importsOf(file)] as const)
  )
  const replacements = new Set(filesIn("replacements/src", here).map((file) => path.relative("replacements", file)))
  const standsOnOne = (file: string): boolean =>
    replacements.has(file) ||
    (file.startsWith("src/") && imports.get(file)?.some((each) => replacements.has(each)) === true)
  const isSlowTest = (file: string): boolean => {
    const reached = new Set([file])
    for (const each of reached) {
      if (isSlow(each)) return true
      if (!each.startsWith("src/")) { for (const module of imports.get(each) ?? []) reached.add(module) }
    }
    return false
  }
  const tests = [...imports.keys()].filter((file) => file.endsWith(".test.ts"))
  const chosen = tests.filter((file) => {
    const modules = imports.get(file) ?? []
    return modules.some(standsOnOne) && (modules.some((module) => replacements.has(module)) || !isSlowTest(file))
  })
  const reachedBy = (file: string): ReadonlySet<string> => {
    const reached = new Set([file])
    for (const each of reached) for (const module of imports.get(each) ?? []) reached.add(module)
    return reached
  }
  const ofTheRest = [...replacements].flatMap((replacement) =>
    chosen.some((file) => reachedBy(file).has(replacement))
      ? []
      : tests.filter((file) => reachedBy(file).has(replacement))
        .sort((one, other) => shared(other, replacement) - shared(one, replacement) || sizeOf(one) - sizeOf(other))
        .slice(0, testsOfTheRest)
  )
  return [...new Set([...chosen, ...ofTheRest])]
}
