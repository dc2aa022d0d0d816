/** Formats the measurements as rows of figures, as a table and as one line of JSON. */
import * as Arr from "effect/Array"
import type { Report } from "./client.js"
import type { Result } from "./measure.js"
import type { Scenario } from "./scenarios.js"

export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** The figures of a client in a scenario. */
export interface Row extends Scenario {
  readonly client: string
  readonly cpuUs: Spread
  readonly perSecond: Spread
  /** The cost of a call as a multiple of the cost of a client's: of the medians. */
  readonly ratioUndici?: number
  readonly ratioSdk?: number
  /** The same in each round, whose clients run side by side: the least and the most. */
  readonly roundsUndici?: Spread
  readonly roundsSdk?: Spread
}

/** The figures of a run. `test/bench/results/calls.json` keeps those of the last full one. */
export interface Figures {
  readonly rounds: number
  /** The version of Node; of older figures 20. */
  readonly node?: string
  readonly rows: ReadonlyArray<Row>
}

const spread = (numbers: ReadonlyArray<number>): Spread => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? NaN
  return { median: (at(0.5) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? NaN)) / 2, least: at(0), most: at(1) }
}

export const cpu = ({ reports }: Result): Spread =>
  spread(reports.map((report: Report) => report.cpuMicros / report.calls))

export const perSecond = ({ reports }: Result): Spread =>
  spread(reports.map(({ calls, millis }) => calls / millis * 1000))

const rounded = ({ least, median, most }: Spread): Spread => ({
  median: Math.round(median),
  least: Math.round(least),
  most: Math.round(most)
})

/** Returns the cost of a client's call as a multiple of another client's in the same scenario. */
const ratio = (results: ReadonlyArray<Result>, result: Result, peer: string): number | undefined => {
  const other = results.find(({ client, concurrency, payload }) =>
    client === peer && concurrency === result.concurrency && payload === result.payload
  )
  return other === undefined ? undefined : Number((cpu(result).median / cpu(other).median).toFixed(3))
}

/** The costs of a client's call as multiples of another client's, round by round. */
const ratios = (results: ReadonlyArray<Result>, result: Result, peer: string): Spread | undefined => {
  const other = results.find(({ client, concurrency, payload }) =>
    client === peer && concurrency === result.concurrency && payload === result.payload
  )
  if (other === undefined) return undefined
  const of = ({ calls, cpuMicros }: Report) => cpuMicros / calls
  const { least, median, most } = spread(result.reports.flatMap((report, nth) => {
    const peerReport = other.reports[nth]
    return peerReport === undefined ? [] : [of(report) / of(peerReport)]
  }))
  const rounded = (value: number) => Number(value.toFixed(3))
  return { median: rounded(median), least: rounded(least), most: rounded(most) }
}

/** Returns the figures of the measurements. */
export const figuresOf = (results: ReadonlyArray<Result>): Figures => ({
  rounds: Math.max(...results.map(({ reports }) => reports.length)),
  node: process.versions.node,
  rows: results.map((result) => {
    const [ratioUndici, ratioSdk] = [ratio(results, result, "undici"), ratio(results, result, "auth0")]
    const [roundsUndici, roundsSdk] = [ratios(results, result, "undici"), ratios(results, result, "auth0")]
    return {
      payload: result.payload,
      concurrency: result.concurrency,
      client: result.client,
      cpuUs: rounded(cpu(result)),
      perSecond: rounded(perSecond(result)),
      ...(ratioUndici === undefined ? {} : { ratioUndici }),
      ...(ratioSdk === undefined ? {} : { ratioSdk }),
      ...(roundsUndici === undefined ? {} : { roundsUndici }),
      ...(roundsSdk === undefined ? {} : { roundsSdk })
    }
  })
})

const widths = [17, 9, 15, 10, 15, 8, 6]

const line = (cells: ReadonlyArray<string>): string =>
  cells.map((cell, index) => index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)).join("")

const range = ({ least, most }: Spread): string => `${least}-${most}`

const times = (ratio: number | undefined): string => ratio === undefined ? "" : ratio.toFixed(2)

export const titles = {
  small: "A list of one version, 150 bytes",
  job: "A job that is created by POST",
  page: "A page of 100 versions, 723 kB"
}

const group = (rows: ReadonlyArray<Row>): string => {
  const [{ concurrency, payload } = { concurrency: 0, payload: "small" as const }] = rows
  return [
    `${titles[payload]}, ${concurrency} at a time`,
    line(["", "CPU us", "(min-max)", "calls/s", "(min-max)", "/undici", "/SDK"]),
    ...rows.map(({ client, cpuUs, perSecond, ratioSdk, ratioUndici }) =>
      line([
        client,
        String(cpuUs.median),
        range(cpuUs),
        String(perSecond.median),
        range(perSecond),
        times(ratioUndici),
        times(ratioSdk)
      ])
    )
  ].join("\n")
}

/** Describes the columns of the table. */
export const notes = `CPU us: microseconds of processor time per call, user and system, all threads; the
median of the rounds. /undici, /SDK: that as a multiple of undici.request with
JSON.parse, and of the vendor's SDK.`

/** The rows by scenario. */
export const groups = ({ rows }: Figures): ReadonlyArray<ReadonlyArray<Row>> =>
  Object.values(Arr.groupBy(rows, ({ concurrency, payload }) => `${payload} ${concurrency}`))

/** The table, 80 characters wide. */
export const table = (figures: Figures): string => groups(figures).map(group).join("\n\n")

/** The medians as one line of JSON. */
export const json = ({ rows }: Figures): string =>
  JSON.stringify({
    rows: rows.map(({ cpuUs, perSecond, ...row }) => ({ ...row, cpuUs: cpuUs.median, perSecond: perSecond.median }))
  })

/** The figures as a file, a row on each line. */
export const stored = ({ node, rounds, rows }: Figures): string =>
  `{\n"rounds": ${rounds},\n"node": ${JSON.stringify(node)},\n"rows": [\n${
    rows.map((row) => JSON.stringify(row)).join(",\n")
  }\n]\n}`
