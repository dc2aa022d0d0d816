/**
 * Kills a process that redelivers events at random moments, restarts it each time, and checks that every event is sent
 * exactly once, except for those that it reports as unknown. `npm run test:crash` uses 2,000 events and 100 kills,
 * and then kills a process that exports users into a file.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServer from "@effect/platform/HttpServer"
import { Effect, Layer, Redacted } from "effect"
import { buildSync } from "esbuild"
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Tenant from "../../src/Tenant.js"
import { crashExport } from "./crashExport.js"

const stream = "est_0000000000000000000001"
const unlimited = { burst: 1_000_000, refill: 1_000_000, per: "1 second" } as const

const tenantOf = (ids: ReadonlyArray<string>) =>
  Layer.merge(
    Tenant.layerWith({
      seed: { streams: [{ id: stream, events: ids.map((id) => ({ id, state: "failed" })) }] },
      buckets: { tenant: unlimited, profileUpdates: unlimited }
    }),
    NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 })
  )

/** The exit status of a process and the lines that it printed. */
interface ProcessResult {
  readonly code: number | null
  readonly signal: string | null
  readonly lines: ReadonlyArray<string>
}

/** The outcome of a crash test. */
export interface CrashReport {
  readonly kills: number
  readonly events: number
  /** The number of events in the tenant's log. */
  readonly sent: number
  readonly accepted: number
  readonly unknown: number
}

/** Runs the test. Dies with an assertion error if an event is sent twice, is lost, or changes its result. */
export const crash = (events: number, kills: number): Effect.Effect<CrashReport> => {
  const ids = Array.from({ length: events }, (_, nth) => `evt_${String(nth).padStart(22, "0")}`)
  return Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "crash-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
    )
    const program = join(directory, "redeliver.cjs")
    buildSync({
      entryPoints: [fileURLToPath(new URL("redeliver.ts", import.meta.url))],
      outfile: program,
      bundle: true,
      minify: true,
      platform: "node",
      target: "node20",
      format: "cjs",
      logLevel: "error"
    })

    const { app, requests } = yield* Tenant.Tenant
    let received = 0
    let onRequest = () => {}
    yield* HttpServer.serveEffect(Effect.suspend(() => {
      received++
      onRequest()
      return app
    }))
    const origin = yield* HttpServer.addressFormattedWith(Effect.succeed)
    const { full } = Tenant.demoClients

    /** Runs the process until it ends. `plan` receives the function that kills it. */
    const start = (plan: (kill: () => void) => void) =>
      Effect.async<ProcessResult>((resume) => {
        const child = spawn(process.execPath, [program, stream, join(directory, "journal"), String(events), "200"], {
          stdio: ["ignore", "pipe", "inherit"],
          env: {
            IDENTITY_BASE_URL: `${origin}/api/v2`,
            IDENTITY_AUTH_URL: origin,
            IDENTITY_CLIENT_ID: full.id,
            IDENTITY_CLIENT_SECRET: Redacted.value(full.secret)
          }
        })
        let text = ""
        child.stdout.setEncoding("utf8").on("data", (part: string) => void (text += part))
        child.on("close", (code, signal) => {
          onRequest = () => {}
          resume(Effect.succeed({ code, signal, lines: text.split("\n").slice(0, -1) })) // drops a truncated line
        })
        plan(() => void child.kill("SIGKILL"))
      })

    /** Kills in one of ten cases at any time, otherwise at a certain request or up to 4 ms after it. */
    const atRandom = (kill: () => void) => {
      if (Math.random() < 0.1) return void setTimeout(kill, Math.random() * 600)
      const last = received + 2 + Math.floor(Math.random() * (1.5 * events / kills - 8))
      onRequest = () => {
        if (received !== last) return
        const delay = Math.random() * 4
        if (delay < 1) kill()
        else setTimeout(kill, delay)
      }
    }

    const reported = new Map<string, string>()
    const note = (lines: ReadonlyArray<string>) => {
      for (const line of lines) {
        const [id = "", outcome = ""] = line.split(" ")
        assert.equal(reported.get(id) ?? outcome, outcome, id)
        reported.set(id, outcome)
      }
    }

    let killed = 0
    // A process may end before its time to be killed comes.
    for (let nth = 0; killed < kills && nth < 2 * kills; nth++) {
      const ended = yield* start(atRandom)
      if (ended.signal === "SIGKILL") killed++
      note(ended.lines)
    }
    const last = yield* start(() => {})
    note(last.lines)

    assert.equal(last.code, 0)
    assert.deepEqual(last.lines.map((line) => line.split(" ")[0]).sort(), ids)
    const log = (yield* requests).filter(({ operation }) => operation === "redeliverEvent")
    const times = new Map<string, number>()
    for (const { path } of log) {
      const id = path.split("/").at(-1) ?? ""
      times.set(id, (times.get(id) ?? 0) + 1)
    }
    for (const id of ids) {
      const [outcome, count = 0] = [reported.get(id), times.get(id)]
      assert(
        outcome === "unknown" ? count <= 1 : outcome === "accepted" && count === 1,
        `${id}: ${outcome}, sent ${count} times`
      )
    }
    const unknown = ids.filter((id) => reported.get(id) === "unknown").length
    return { kills: killed, events, sent: log.length, accepted: events - unknown, unknown }
  }).pipe(Effect.scoped, Effect.provide(tenantOf(ids)), Effect.orDie)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const has = (name: string) => process.argv.includes(`--${name}`)
  const report = await Effect.runPromise(has("quick") ? crash(500, 25) : crash(2000, 100))
  assert.equal(report.kills, has("quick") ? 25 : 100)
  console.log(JSON.stringify(report))
  const [rows, exportKills] = has("full") ? [100_000, 50] : has("quick") ? [20_000, 5] : [20_000, 8]
  console.log(JSON.stringify(await Effect.runPromise(crashExport(rows, exportKills))))
}
