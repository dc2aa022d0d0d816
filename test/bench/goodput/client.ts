/** What all clients' processes have in common: wait for the word to go, make the calls from 50 fibres, report what became of them. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Limit, Scenario } from "./scenarios.js"
import { mostWithin } from "./windows.js"
import { nthCall, type Operations } from "./work.js"

/** In each client: two that share a tenant have 50 each, as two programs would that do not know of each other. */
const fibres = 50

/** Sent to the process: go. The calls are those from `first` on, before `end`. */
export interface Job {
  readonly origin: string
  readonly bucket: Limit["bucket"]
  readonly first: number
  readonly end: number
  /** After so long the client gives up; calls that have not succeeded by then have failed. */
  readonly limitMs: number
  readonly known?: Scenario["known"] | undefined
}

/** Sent by the process when all is imported: what its clocks show. */
export interface Ready {
  readonly clocks: ReadonlyArray<number>
}

/** Sent by the process when it is done. */
export interface Report {
  readonly succeeded: number
  /** How many failed, by what came. */
  readonly failures: Readonly<Record<string, number>>
  /** From the word to go, before the client is made and a token fetched, until the last call has ended. */
  readonly millis: number
  /** The same until the fiftieth call has succeeded; as long as all of them if there are fewer. */
  readonly fiftiethMs: number
  /** The longest time for which the process could do nothing: on a busy machine the figures are not the library's alone. */
  readonly heldUpMs: number
  /** With a ceiling: the most calls that the client let start within any ten seconds. */
  readonly inTenSeconds: number
}

const word = (error: object, name: string): string => {
  const value = Predicate.hasProperty(error, name) ? error[name] : undefined
  return typeof value === "string" || typeof value === "number" ? String(value) : ""
}

/** The kind of a failure: its name and its status, whatever library it comes from. */
const kind = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return String(error)
  return [word(error, "_tag") || word(error, "name"), word(error, "status") || word(error, "statusCode")].join(" ")
    .trim()
}

const run = (program: Program, job: Job): Effect.Effect<Report> => {
  const delays = monitorEventLoopDelay({ resolution: 10 })
  delays.enable()
  const begin = performance.now()
  let lastEnd = begin
  let fiftieth = begin
  let succeeded = 0
  const starts: Array<number> = []
  const failures: Record<string, number> = {}
  const count = (failure: string, times = 1) => {
    failures[failure] = (failures[failure] ?? 0) + times
  }
  const calls = Array.from({ length: job.end - job.first }, (_, index) => job.first + index)
  const work: Work = (operations) =>
    Effect.forEach(calls, (nth) =>
      Effect.matchCause(nthCall(operations, job.bucket, nth), {
        onFailure: (cause) => {
          count(kind(Cause.squash(cause)))
          lastEnd = performance.now()
        },
        onSuccess: () => {
          succeeded++
          lastEnd = performance.now()
          if (succeeded <= 50) fiftieth = lastEnd
        }
      }), { concurrency: fibres, discard: true })
  return Effect.forkDaemon(program(job.origin, work, job.known, () => void starts.push(performance.now()))).pipe(
    // Calls that are late end with the process: nothing waits for them.
    Effect.flatMap((fiber) => Effect.timeoutOption(Fiber.join(fiber), job.limitMs)),
    Effect.map(() => {
      const ended = succeeded + Object.values(failures).reduce((sum, times) => sum + times, 0)
      if (ended < calls.length) {
        count("not done in time", calls.length - ended)
        lastEnd = begin + job.limitMs
      }
      return {
        succeeded,
        failures,
        millis: lastEnd - begin,
        fiftiethMs: fiftieth - begin,
        heldUpMs: delays.max / 1e6,
        inTenSeconds: mostWithin(starts, 10_000)
      }
    })
  )
}

/** Makes all calls with the given operations. */
type Work = <R>(operations: Operations<R>) => Effect.Effect<void, never, R>

/** Makes a client of the tenant at an origin, and lets it do the work. It tells when a call that a ceiling counts may start. */
export type Program = (
  origin: string,
  work: Work,
  known: Scenario["known"],
  started: () => void
) => Effect.Effect<void>

/** Runs the program in this process when its parent says go. The process ends with the report, or with its parent. */
export const client = (program: Program): void => {
  process.on("disconnect", () => process.exit())
  process.once("message", (job: Job) => {
    Effect.runCallback(run(program, job), {
      onExit: (exit) => {
        if (exit._tag === "Success") process.send?.(exit.value, () => process.exit())
        else throw Cause.squash(exit.cause)
      }
    })
  })
  const ready: Ready = { clocks: [Date.now(), new Date().getTime(), Effect.runSync(Clock.currentTimeMillis)] }
  process.send?.(ready)
}
