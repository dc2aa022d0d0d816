/** What all clients' processes have in common: they make calls for a while and report what that has cost. */
import { check, type PayloadName } from "./payloads.js"

/** Sent to the process: call. */
export interface Job {
  readonly payload: PayloadName
  /** So many at a time. */
  readonly concurrency: number
  /** For so long, or so many of them: what else the machine does changes how many fit into a time. */
  readonly millis?: number
  readonly calls?: number
}

/** Sent by the process when it is done. */
export interface Report {
  readonly calls: number
  /** Of the processor, in user and system mode, in all its threads. */
  readonly cpuMicros: number
  readonly millis: number
}

/** Sent by the process when all is imported. */
export interface Ready {
  readonly pid: number
}

/** Says whether to make another call. It is asked before each. */
export type GoOn = () => boolean

/** Makes calls, so many at a time, until it is told to stop. */
export type Run = (payload: PayloadName, concurrency: number, goOn: GoOn) => Promise<void>

/** Makes calls, and says what they have cost. */
export const perform = async (run: Run, job: Job): Promise<Report> => {
  const { concurrency, millis = Infinity, payload } = job
  let calls = 0
  const begin = performance.now()
  const before = process.cpuUsage()
  await run(payload, concurrency, () => {
    if (calls > 0 && (calls >= (job.calls ?? Infinity) || performance.now() - begin >= millis)) return false
    calls++
    return true
  })
  const { system, user } = process.cpuUsage(before)
  return { calls, cpuMicros: system + user, millis: performance.now() - begin }
}

/** Lets the process do what its parent asks for. It ends with its parent. */
export const client = async (make: (origin: string) => Promise<Run> | Run): Promise<void> => {
  process.on("disconnect", () => process.exit())
  const run = await make(process.argv[2] ?? "")
  process.on("message", async (job: Job) => process.send?.(await perform(run, job)))
  const ready: Ready = { pid: process.pid }
  process.send?.(ready)
}

/** A client that gives promises. */
export const promising = (calls: Readonly<Record<PayloadName, () => PromiseLike<unknown>>>): Run => {
  return async (payload, concurrency, goOn) => {
    const call = calls[payload]
    check[payload](await call())
    const loop = async () => {
      while (goOn()) await call()
    }
    await Promise.all(Array.from({ length: concurrency }, loop))
  }
}
