/**
 * `npm run test:mutation`: Stryker puts one small fault at a time into `src`, and the tests should detect it. In each folder of
 * `src` they must detect 95 % of the faults; a folder is tried with more of its tests until they do. `--folder internal/schema`
 * runs one folder, `--file src/Retry.ts` one file with the tests of its folder, `--quick` a few small files. Prints the faults
 * that no test detected, a table, and JSON as its last line.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Stryker } from "@stryker-mutator/core"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { parseArgs } from "node:util"
import { isAvailable, postgresServer } from "../../examples/support/postgresServer.js"
import { type Folder, folders, quick } from "./folders.js"

/** Least share of detected faults in each folder, in per cent. */
const threshold = 95

/** Tests that take longer than these times, in milliseconds, run only for the faults that no faster test detects. */
const [fast, slow] = [100, 1000]

/** A fault and its result. */
type Result = Awaited<ReturnType<Stryker["runMutationTest"]>>[number]

const { values } = parseArgs({
  options: {
    file: { type: "string", multiple: true, default: [] },
    folder: { type: "string", multiple: true, default: [] },
    quick: { type: "boolean", default: false }
  }
})

const chooseFolders = (): ReadonlyArray<Folder> => {
  if (values.quick) return [quick]
  for (const name of values.folder) {
    if (!folders.some((folder) => folder.name === name)) {
      throw new Error(`--folder must be one of ${folders.map((folder) => folder.name).join(", ")}, not ${name}`)
    }
  }
  for (const file of values.file) {
    if (!folders.some(({ files }) => files.includes(file))) throw new Error(`--file must be a file of src, not ${file}`)
  }
  return folders
    .filter(({ name }) => values.folder.length === 0 || values.folder.includes(name))
    .map((folder) => ({
      ...folder,
      files: folder.files.filter((file) => values.file.length === 0 || values.file.includes(file))
    }))
    .filter(({ files }) => files.length > 0)
}

const directory = ".mutation"
mkdirSync(directory, { recursive: true })

/** Runs the tests once without a fault. Returns a function that gives the names of those that take longer than a time. */
const timeTests = async (tests: ReadonlyArray<string>) => {
  const report = join(directory, "tests.json")
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/vitest.config.ts"]
  const child = spawn(
    process.execPath,
    [...vitest, "--reporter=dot", "--reporter=json", `--outputFile.json=${report}`, ...tests],
    { stdio: "inherit" }
  )
  const end = () => child.kill()
  process.once("exit", end)
  const [code] = await once(child, "exit")
  process.off("exit", end)
  if (code !== 0) throw new Error("tests fail without a fault")
  const { testResults }: {
    readonly testResults: ReadonlyArray<{
      readonly assertionResults: ReadonlyArray<{ readonly fullName: string; readonly duration?: number }>
    }>
  } = JSON.parse(readFileSync(report, "utf8"))
  return (millis: number): ReadonlyArray<string> =>
    testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ duration = 0 }) => duration > millis).map(({ fullName }) => fullName)
    )
}

/** Stryker's results count lines and columns from 1; the ranges that it accepts count columns from 0. */
const rangeOf = ({ fileName, location: { end, start } }: Result): string =>
  `${fileName}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`

const identify = (result: Result): string => `${rangeOf(result)} ${result.mutatorName} ${result.replacement}`

const isDetected = ({ status }: Result): boolean => status === "Killed" || status === "Timeout"

/** Corrects two results: a test's own time-out is a time-out, and Stryker reports an error that it cannot print as its own. */
const statusOf = ({ status, statusReason = "" }: Result): Result["status"] =>
  statusReason.startsWith("Test timed out")
    ? "Timeout"
    : statusReason.includes("Cannot convert object to primitive value")
    ? "Killed"
    : status

/** Tests to try faults with. */
interface Stage {
  readonly tests: ReadonlyArray<string>
  /** Names of tests that are left out. */
  readonly skipped: ReadonlyArray<string>
  /** The time after which a test counts as failed, in milliseconds. */
  readonly timeout: number
}

/** Puts faults into files, or ranges of files, and runs tests of their folder. */
const mutate = async (
  name: string,
  places: ReadonlyArray<string>,
  { skipped, tests, timeout }: Stage
): Promise<ReadonlyArray<Result>> => {
  process.env["MUTATION_TESTS"] = JSON.stringify(tests)
  process.env["MUTATION_SKIPPED"] = JSON.stringify(skipped)
  process.env["MUTATION_TIMEOUT"] = String(timeout)
  const results = await new Stryker({
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
    coverageAnalysis: "perTest",
    allowEmpty: true, // all tests of a stage may be slow
    mutate: [...places],
    concurrency: 3, // many faults only make a test wait
    tempDirName: `${directory}/${name.replaceAll("/", "-")}`,
    ignorePatterns: [".bundled", ".docs", ".mutation", "coverage", "dist"],
    reporters: process.stdout.isTTY ? ["progress"] : ["progress-append-only"],
    allowConsoleColors: false,
    timeoutMS: timeout,
    dryRunTimeoutMinutes: 15,
    warnings: false
  }).runMutationTest()
  return results.map((result) => ({
    ...result,
    status: statusOf(result),
    fileName: relative(process.cwd(), result.fileName)
  }))
}

