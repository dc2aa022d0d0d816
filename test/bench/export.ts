/**
 * `npm run bench:export`: reads an export of 1,000,000 users, 400 bytes each as NDJSON, gzipped, over a socket; and the same users
 * as CSV. Measures how much the memory grows beyond that of small exports, and the throughput compared with `fetch`,
 * `DecompressionStream` and `JSON.parse` by hand, for CSV with csv-parse.
 *
 * The server and the clients run in processes of their own. Small exports come first, so that V8 has compiled the hot code and
 * the heap has its size. The clients then read alternately, so that they see the same load of the machine: the ratio is the
 * median over all rounds. `--quick` reads fewer users and rounds.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Job, Report } from "./export/client.js"
import type { Listening } from "./export/server.js"
import { bundle } from "./processes.js"
import { save } from "./results.js"

const { values: { quick } } = parseArgs({
  options: { quick: { type: "boolean", default: false }, save: { type: "boolean" } }
})

const users = quick ? 50_000 : 1_000_000

const rounds = 5

/** The users of a small export, and how often it is read. */
const small = { users: 20_000, times: 20 }

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2
}

const program = Effect.gen(function*() {
  const start = yield* bundle(join(import.meta.dirname, "export"), ["server", "ours", "bare"])
  const serverOf = (users: number) =>
    Effect.map(
      start<Listening, never, never>({ program: "server", argument: String(users) }),
      ({ first }) => first.origin
    )
  const [smallOrigin, origin] = yield* Effect.all([serverOf(small.users), serverOf(users)])

  const lines = ["                     users   users/s     MB/s   CPU us each   small MB   peak MB   throughput"]
  const rows: Array<{ format: string; rssGrowthMb: number; throughputRatio: number }> = []
  for (const format of ["ndjson", "csv"] as const) {
    yield* Effect.gen(function*() {
      const clients = [
        ["by hand", yield* start<object, Job, Report>({ program: "bare" })],
        ["Exports.run", yield* start<object, Job, Report>({ program: "ours" })]
      ] as const
      const smallMb = new Map<string, number>()
      for (const [name, { ask }] of clients) {
        for (let nth = 0; nth < small.times; nth++) {
          smallMb.set(name, (yield* ask({ origin: smallOrigin, format })).peakMb)
        }
      }
      const reports: Record<string, Array<Report>> = {}
      for (let round = 0; round < rounds; round++) {
        for (const [name, { ask }] of round % 2 === 0 ? clients : clients.toReversed()) {
          const report = yield* ask({ origin, format })
          if (report.rows !== users) {
            return yield* Effect.dieMessage(`${name} has read ${report.rows} of ${users} users`)
          }
          ;(reports[name] ??= []).push(report)
        }
      }
      const byHand = reports["by hand"] ?? []
      for (const [name, all] of Object.entries(reports)) {
        const ratio = median(all.map(({ millis }, round) => (byHand[round]?.millis ?? NaN) / millis))
        const perSecond = median(all.map(({ millis }) => users / millis * 1000))
        const cells = [
          [users, 8],
          [perSecond, 10],
          [perSecond * 400 / 1e6, 9],
          [median(all.map(({ cpuMillis }) => cpuMillis * 1000 / users)), 14, 1],
          [smallMb.get(name) ?? NaN, 11],
          [all.at(-1)?.peakMb ?? NaN, 10],
          [ratio, 13, 2]
        ] as const
        const texts = cells.map(([value, width, digits = 0]) => value.toFixed(digits).padStart(width))
        lines.push(`${format.padEnd(7)}${name.padEnd(11)}${texts.join("")}`)
        if (name !== "by hand") {
          const growth = (all.at(-1)?.peakMb ?? NaN) - (smallMb.get(name) ?? NaN)
          rows.push({ format, rssGrowthMb: Math.round(growth), throughputRatio: Number(ratio.toFixed(2)) })
        }
      }
    }).pipe(Effect.scoped)
  }
  console.log(lines.join("\n"))
  save("export.txt", lines.join("\n"))
  console.log(`\n${JSON.stringify({ rows })}`)
}).pipe(Effect.scoped)

NodeRuntime.runMain(program)
