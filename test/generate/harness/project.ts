/** A folder with the files of a document, as a project of its own that has this library as a dependency. */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../../../", import.meta.url))

const bin = (name: string): string => join(root, "node_modules/.bin", name)

/** Runs TypeScript 7. */
const compile = (args: ReadonlyArray<string>, cwd?: string): Promise<Finished> =>
  run(process.execPath, [join(root, "node_modules/@typescript/native/bin/tsc"), ...args], cwd)

interface Finished {
  readonly code: number
  readonly output: string
  readonly seconds: number
}

/** Runs a program to its end. */
export const run = (program: string, args: ReadonlyArray<string>, cwd = root): Promise<Finished> => {
  const begin = performance.now()
  return new Promise((resolve) => {
    execFile(program, [...args], { cwd, maxBuffer: 1e9 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1
      resolve({ code, output: `${stdout}${stderr}`, seconds: (performance.now() - begin) / 1000 })
    })
  })
}

export interface Project {
  readonly folder: string
  /** The generated files. */
  readonly out: string
  readonly remove: () => void
}

/**
 * Makes the folder. Its `node_modules` has this library, with the declarations that users have and the sources as code, and the
 * packages that it needs.
 */
export const makeProject = async (): Promise<Project> => {
  const folder = mkdtempSync(join(tmpdir(), "generated-"))
  const library = join(folder, "node_modules/effect-identity-client")
  mkdirSync(library, { recursive: true })
  mkdirSync(join(folder, "node_modules/@effect"))
  for (const name of ["effect", "@effect/platform", "@types"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name))
  }
  symlinkSync(join(root, "src"), join(library, "src"))
  const write = (path: string, value: unknown) => writeFileSync(join(folder, path), JSON.stringify(value))
  write("package.json", { type: "module" })
  write("node_modules/effect-identity-client/package.json", {
    name: "effect-identity-client",
    type: "module",
    sideEffects: false,
    exports: {
      ".": { types: "./types/index.d.ts", default: "./src/index.ts" },
      "./*": { types: "./types/*.d.ts", default: "./src/*.ts" }
    }
  })
  const { code, output } = await compile(["-p", ".ci/build", "--outDir", join(library, "types")])
  if (code !== 0) throw new Error(output)
  const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"))
  write("tsconfig.json", { compilerOptions: { ...compilerOptions, paths: {}, plugins: [] }, include: ["out"] })
  return { folder, out: join(folder, "out"), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Generates the files as users do, with the command. */
export const generate = ({ out }: Project, spec: string, ...more: ReadonlyArray<string>): Promise<Finished> =>
  run(bin("tsx"), ["src/cli/bin.ts", "generate", "--spec", spec, "--out", out, ...more])

/** Lists the complaints by the file that they are about. */
const byFile = (output: string, expression: RegExp): ReadonlyMap<string, ReadonlyArray<string>> => {
  const found = new Map<string, Array<string>>()
  for (const [, file = "", message = ""] of output.matchAll(expression)) {
    const path = file.replace(/^out\//, "")
    found.set(path, [...found.get(path) ?? [], message])
  }
  return found
}

export interface Checked {
  readonly seconds: number
  /** What is wrong with each file, by its path in the folder of generated files. */
  readonly complaints: ReadonlyMap<string, ReadonlyArray<string>>
  /** All that was printed, if something is wrong that no file is blamed for. */
  readonly rest: string | undefined
}

const checked = ({ code, output, seconds }: Finished, complaints: Checked["complaints"]): Checked => (
  { seconds, complaints, rest: code !== 0 && complaints.size === 0 ? output : undefined }
)

export const checkTypes = async ({ folder }: Project): Promise<Checked> => {
  const finished = await compile(["--noEmit", "--pretty", "false", "-p", join(folder, "tsconfig.json")], folder)
  return checked(finished, byFile(finished.output, /^(\S.*?)\(\d+,\d+\): (.*)$/gm))
}

/** Lints with the rules of this repository, those for its own folders apart. */
export const lint = async ({ folder }: Project): Promise<Checked> => {
  const { overrides: _, rules, ...rest } = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8"))
  // A document may have fields called `then`.
  const own = { ...rest, rules: { ...rules, "unicorn/no-thenable": "off" } }
  writeFileSync(join(folder, ".oxlintrc.json"), JSON.stringify(own))
  const finished = await run(bin("oxlint"), ["--format", "unix", "out"], folder)
  return checked(finished, byFile(finished.output, /^(\S.*?):\d+:\d+: (.*)$/gm))
}
