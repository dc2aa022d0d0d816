/**
 * `npm run test:generate [-- --spec FILE] [--sizes]`: generates the operations of a document, checks types and style of the files, and
 * calls each operation against the tenant over a socket: with inputs and responses made from the document, with failures, invalid
 * inputs and cut connections. Without `--spec` the documents are the tenant's own, one with shapes of every kind, and one of what ordinary documents have. `--sizes`
 * also measures bundles and imports. The last line is JSON.
 */
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { parse } from "yaml"
import * as Tenant from "../src/Tenant.js"
import { callAll } from "./generate/harness/calls.js"
import { objectOf, operationsOf, withRequiredFields } from "./generate/harness/document.js"
import {
  type Checked,
  checkTypes,
  generate,
  lint,
  makeProject,
  type Project,
  root
} from "./generate/harness/project.js"
import { measureSizes, type Sizes } from "./generate/harness/sizes.js"

const { values: { sizes: withSizes, spec } } = parseArgs({
  options: { spec: { type: "string" }, sizes: { type: "boolean", default: false } }
})

/** The files that a file imports, directly or through others. */
const importsOf = ({ out }: Project, file: string, known = new Set<string>()): ReadonlySet<string> => {
  if (known.has(file)) return known
  known.add(file)
  const text = readFileSync(join(out, file), "utf8")
  for (const [, path = ""] of text.matchAll(/from "(\.[^"]+)\.js"/g)) {
    const target = join(file, "..", `${path}.ts`)
    importsOf({ out } as Project, target, known)
  }
  return known
}

const complaintsOf = (project: Project, name: string, { complaints }: Checked): ReadonlyArray<string> => {
  const file = `${name}.ts`
  if (!readdirSync(project.out).includes(file)) return []
  return [...importsOf(project, file)].flatMap((path) => (complaints.get(path) ?? []).map((each) => `${path}: ${each}`))
}

interface Summary {
  readonly operations: number
  readonly failed: number
  readonly generateSeconds: number
  readonly typeCheckSeconds: number
  readonly sizes: Sizes | undefined
}

const round = (seconds: number): number => Math.round(seconds * 10) / 10

const show = (columns: ReadonlyArray<string | number>): string =>
  columns.map((column, index) => index === 0 ? String(column).padEnd(48) : String(column).padStart(10)).join("")

/** Checks one document, and prints its table. */
const check = async (file: string): Promise<Summary> => {
  const document = objectOf(withRequiredFields(parse(readFileSync(file, "utf8"))))
  const described = operationsOf(document)
  const project = await makeProject()
  try {
    console.log(`\n${basename(file)}: ${described.length} operations`)
    const { code, output, seconds: generateSeconds } = await generate(project, file)
    if (code !== 0) {
      console.log(output)
      return {
        operations: described.length,
        failed: described.length,
        generateSeconds,
        typeCheckSeconds: 0,
        sizes: undefined
      }
    }
    const types = await checkTypes(project)
    const style = await lint(project)
    const generated = await import(pathToFileURL(join(project.out, "index.ts")).href)
    const begin = performance.now()
    const reports = await Effect.runPromise(callAll(document, described, generated))
    const callSeconds = (performance.now() - begin) / 1000
    console.log(show(["operation", "types", "lint", "inputs", "responses", "statuses", "faults"]))
    let failed = 0
    for (const { faults, inputs, name, responses, statuses } of reports) {
      const [typeFaults, styleFaults] = [complaintsOf(project, name, types), complaintsOf(project, name, style)]
      const all = [...typeFaults, ...styleFaults, ...faults]
      if (all.length > 0) failed++
      console.log(show([name, typeFaults.length, styleFaults.length, inputs, responses, statuses, faults.length]))
      for (const fault of all.slice(0, 5)) console.log(`    ${fault}`)
      if (all.length > 5) console.log(`    … and ${all.length - 5} more`)
    }
    for (const rest of [types.rest, style.rest]) if (rest !== undefined) console.log(rest)
    if (types.rest !== undefined || style.rest !== undefined) failed = Math.max(failed, 1)
    console.log(
      `generated in ${round(generateSeconds)} s, types checked in ${round(types.seconds)} s, style in ${
        round(style.seconds)
      } s, called in ${round(callSeconds)} s`
    )
    const sizes = withSizes ? await measureSizes(project, reports.map(({ name }) => name)) : undefined
    if (sizes !== undefined) console.log(JSON.stringify(sizes))
    return { operations: reports.length, failed, generateSeconds, typeCheckSeconds: types.seconds, sizes }
  } finally {
    project.remove()
  }
}

const sum = (summaries: ReadonlyArray<Summary>, of: (summary: Summary) => number): number =>
  summaries.reduce((sum, each) => sum + of(each), 0)

/** The tenant's own document, as a file. */
const ownDocument = (): string => {
  const file = join(tmpdir(), `tenant-${process.pid}.json`)
  writeFileSync(file, JSON.stringify(Tenant.openapi))
  return file
}

const files = spec === undefined
  ? [ownDocument(), ...["shapes.json", "ordinary.yaml"].map((name) => join(root, "test/generate/harness", name))]
  : [resolve(spec)]
const summaries: Array<Summary> = []
for (const file of files) summaries.push(await check(file))
if (spec === undefined) rmSync(files[0]!)
const sizes = summaries.flatMap((each) => each.sizes ?? [])
console.log(JSON.stringify({
  operations: sum(summaries, (each) => each.operations),
  failed: sum(summaries, (each) => each.failed),
  generateSeconds: round(sum(summaries, (each) => each.generateSeconds)),
  typeCheckSeconds: round(sum(summaries, (each) => each.typeCheckSeconds)),
  ...(sizes.length > 0 && { sizes: sizes.length === 1 ? sizes[0] : sizes })
}))
process.exit(summaries.some(({ failed }) => failed > 0) ? 1 : 0)
