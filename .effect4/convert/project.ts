/** The files of the project, as one program with the types of Effect 3. */
import * as fs from "node:fs"
import * as path from "node:path"
import ts from "typescript"

/** The folder of the second line, and that of the repository. */
export const here = path.resolve(import.meta.dirname, "..")
export const root = path.dirname(here)
export const out = path.join(here, "out")

export const folders = ["src", "test", "examples", ".ci"]

export interface Project {
  readonly checker: ts.TypeChecker
  /** The sources, by their paths from the root. */
  readonly sources: ReadonlyMap<string, ts.SourceFile>
  /** The other files of the folders. */
  readonly others: ReadonlyArray<string>
}

export const openProject = (): Project => {
  const config = readConfig(path.join(root, "tsconfig.json"))
  const files = folders.flatMap((folder) => filesIn(folder))
  const isSource = (file: string) => /\.tsx?$/.test(file)
  const names = files.filter(isSource).map((file) => path.join(root, file))
  const program = ts.createProgram(names, { ...config.options, incremental: false })
  const sources = new Map<string, ts.SourceFile>()
  for (const file of files.filter(isSource)) sources.set(file, program.getSourceFile(path.join(root, file))!)
  return { checker: program.getTypeChecker(), sources, others: files.filter((file) => !isSource(file)) }
}

export const readConfig = (file: string): ts.ParsedCommandLine =>
  ts.parseJsonConfigFileContent(ts.readConfigFile(file, ts.sys.readFile).config, ts.sys, path.dirname(file))

/** All files in a folder, by their paths from the root. */
export const filesIn = (folder: string, base = root): ReadonlyArray<string> =>
  fs.existsSync(path.join(base, folder))
    ? fs.readdirSync(path.join(base, folder), { withFileTypes: true }).flatMap((entry) => {
      const file = path.join(folder, entry.name)
      if (entry.name === "node_modules" || entry.name === "dist") return []
      return entry.isDirectory() ? filesIn(file, base) : [file]
    })
    : []
