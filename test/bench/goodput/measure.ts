/** Measures rows side by side: every process is started and ready before the first call is made. */
import * as Effect from "effect/Effect"
import { cpus } from "node:os"
import { join } from "node:path"
import { effect3, type Line } from "../../../.ci/line.js"
import { bundle } from "../processes.js"
import type { Job, Ready, Report } from "./client.js"
import { type Result, summary } from "./result.js"
import { type ClientName, idealMs, type Row } from "./scenarios.js"
import type { Origins, Question, Seen, Setup } from "./tenants.js"

type Program = ClientName | "tenants" | "clock" | "load"

/** A process reports when its time is up. One without a report this long after counts as lost. */
const graceMs = 2000

/** What a process came to that ended, or hung, without a report. */
const lost = (reason: string, { end, first, limitMs }: Job): Report => ({
  succeeded: 0,
  failures: { [reason]: end - first },
  millis: limitMs,
  fiftiethMs: limitMs,
  heldUpMs: 0,
  inTenSeconds: 0
})

/** Fails unless all clocks of the process are where they should be. Readings are taken to be less than 20 s old. */
const checkClocks = ({ scenario }: Row, { clocks }: Ready) =>
  clocks.length > 0 && clocks.every((clock) => Math.abs(clock - Date.now() - scenario.shiftMs) < 20_000)
    ? Effect.void
    : Effect.fail(`${scenario.name}: the client's clock is not where it should be`)

/** Several reports as one: that of all the clients of a row. */
const together = (reports: ReadonlyArray<Report>): Report => {
  const failures: Record<string, number> = {}
  for (const [kind, times] of reports.flatMap((report) => Object.entries(report.failures))) {
    failures[kind] = (failures[kind] ?? 0) + times
  }
  return {
    succeeded: reports.reduce((sum, { succeeded }) => sum + succeeded, 0),
    failures,
    millis: Math.max(...reports.map(({ millis }) => millis)),
    fiftiethMs: Math.min(...reports.map(({ fiftiethMs }) => fiftiethMs)),
    heldUpMs: Math.max(...reports.map(({ heldUpMs }) => heldUpMs)),
    inTenSeconds: Math.max(...reports.map(({ inTenSeconds }) => inTenSeconds))
  }
}

/** How rows are measured. */
export interface Options {
  /** So long after the first row has begun every client stops. */
  readonly limitMs: number
  /**
   * Rows begin one after the other at this distance. What a process does for the first time costs it half a second of a
   * processor's time; if thirty did it at once, the rows would measure that.
   */
  readonly staggerMs: number
  /** Whether the tenants' 429s say how long to wait. */
  readonly retryAfter: boolean
  /** Whether other processes keep all cores busy. */
  readonly isLoaded: boolean
  /** The line of the package whose clients are measured, on its Node. */
  readonly line: Line
}

/** The results of the rows, in their order. */
export const measure = (rows: ReadonlyArray<Row>, { isLoaded, limitMs, line, retryAfter, staggerMs }: Options) =>
  Effect.gen(function*() {
    const start = yield* bundle<Program>(import.meta.dirname, ["ours", "auth0", "auth0-10", "tenants", "clock", "load"])
    const startClient = line === effect3
      ? start
      : yield* bundle<Program>(join(line.root, "test/bench/goodput"), ["ours", "effect", "clock"])
    const names = new Set(rows.map(({ client }) => client))
    // A process for the tenants of each client: what one wastes costs the other nothing.
    const tenantsFor = (name: ClientName) => {
      const own = rows.filter(({ client }) => client === name)
      const setup: Setup = { limits: own.map(({ scenario }) => scenario.limit), retryAfter }
      return Effect.map(
        start<Origins, Question, Seen>({ program: "tenants", argument: JSON.stringify(setup) }),
        ({ ask, first }) => (row: Row) => {
          const tenant = own.indexOf(row)
          return { origin: first.origins[tenant] ?? "", seen: ask({ tenant }) }
        }
      )
    }
    const tenants = new Map(
      yield* Effect.forEach(names, (name) => Effect.map(tenantsFor(name), (tenant) => [name, tenant] as const), {
        concurrency: "unbounded"
      })
    )
    // Those that take longest go first.
    const order = [...rows].sort((a, b) =>
      idealMs(b.scenario.limit, b.scenario.limit.calls) - idealMs(a.scenario.limit, a.scenario.limit.calls)
    )
    const go = yield* Effect.makeLatch()
    let unready = rows.length

    const measureRow = (row: Row) =>
      Effect.gen(function*() {
        const { clients, limit: { bucket, burst, calls, perMs, refill }, shiftMs } = row.scenario
        const { origin, seen } = yield* Effect.map(
          Effect.fromNullable(tenants.get(row.client)),
          (tenant) => tenant(row)
        )
        // Effect's limiter needs a limit from the start: it gets the true one.
        const known = row.client === "effect"
          ? { prior: { burst, limit: refill, interval: perMs } }
          : row.scenario.known
        const delayMs = order.indexOf(row) * staggerMs
        const share = calls / clients
        const jobs = Array.from({ length: clients }, (_, nth): Job => (
          { origin, bucket, first: nth * share, end: (nth + 1) * share, limitMs: limitMs - delayMs, known }
        ))
        const ready = yield* Effect.forEach(jobs, (job) =>
          startClient<Ready, Job, Report>({
            program: row.client,
            preload: "clock",
            execPath: line.node,
            env: { CLOCK_SHIFT_MS: String(shiftMs) }
          }).pipe(
            Effect.tap(({ first }) => checkClocks(row, first)),
            Effect.map(({ ask }) => ({ ask, job }))
          ), { concurrency: "unbounded" })

        if (--unready === 0) {
          if (isLoaded) yield* Effect.forEach(cpus(), () => start({ program: "load" }))
          yield* go.open
        }
        yield* go.await
        yield* Effect.sleep(delayMs)

        const reports = yield* Effect.forEach(ready, ({ ask, job }) =>
          ask(job).pipe(
            Effect.timeoutFail({
              duration: job.limitMs + graceMs,
              onTimeout: () => "no report came"
            }),
            Effect.catchAll((reason) => Effect.succeed(lost(reason, job)))
          ), { concurrency: "unbounded" })
        const { arrivedInTenSeconds, refused, requests } = yield* seen
        const result: Result = { ...row, ...together(reports), requests, refused, arrivedInTenSeconds }
        yield* Effect.sync(() => console.error(summary(result)))
        return result
      })

    return yield* Effect.forEach(rows, measureRow, { concurrency: "unbounded" })
  }).pipe(Effect.scoped)
