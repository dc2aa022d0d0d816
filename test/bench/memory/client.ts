/** The common part of both clients: reads pages, one leg at a time, and reports the time and memory used. */
import { codeLength } from "./pages.js"

/** Asks the process to read this number of further pages. */
export interface Job {
  readonly pages: number
}

/** Sent by the process after a leg. */
export interface Report {
  readonly versions: number
  readonly millis: number
  readonly cpuMillis: number
  /** The maximum resident set size since the process started. */
  readonly peakMb: number
}

/** Sent by the process when it is ready: its maximum resident set sizes. */
export interface Ready {
  /** After one page was read once. */
  readonly onceMb: number
  /** After only that page was read `warmUps` times, so that the code is compiled and the heap has its final size. */
  readonly onePageMb: number
}

const warmUps = 400

interface Version {
  readonly id?: string
  readonly code?: string
}

/** Consumes a version. */
export type Visit = (version: Version) => void

export interface Reader {
  /** Reads the first page. */
  readonly onePage: (visit: Visit) => Promise<void>
  /** Reads this number of further pages. */
  readonly next: (pages: number, visit: Visit) => Promise<void>
}

const peakMb = () => process.resourceUsage().maxRSS / 1024

const perform = async (read: (visit: Visit) => Promise<void>): Promise<Report> => {
  let versions = 0
  let last = ""
  const start = performance.now()
  const before = process.cpuUsage()
  await read(({ code, id = "" }) => {
    if (code?.length !== codeLength || id === last) throw new Error("unexpected version")
    last = id
    versions++
  })
  const { system, user } = process.cpuUsage(before)
  return { versions, millis: performance.now() - start, cpuMillis: (system + user) / 1000, peakMb: peakMb() }
}

/** Runs the legs that the parent process asks for. Exits when the parent does. */
export const client = async (make: (origin: string) => Promise<Reader> | Reader): Promise<void> => {
  process.on("disconnect", () => process.exit())
  const { next, onePage } = await make(process.argv[2] ?? "")
  await perform(onePage)
  const onceMb = peakMb()
  for (let nth = 0; nth < warmUps; nth++) await perform(onePage)
  process.on("message", async ({ pages }: Job) => process.send?.(await perform((visit) => next(pages, visit))))
  const ready: Ready = { onceMb, onePageMb: peakMb() }
  process.send?.(ready)
}
