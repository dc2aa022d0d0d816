/** The common part of all client processes: they make calls for a while and report the cost. */
import { check, type PayloadName } from "./payloads.js"

/** Asks the process to make calls. */
export interface Job {
  readonly payload: PayloadName
  /** The number of calls at a time. */
  readonly concurrency: number
  /** The duration. The number of calls within it varies with the load of the machine. */
  readonly millis?: number
  /** The number of calls, instead of a duration. */
  readonly calls?: number
}

/** Sent by the process when it is done. */
export interface Report {
  readonly calls: number
  /** Processor time in user and system mode, in all threads of the process. */
  readonly cpuMicros: number
  readonly millis: number
}

/** Sent by the process when its modules are loaded. */
export interface Ready {
  readonly pid: number
}

/** Returns whether to make another call. Checked before each call. */
export type ShouldContinue = () => boolean

/** Makes this number of calls at a time, until `shouldContinue` returns false. */
export type Run = (payload: PayloadName, concurrency: number, shouldContinue: ShouldContinue) => Promise<void>

/** Makes calls, and measures their cost. */
export const perform = async (run: Run, job: Job): Promise<Report> => {
  const { concurrency, millis = Infinity, payload } = job
  let calls = 0
  const start = performance.now()
  const before = process.cpuUsage()
  await run(payload, concurrency, () => {
    if (calls > 0 && (calls >= (job.calls ?? Infinity) || performance.now() - start >= millis)) return false
    calls++
    return true
  })
  const { system, user } = process.cpuUsage(before)
  return { calls, cpuMicros: system + user, millis: performance.now() - start }
}

/** Performs the jobs that the parent process sends. Exits when the parent does. */
export const client = async (make: (origin: string) => Promise<Run> | Run): Promise<void> => {
  process.on("disconnect", () => process.exit())
  const run = await make(process.argv[2] ?? "")
  process.on("message", async (job: Job) => process.send?.(await perform(run, job)))
  const ready: Ready = { pid: process.pid }
  process.send?.(ready)
}

/** Runs a client whose calls are promises. */
export const runPromises = (calls: Readonly<Record<PayloadName, () => PromiseLike<unknown>>>): Run => {
  return async (payload, concurrency, shouldContinue) => {
    const call = calls[payload]
    check[payload](await call())
    const loop = async () => {
      while (shouldContinue()) await call()
    }
    await Promise.all(Array.from({ length: concurrency }, loop))
  }
}
