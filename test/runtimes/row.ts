/** Runs the suite on one runtime, which is a row of the table. Errors of the runtime itself are failures of the row, too. */
import { Redacted } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as Tenant from "../../src/Tenant.js"
import { launch } from "../support/chromium.js"
import { bundle, exitOf, type Kind, startWorker } from "./kinds.js"
import type { Result } from "./runner.js"
import type { OpenedServer, Scene } from "./scenes.js"

/** Results of a runtime. */
export interface Row {
  readonly runtime: string
  readonly version: string
  readonly passed: number
  /** Tests that failed or have no result, with the reason. */
  readonly failures: ReadonlyArray<{ readonly test: string; readonly reason: string }>
  readonly seconds: number
}

/** Maximum time for all tests of a runtime, in milliseconds. */
const limit = 240_000

const versionOf = (program: string): string =>
  /\d+(?:[.-]\d+)+/.exec(execFileSync(program, ["--version"], { encoding: "utf8", timeout: 60_000 }))?.[0] ?? "?"

const runInProcess = async (
  kind: Kind,
  program: string,
  file: string,
  stage: string
): Promise<ReadonlyArray<Result>> => {
  const child = spawn(program, [...kind.flags, file, stage, kind.name], { stdio: ["ignore", "pipe", "pipe"] })
  const timer = setTimeout(() => child.kill("SIGKILL"), limit)
  const results: Array<Result> = []
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
  createInterface({ input: child.stdout }).on("line", (line) => {
    // Sound: a line that begins so is the runner's; other lines are the runtime's.
    if (line.startsWith("{")) results.push(JSON.parse(line) as Result)
    else errors += `${line}\n`
  })
  const code = await exitOf(child).finally(() => clearTimeout(timer))
  if (code !== 0) results.push({ name: "the process", error: `exited with ${code}: ${errors.trim()}` })
  return results
}

/** Runs the tests in a page of the stage. */
const runInBrowser = async (
  kind: Kind,
  program: string,
  file: string,
  stage: string
): Promise<ReadonlyArray<Result>> => {
  const browser = await launch(program, kind.flags)
  const timer = setTimeout(() => void browser.close(), limit)
  try {
    const page = await browser.newPage()
    const results: Array<Result> = []
    page.on("console", (message) => {
      // Sound: a line that begins so is the runner's; other lines are the browser's, about responses that are faults.
      if (message.text().startsWith("{")) results.push(JSON.parse(message.text()) as Result)
    })
    await page.goto(`${stage}/matrix`)
    await page.addScriptTag({ path: file, type: "module" })
    await page.waitForFunction("'runSuite' in globalThis") // modules run later
    await page.evaluate(`runSuite(${JSON.stringify(stage)}, ${JSON.stringify(kind.name)})`)
    return results
  } finally {
    clearTimeout(timer)
    await browser.close()
  }
}

/** Sends a request for each test, with the same concurrency as in a process. */
const runInWorker = async (
  kind: Kind,
  program: string,
  directory: string,
  name: string,
  stage: string
): Promise<ReadonlyArray<Result>> => {
  const { child, url } = await startWorker(program, directory, name, { STAGE: stage, RUNTIME: kind.name })
  const end = exitOf(child)
  const signal = AbortSignal.timeout(limit)
  try {
    const names = (await (await fetch(url, { signal })).json()) as ReadonlyArray<string> // sound: the worker is ours
    const left = names.values()
    const results: Array<Result> = []
    await Promise.all(Array.from({ length: 12 }, async () => {
      for (const test of left) {
        const response = await fetch(`${url}/${encodeURIComponent(test)}`, { signal })
        results.push(
          response.ok
            ? ((await response.json()) as Result) // sound: the same
            : { name: test, error: `the worker responds with ${response.status}: ${await response.text()}` }
        )
      }
    }))
    return results
  } finally {
    child.kill()
    await end
  }
}

/** The README's worker, which runs against a tenant of the stage. */
const example = "examples/worker.ts"

const runExample = async (kind: Kind, program: string, directory: string, stage: string): Promise<Result> => {
  const { actions: [action] } = Tenant.demo
  const { full } = Tenant.demoClients
  await bundle(join(import.meta.dirname, "../..", example), kind, join(directory, "example.js"))
  const opened = await fetch(`${stage}/scenes`, {
    method: "POST",
    body: JSON.stringify({ scene: "tenant" } satisfies Scene)
  })
  const { origin, url: baseUrl } = (await opened.json()) as OpenedServer // sound: the stage is ours
  const { child, url } = await startWorker(program, directory, "example", {
    IDENTITY_BASE_URL: baseUrl,
    IDENTITY_AUTH_URL: origin,
    IDENTITY_CLIENT_ID: full.id,
    IDENTITY_CLIENT_SECRET: Redacted.value(full.secret),
    WORKER_SECRET: "a-secret-of-the-worker"
  })
  const end = exitOf(child)
  try {
    const results: Array<string> = []
    const requests = [[action.id, "a-secret-of-the-worker"], ["unknown", "a-secret-of-the-worker"], [
      action.id,
      "wrong"
    ]] as const
    for (const [id, secret] of requests) {
      const headers = { authorization: `Bearer ${secret}` }
      const response = await fetch(`${url}/${id}`, { headers, signal: AbortSignal.timeout(20_000) })
      const { error, total } = (await response.json()) as { readonly error?: string; readonly total?: number } // sound: ours
      results.push(`${response.status} ${error ?? total}`)
    }
    const shown = results.join(", ")
    return shown === `200 ${action.versions.length}, 502 failed, 401 unauthorized`
      ? { name: example }
      : { name: example, error: shown }
  } finally {
    child.kill()
    await end
  }
}

/** Runs the suite, with tests of these names, on a runtime. */
export const runRow = async (
  kind: Kind,
  names: ReadonlyArray<string>,
  directory: string,
  stage: string
): Promise<Row> => {
  const isWorker = kind.entry === "worker"
  const tests = isWorker ? [...names, example] : names
  const begin = performance.now()
  let version = "-"
  let results: ReadonlyArray<Result> = []
  try {
    if (kind.program === undefined) throw new Error(`there is no package for ${process.platform}-${process.arch}`)
    version = versionOf(kind.program)
    const name = kind.name.replaceAll(/\W+/g, "-")
    const file = join(directory, `${name}.${isWorker ? "js" : "mjs"}`)
    await bundle(join(import.meta.dirname, "entries", `${kind.entry}.ts`), kind, file)
    results = isWorker
      ? [
        ...await runInWorker(kind, kind.program, directory, name, stage),
        await runExample(kind, kind.program, directory, stage)
      ]
      : kind.entry === "browser"
      ? await runInBrowser(kind, kind.program, file, stage)
      : await runInProcess(kind, kind.program, file, stage)
  } catch (error) {
    results = [{ name: "the start", error: error instanceof Error ? error.message : String(error) }]
  }
  const reported = new Map(results.map((result) => [result.name, result]))
  const failures = [
    ...results.flatMap(({ error, name }) => error === undefined ? [] : [{ test: name, reason: error }]),
    ...tests.flatMap((test) => reported.has(test) ? [] : [{ test, reason: "no result" }])
  ]
  const passed = tests.filter((test) => reported.has(test) && reported.get(test)?.error === undefined).length
  return { runtime: kind.name, version, passed, failures, seconds: (performance.now() - begin) / 1000 }
}
