/**
 * `npm run test:mutation`: each small fault that Stryker can put into `src` is put there, and the tests are to notice. `--only
 * limits` takes one part, `--quick` a few files, `--again` what survived the last run of a part, `--file` one file of it. What
 * nobody notices must be listed in `survivors`, with the reason. The last line is JSON; the exit code is 1 if a survivor is
 * not listed, or if less than 85 % is noticed.
 */
import { Stryker } from "@stryker-mutator/core"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { relative } from "node:path"
import { parseArgs } from "node:util"
import { type Part, parts, quick } from "./parts.js"
import { compare, entryOf, type Result } from "./survivors.js"

const { values } = parseArgs({
  options: {
    again: { type: "boolean", default: false },
    file: { type: "string", multiple: true, default: [] },
    only: { type: "string", multiple: true, default: [] },
    quick: { type: "boolean", default: false }
  }
})
const chosen = values.quick
  ? [quick]
  : parts.filter(({ name }) => values.only.length === 0 || values.only.includes(name))
if (chosen.length === 0) throw new Error(`--only takes one of ${parts.map(({ name }) => name).join(", ")}`)

const directory = ".mutation"
mkdirSync(directory, { recursive: true })

const noticed = ({ status }: Result) => status === "Killed" || status === "Timeout"

/** What else may become of a fault, be it that a test could not be carried out, needs a reason. */
const survived = (result: Result) => !noticed(result)

/** Stryker counts lines and columns from 1 in what it gives, and from 0 in what it takes. */
const fromZero = ({ column, line }: Result["location"]["start"]) => ({ line: line - 1, column: column - 1 })

/** One test that has taken too long is as good as all; an error that no test catches comes to Stryker as one that it cannot print. */
const statusOf = ({ status, statusReason = "" }: Result): Result["status"] =>
  statusReason.startsWith("Test timed out")
    ? "Timeout"
    : statusReason.includes("Cannot convert object to primitive value")
    ? "Killed"
    : status

/** Puts faults into `src`, one at a time, and runs the tests of a part: those that take long, too, or without them. */
const put = async ({ name, tests }: Part, mutate: ReadonlyArray<string>, isLong: boolean) => {
  process.env["MUTATION_TESTS"] = tests.join(" ")
  if (isLong) process.env["MUTATION_LONG"] = "1"
  else delete process.env["MUTATION_LONG"]
  const results = await new Stryker({
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
    coverageAnalysis: "perTest",
    mutate: [...mutate],
    concurrency: 3, // many faults keep something waiting
    tempDirName: `${directory}/${name}`,
    ignorePatterns: [".docs", ".mutation", "coverage", "dist"],
    reporters: process.stdout.isTTY ? ["progress"] : ["progress-append-only"],
    allowConsoleColors: false,
    timeoutMS: isLong ? 20_000 : 5000,
    warnings: false
  }).runMutationTest()
  return results.map((result) => ({
    ...result,
    status: statusOf(result),
    fileName: relative(process.cwd(), result.fileName),
    location: { start: fromZero(result.location.start), end: fromZero(result.location.end) }
  }))
}

/** Where a fault was put, as Stryker takes it: `src/a.ts:1:2-3:4`. */
const placeOf = ({ fileName, location: { end, start } }: Result) =>
  `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`

const idOf = (result: Result) => `${placeOf(result)} ${result.mutatorName} ${result.replacement}`

/** What survived, and need not, is put in once more, before all the tests. */
const again = async (part: Part, results: ReadonlyArray<Result>): Promise<ReadonlyArray<Result>> => {
  // Which of several that look the same are listed nobody can tell.
  const unlisted = new Set(compare(part.survivors, results.filter(survived)).unlisted.map(entryOf))
  const isAsked = (result: Result) => survived(result) && unlisted.has(entryOf(result)) && isChosen(result.fileName)
  const places = results.filter(isAsked).map(placeOf)
  if (places.length === 0) return results
  const renewed = new Map((await put(part, places, true)).map((result) => [idOf(result), result]))
  return results.map((result) => isAsked(result) ? renewed.get(idOf(result)) ?? result : result)
}

/** Whether a file is asked for. */
const isChosen = (file: string) => values.file.length === 0 || values.file.includes(file)

const run = async (part: Part): Promise<ReadonlyArray<Result>> => {
  const report = `${directory}/${part.name}.json`
  const before: ReadonlyArray<Result> = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : []
  if (values.again && before.length === 0) throw new Error(`${part.name} has not been run yet`)
  const first = values.again ? before : [
    ...before.filter(({ fileName }) => !isChosen(fileName)),
    ...await put(part, part.files.filter(isChosen), false)
  ]
  writeFileSync(report, JSON.stringify(first))
  const results = await again(part, first)
  writeFileSync(report, JSON.stringify(results))
  return results
}

const count = (results: ReadonlyArray<Result>, which: Result["status"]) =>
  results.filter(({ status }) => status === which).length

/** What share of the faults was noticed, in per cent. */
const scoreOf = (results: ReadonlyArray<Result>) =>
  Math.floor(1000 * results.filter(noticed).length / results.length) / 10

const line = (name: string, ...figures: ReadonlyArray<string>) =>
  name.padEnd(8) + figures.map((figure) => figure.padStart(11)).join("")

const shown = (name: string, results: ReadonlyArray<Result>, listed: number) =>
  line(
    name,
    ...[
      results.length,
      count(results, "Killed"),
      count(results, "Timeout"),
      results.filter(survived).length,
      listed
    ].map(String),
    `${scoreOf(results).toFixed(1)} %`
  )

const rows: Array<string> = []
const all: Array<Result> = []
let unlistedOfAll = 0
for (const part of chosen) {
  const results = await run(part)
  all.push(...results)
  const survivors = results.filter(survived)
  const { spare, unlisted } = compare(part.survivors, survivors)
  for (const result of unlisted) {
    const { column, line } = result.location.start
    console.log(`${result.fileName}:${line + 1}:${column + 1} ${result.mutatorName}\n    ${entryOf(result)}`)
  }
  if (!values.again && !values.quick) {
    for (const each of spare) console.log(`listed, but noticed or gone: ${each}`)
  }
  unlistedOfAll += unlisted.length
  rows.push(shown(part.name, results, survivors.length - unlisted.length))
}
console.log(`\n${line("part", "faults", "killed", "timed out", "survived", "listed", "score")}`)
for (const row of rows) console.log(row)
console.log(
  `\n${
    JSON.stringify({
      faults: all.length,
      survived: all.filter(survived).length,
      unlisted: unlistedOfAll,
      score: scoreOf(all)
    })
  }`
)
if (unlistedOfAll > 0 || !(scoreOf(all) >= 85)) process.exitCode = 1
