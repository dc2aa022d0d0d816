/** Measures what generated operations add to bundles, and to the time and memory that an import takes. */
import { build } from "esbuild"
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { buildJavascript } from "../../../.ci/build/javascript.js"
import { type Project, root, run } from "./project.js"

export interface Sizes {
  /** The bytes that a second operation adds to a bundle with one, minified and compressed: the median, and the most. */
  readonly bytesPerOperation: { readonly median: number; readonly most: number; readonly measured: number }
  /** The bytes of a program that calls `listUsers`, whose declaration is generated, or is by hand; none without this operation. */
  readonly listUsers: { readonly generated: number; readonly byHand: number } | undefined
  /** An import of the index, as files and bundled into one: without Node's work for each file. */
  readonly index: ImportCost
  readonly bundledIndex: ImportCost
}

/** The median time and memory that an import takes in a process that has imported the library. */
interface ImportCost {
  readonly milliseconds: number
  readonly rssMegabytes: number
  readonly heapMegabytes: number
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const round = (value: number): number => Math.round(value * 10) / 10

/** At most this many operations are bundled, evenly spread. */
const bundles = 60

const rounds = 15

/** The size of a program that has operations, each from a file of its name in a folder. */
const bundleSize = async (
  { folder }: Project,
  names: ReadonlyArray<string>,
  fileOf = (name: string) => `./out/${name}.js`
): Promise<number> => {
  const { outputFiles: [output] } = await build({
    stdin: {
      contents: `${names.map((name) => `import { ${name} } from ${JSON.stringify(fileOf(name))}`).join("\n")}
import { layer } from "effect-identity-client/IdentityClient"
export const used = [layer, ${names.join(", ")}]`,
      resolveDir: folder
    },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    write: false
  })
  return gzipSync(output!.contents, { level: 9 }).length
}

const measureBundles = async (project: Project, names: ReadonlyArray<string>): Promise<Sizes["bytesPerOperation"]> => {
  const [first, ...others] = names
  if (first === undefined || others.length === 0) return { median: 0, most: 0, measured: 0 }
  const step = Math.max(1, others.length / bundles)
  const chosen = others.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
  const alone = await bundleSize(project, [first])
  const added: Array<number> = []
  for (const name of chosen) added.push(await bundleSize(project, [first, name]) - alone)
  return { median: median(added), most: Math.max(...added), measured: added.length }
}

const measureListUsers = async (project: Project, names: ReadonlyArray<string>): Promise<Sizes["listUsers"]> => {
  if (!names.includes("listUsers")) return undefined
  copyFileSync(new URL("listUsersByHand.ts", import.meta.url), join(project.folder, "listUsersByHand.ts"))
  return {
    generated: await bundleSize(project, ["listUsers"]),
    byHand: await bundleSize(project, ["listUsers"], () => "./listUsersByHand.ts")
  }
}

/** Writes library and generated files as JavaScript, as users have them when they have built their program. */
const buildProgram = async ({ folder, out }: Project): Promise<string> => {
  const program = join(folder, "program")
  const library = join(program, "node_modules/effect-identity-client")
  mkdirSync(join(program, "node_modules/@effect"), { recursive: true })
  for (const name of ["effect", "@effect/platform"]) {
    symlinkSync(join(root, "node_modules", name), join(program, "node_modules", name))
  }
  await buildJavascript(join(library, "dist"))
  writeFileSync(
    join(library, "package.json"),
    JSON.stringify({
      name: "effect-identity-client",
      type: "module",
      exports: { ".": "./dist/index.js", "./*": "./dist/*.js" }
    })
  )
  writeFileSync(join(program, "package.json"), JSON.stringify({ type: "module" }))
  const { code, output } = await run("find", ["out", "-name", "*.ts"], folder)
  if (code !== 0) throw new Error(output)
  await build({
    absWorkingDir: folder,
    entryPoints: output.trim().split("\n"),
    outbase: out,
    outdir: join(program, "out"),
    format: "esm",
    logLevel: "warning"
  })
  await build({
    absWorkingDir: program,
    entryPoints: ["out/index.js"],
    outfile: join(program, "bundled/index.js"),
    bundle: true,
    packages: "external",
    format: "esm",
    logLevel: "warning"
  })
  writeFileSync(
    join(program, "measure.js"),
    `await import("effect-identity-client")
const { rss, heapUsed } = process.memoryUsage()
const begin = performance.now()
await import(process.argv[2])
const milliseconds = performance.now() - begin
const after = process.memoryUsage()
console.log(JSON.stringify({ milliseconds, rss: after.rss - rss, heap: after.heapUsed - heapUsed }))`
  )
  return program
}

/** Imports an index into new processes. */
const measureIndex = async (program: string, index: string): Promise<ImportCost> => {
  const found: Array<Record<"milliseconds" | "rss" | "heap", number>> = []
  for (let round = -1; round < rounds; round++) {
    const { code, output } = await run(process.execPath, ["measure.js", index], program)
    if (code !== 0) throw new Error(output)
    if (round >= 0) found.push(JSON.parse(output)) // the first round fills the disk cache
  }
  return {
    milliseconds: round(median(found.map(({ milliseconds }) => milliseconds))),
    rssMegabytes: round(median(found.map(({ rss }) => rss / 1e6))),
    heapMegabytes: round(median(found.map(({ heap }) => heap / 1e6)))
  }
}

/** Measures the generated files of a project. */
export const measureSizes = async (project: Project, names: ReadonlyArray<string>): Promise<Sizes> => {
  const program = await buildProgram(project)
  return {
    bytesPerOperation: await measureBundles(project, names),
    listUsers: await measureListUsers(project, names),
    index: await measureIndex(program, "./out/index.js"),
    bundledIndex: await measureIndex(program, "./bundled/index.js")
  }
}
