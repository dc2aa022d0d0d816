/** The common part of the clients: reads a whole export for each request of the parent, and reports time and memory. */
import type { Format } from "./users.js"

/** Asks the process to read an export. */
export interface Job {
  readonly origin: string
  readonly format: Format
}

/** Sent by the process after an export. */
export interface Report {
  readonly rows: number
  readonly millis: number
  readonly cpuMillis: number
  /** The maximum resident set size since the process started. */
  readonly peakMb: number
}

/** Consumes a row. */
export type Visit = (row: { readonly user_id?: unknown; readonly picture?: unknown }) => void

/** Runs the exports that the parent process asks for. Exits when the parent does. */
export const client = (read: (job: Job, visit: Visit) => Promise<void>): void => {
  process.on("disconnect", () => process.exit())
  process.on("message", async (job: Job) => {
    let rows = 0
    const start = performance.now()
    const before = process.cpuUsage()
    await read(job, ({ picture, user_id }) => {
      if (typeof user_id !== "string" || typeof picture !== "string") throw new Error("unexpected row")
      rows++
    })
    const { system, user } = process.cpuUsage(before)
    const report: Report = {
      rows,
      millis: performance.now() - start,
      cpuMillis: (system + user) / 1000,
      peakMb: process.resourceUsage().maxRSS / 1024
    }
    process.send?.(report)
  })
  process.send?.({})
}
