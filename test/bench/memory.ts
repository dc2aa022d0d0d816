/**
 * `npm run bench:memory`: reads 100,000 versions with 5 KB of code each, in 2,000 pages of 50, over a socket. Measures how
 * much more memory the stream needs than a single page, and its throughput compared with a loop over pages by hand.
 *
 * The server and both clients run in processes of their own. The clients read alternately, one leg at a time, so that both
 * see the same load of the machine. Two processes of the same program differ in speed by a few per cent, so the benchmark
 * runs several pairs: the ratio is the median over all legs, the growth is the maximum over all pairs. `--quick` runs one
 * pair with fewer pages.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Job, Ready, Report } from "./memory/client.js"
import { perPage } from "./memory/pages.js"
import type { Listening } from "./memory/server.js"
import { bundle } from "./processes.js"
import { save } from "./results.js"

const { values: { quick } } = parseArgs({
  options: { quick: { type: "boolean", default: false }, save: { type: "boolean" } }
})

/** Pages per leg. */
const pages = 100

const legs = quick ? 6 : 20

const pairs = quick ? 1 : 5

/** Legs that are not counted: V8 compiles the hot code during these. */
const warmUps = quick ? 20 : 40

const sum = (reports: ReadonlyArray<Report>, of: (report: Report) => number): number =>
  reports.reduce((sum, report) => sum + of(report), 0)

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2
}

const peakOf = (reports: ReadonlyArray<Report>): number => reports.at(-1)?.peakMb ?? NaN

/** The reports of one process. */
interface Measurement {
  readonly first: Ready
  readonly reports: ReadonlyArray<Report>
}

const program = Effect.gen(function*() {
  const start = yield* bundle(join(import.meta.dirname, "memory"), ["server", "ours", "undici"])
  const { first: { origin } } = yield* start<Listening, never, never>({
    program: "server",
    argument: String(pages * (warmUps + legs))
  })

  const pair = Effect.gen(function*() {
    const ours = yield* start<Ready, Job, Report>({ program: "ours", argument: origin })
    const byHand = yield* start<Ready, Job, Report>({ program: "undici", argument: origin })
    const [ourReports, handReports]: [Array<Report>, Array<Report>] = [[], []]
    for (let leg = -warmUps; leg < legs; leg++) {
      const jobs = [
        Effect.map(ours.ask({ pages }), (report) => leg < 0 || ourReports.push(report)),
        Effect.map(byHand.ask({ pages }), (report) => leg < 0 || handReports.push(report))
      ]
      yield* Effect.all(leg % 2 === 0 ? jobs : jobs.toReversed(), { discard: true })
    }
    const hand: Measurement = { first: byHand.first, reports: handReports }
    const stream: Measurement = { first: ours.first, reports: ourReports }
    return [hand, stream] as const
  }).pipe(Effect.scoped)

  const lines = ["          versions   versions/s   CPU us each   page once MB   page often MB   peak MB   throughput"]
  const growths: Array<number> = []
  const ratios: Array<number> = []
  for (let nth = 0; nth < pairs; nth++) {
    const [hand, stream] = yield* pair
    const ratiosHere = hand.reports.map(({ millis }, leg) => millis / (stream.reports[leg]?.millis ?? NaN))
    growths.push(peakOf(stream.reports) - stream.first.onePageMb)
    ratios.push(...ratiosHere)
    for (
      const [name, { first, reports }, ratio] of [["by hand", hand, 1], ["stream", stream, median(ratiosHere)]] as const
    ) {
      const versions = sum(reports, ({ versions }) => versions)
      if (versions !== pages * legs * perPage) return yield* Effect.dieMessage("a client has not read all versions")
      const cells = [
        [versions, 10],
        [versions / sum(reports, ({ millis }) => millis) * 1000, 13],
        [sum(reports, ({ cpuMillis }) => cpuMillis) * 1000 / versions, 14],
        [first.onceMb, 15],
        [first.onePageMb, 16],
        [peakOf(reports), 10]
      ] as const
      const line = cells.map(([value, width]) => value.toFixed(0).padStart(width)).join("")
      lines.push(`${name.padEnd(8)}${line}${ratio.toFixed(2).padStart(13)}`)
    }
  }
  console.log(lines.join("\n"))
  save("memory.txt", lines.slice(0, 3).join("\n")) // one of the pairs
  console.log(`\n${
    JSON.stringify({
      rssGrowthMb: Math.round(Math.max(...growths)),
      throughputRatio: Number(median(ratios).toFixed(2))
    })
  }`)
}).pipe(Effect.scoped)

NodeRuntime.runMain(program)