/**
 * Mutates a folder, first with the fastest of its own tests, then with those that are not slow, then with all that are not slow,
 * then with all its tests. Each stage tries the faults that the one before has not detected; none is needed any more once enough
 * are detected.
 */
const run = async (
  { files, name, ownTests, tests }: Folder,
  testsOver: Awaited<ReturnType<typeof timeTests>>
): Promise<ReadonlyArray<Result>> => {
  const stages: ReadonlyArray<Stage> = [
    { tests: ownTests, skipped: testsOver(fast), timeout: 5000 },
    { tests: ownTests, skipped: testsOver(slow), timeout: 5000 },
    ...tests.length > ownTests.length ? [{ tests, skipped: testsOver(slow), timeout: 5000 }] : [],
    { tests, skipped: [], timeout: 20_000 }
  ]
  let results: ReadonlyArray<Result> = []
  for (const stage of stages) {
    const undetected = results.filter((result) => !isDetected(result))
    if (results.length > 0 && values.file.length === 0 && scoreOf(results) >= threshold) break
    const places = results.length === 0 ? files : [...new Set(undetected.map(rangeOf))]
    const tried = await mutate(name, places, stage)
    const found = new Map(tried.filter(isDetected).map((result) => [identify(result), result]))
    results = results.length === 0 ? tried : results.map((result) => found.get(identify(result)) ?? result)
  }
  return results
}

const count = (results: ReadonlyArray<Result>, status: Result["status"]): number =>
  results.filter((result) => result.status === status).length

/** Share of detected faults, in per cent. */
const scoreOf = (results: ReadonlyArray<Result>): number =>
  results.length === 0 ? 100 : Math.floor(1000 * results.filter(isDetected).length / results.length) / 10

const row = (name: string, ...figures: ReadonlyArray<string>): string =>
  name.padEnd(20) + figures.map((figure) => figure.padStart(11)).join("")

/**
 * Runs one server for the tests that need PostgreSQL: with each fault, one for each test file would take longer than its tests. Returns
 * an effect that fails if the server does not respond: then faults were detected only because their tests had no database.
 */
const startPostgres = Effect.gen(function*() {
  if (values.quick || !isAvailable) return Effect.void
  const { database, port } = yield* postgresServer
  process.env["TEST_POSTGRES_PORT"] = String(port)
  return Effect.orElse(
    Effect.asVoid(Effect.scoped(Effect.sandbox(database))),
    () => Effect.dieMessage("PostgreSQL does not respond any more: these results say nothing")
  )
})

const runAll = async (chosen: ReadonlyArray<Folder>): Promise<void> => {
  const testsOver = await timeTests([...new Set(chosen.flatMap(({ tests }) => tests))])
  const rows: Array<string> = []
  const all: Array<Result> = []
  const low: Array<string> = []
  for (const folder of chosen) {
    const results = await run(folder, testsOver)
    const undetected = results.filter((result) => !isDetected(result))
    for (const { fileName, location: { start }, mutatorName, replacement, status } of undetected) {
      console.log(`${fileName}:${start.line}:${start.column} ${status} ${mutatorName}: ${replacement ?? ""}`)
    }
    all.push(...results)
    const score = scoreOf(results)
    if (values.file.length === 0 && score < threshold) low.push(folder.name)
    const figures = [results.length, count(results, "Killed"), count(results, "Timeout"), undetected.length].map(String)
    rows.push(row(folder.name, ...figures, `${score.toFixed(1)} %`))
    console.log(rows.at(-1))
  }
  console.log(`\n${row("folder", "faults", "killed", "timed out", "undetected", "detected")}`)
  for (const each of rows) console.log(each)
  const undetected = all.filter((result) => !isDetected(result)).length
  console.log(`\n${JSON.stringify({ faults: all.length, undetected, score: scoreOf(all), belowThreshold: low })}`)
  if (low.length > 0) process.exitCode = 1
}

const chosen = chooseFolders()

Effect.flatMap(startPostgres, (check) => Effect.zipRight(Effect.promise(() => runAll(chosen)), check)).pipe(
  Effect.scoped,
  NodeRuntime.runMain
)
