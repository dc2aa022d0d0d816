/**
 * Kills a process that exports users into a file at random moments, and restarts it each time until the file is complete. Checks that
 * one job was started and that the file is right to the byte. `npm run test:crash -- --full` kills 50 times.
 */
import { Effect } from "effect"
import { buildSync } from "esbuild"
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzip, ndjson, send } from "./storage.js"

/** The outcome of the test. */
export interface ExportCrashReport {
  readonly kills: number
  /** The number of files, each of an export of its own. */
  readonly files: number
  readonly jobs: number
  /** The number of kills while a job was started, after which the program asks for its id. */
  readonly unknownStarts: number
  readonly rows: number
}

/** What a program is killed at: the start of the job, a look at it, a part of the download, or any time. */
type Moment = "job" | "look" | "download" | "time"

const moments: ReadonlyArray<Moment> = ["job", "look", "download", "download", "download", "time"]

/** A tenant and its storage on one socket. `onEvent` runs before each response, with the bytes of the file that are to be sent. */
const serveTenant = (file: Uint8Array) =>
  Effect.acquireRelease(
    Effect.async<
      { origin: string; jobs: Array<string>; on: (hook: (moment: Moment) => void) => void; close: () => void }
    >(
      (resume) => {
        const jobs: Array<string> = []
        const looks = new Map<string, number>()
        let hook: (moment: Moment) => void = () => {}
        const json = (response: ServerResponse, value: object) =>
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
        const respond = ({ headers, method, url = "" }: IncomingMessage, response: ServerResponse) => {
          if (url.startsWith("/storage")) {
            hook("download")
            return send(response, { url, headers }, file, { partSize: 2 * 1024 * 1024 })
          }
          if (method === "POST") {
            const id = `job_${jobs.length}`
            jobs.push(id)
            hook("job")
            return json(response, { id, type: "users_export", status: "pending", format: "json" })
          }
          hook("look")
          const id = url.split("/").at(-1) ?? ""
          looks.set(id, (looks.get(id) ?? 0) + 1)
          const status = (looks.get(id) ?? 0) > 1 ? "completed" : "processing"
          const location = `http://${headers.host}/storage/${id}`
          return json(response, { id, type: "users_export", status, format: "json", location })
        }
        const server = createServer((request, response) =>
          void request.resume().once("end", () => respond(request, response))
        )
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo // sound: on TCP
          const origin = `http://127.0.0.1:${port}`
          const close = () => void server.close().closeAllConnections()
          resume(Effect.succeed({ origin, jobs, on: (next) => void (hook = next), close }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )

/** Runs the test. Dies with an assertion error if a second job is started, or a file is not right. */
export const crashExport = (rows: number, kills: number): Effect.Effect<ExportCrashReport> =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "crash-export-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
    )
    const program = join(directory, "exportToFile.cjs")
    buildSync({
      entryPoints: [fileURLToPath(new URL("exportToFile.ts", import.meta.url))],
      outfile: program,
      bundle: true,
      minify: true,
      platform: "node",
      target: "node20",
      format: "cjs",
      logLevel: "error"
    })
    const text = Buffer.from(ndjson(rows))
    const file = gzip(text)
    const tenant = yield* serveTenant(file)

    /** Runs the process until it ends, by itself or killed. */
    const start = (args: ReadonlyArray<string>, isToBeKilled: boolean) =>
      Effect.async<{ readonly line: string; readonly signal: string | null }>((resume) => {
        const child = spawn(process.execPath, [program, tenant.origin, ...args], {
          stdio: ["ignore", "pipe", "inherit"],
          env: {}
        })
        let line = ""
        child.stdout.setEncoding("utf8").on("data", (part: string) => void (line += part))
        child.on("close", (_, signal) => {
          tenant.on(() => {})
          resume(Effect.succeed({ line: line.trim(), signal }))
        })
        if (!isToBeKilled) return
        const kill = () => void child.kill("SIGKILL")
        const moment = moments[Math.floor(Math.random() * moments.length)]
        if (moment === "time") setTimeout(kill, Math.random() * 1200)
        // From the last part of the download on, the rest of a run takes some tens of milliseconds.
        else tenant.on((seen) => seen === moment && setTimeout(kill, Math.random() < 0.2 ? 0 : Math.random() * 150))
      })

    let [killed, files, unknownStarts] = [0, 0, 0]
    while (killed < kills) {
      const path = join(directory, `users-${files}`)
      const kind = files % 2 === 0 ? "plain" : "gzip"
      const before = tenant.jobs.length
      let extra: ReadonlyArray<string> = []
      for (let isDone = false; !isDone;) {
        const { line, signal } = yield* start([path, kind, ...extra], killed < kills)
        extra = []
        if (signal === "SIGKILL") killed++
        const [job] = tenant.jobs.slice(before)
        if (line === "unknown-start") {
          unknownStarts++
          // As a person would: the job, if the tenant has one, else another start.
          extra = job === undefined ? ["", "again"] : [job]
        } else {
          // `exists`: the run before was killed after its work was done.
          isDone = line === `done ${rows}` || line === "exists"
          assert(isDone || signal === "SIGKILL", line)
        }
      }
      files++
      assert.equal(tenant.jobs.length - before, 1, "one job is started for a file")
      assert(readFileSync(path).equals(kind === "gzip" ? file : text), "the file is right to the byte")
      rmSync(path)
      assert.deepEqual(
        readdirSync(directory).filter((name) => name.startsWith("users")),
        [],
        "nothing is left beside it"
      )
    }
    return { kills: killed, files, jobs: tenant.jobs.length, unknownStarts, rows }
  }).pipe(Effect.scoped)
