/** What both clients' processes have in common: they go through pages, a leg at a time, and report what that has taken. */
import { codeLength } from "./pages.js"

/** Sent to the process: go through so many pages more. */
export interface Job {
  readonly pages: number
}

/** Sent by the process when it is done. Memory is the most that the process has held since its start, in megabytes. */
export interface Report {
  readonly versions: number
  readonly millis: number
  readonly cpuMillis: number
  readonly peakMb: number
}

/** Sent by the process when it is ready. */
export interface Ready {
  /** When it had read one page once. */
  readonly onceMb: number
  /** When it had read that page, and nothing else, so often that its code is compiled and its heap as large as it likes. */
  readonly onePageMb: number
}

const warmUps = 400

interface Version {
  readonly id?: string
  readonly code?: string
}

/** Looks at a version, as whoever reads them would. */
export type Look = (version: Version) => void

export interface Reader {
  /** Reads one page, always the same, and nothing else. */
  readonly onePage: (look: Look) => Promise<void>
  /** Reads so many pages, from where it has stopped on. */
  readonly next: (pages: number, look: Look) => Promise<void>
}

const peakMb = () => process.resourceUsage().maxRSS / 1024

const perform = async (read: (look: Look) => Promise<void>): Promise<Report> => {
  let versions = 0
  let last = ""
  const begin = performance.now()
  const before = process.cpuUsage()
  await read(({ code, id = "" }) => {
    if (code?.length !== codeLength || id === last) throw new Error("not what the server has sent")
    last = id
    versions++
  })
  const { system, user } = process.cpuUsage(before)
  return { versions, millis: performance.now() - begin, cpuMillis: (system + user) / 1000, peakMb: peakMb() }
}

/** Lets the process do what its parent asks for. It ends with its parent. */
export const client = async (make: (origin: string) => Promise<Reader> | Reader): Promise<void> => {
  process.on("disconnect", () => process.exit())
  const { next, onePage } = await make(process.argv[2] ?? "")
  await perform(onePage)
  const onceMb = peakMb()
  for (let nth = 0; nth < warmUps; nth++) await perform(onePage)
  process.on("message", async ({ pages }: Job) => process.send?.(await perform((look) => next(pages, look))))
  const ready: Ready = { onceMb, onePageMb: peakMb() }
  process.send?.(ready)
}
