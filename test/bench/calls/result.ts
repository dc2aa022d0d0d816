/** Formats the measurements as a table and as one line of JSON. */
import * as Arr from "effect/Array"
import type { Report } from "./client.js"
import type { Result } from "./measure.js"

export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
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

/** The cost of a client's call as a multiple of another client's in the same scenario. */
export const ratio = (results: ReadonlyArray<Result>, result: Result, peer: string): number | undefined => {
  const other = results.find(({ client, concurrency, payload }) =>
    client === peer && concurrency === result.concurrency && payload === result.payload
  )
  return other === undefined ? undefined : cpu(result).median / cpu(other).median
}

const widths = [17, 9, 15, 10, 15, 8, 6]

const line = (cells: ReadonlyArray<string>): string =>
  cells.map((cell, index) => index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)).join("")

const range = ({ least, most }: Spread): string => `${least.toFixed(0)}-${most.toFixed(0)}`

const times = (ratio: number | undefined): string => ratio === undefined ? "" : ratio.toFixed(2)

export const titles = {
  small: "A list of one version, 150 bytes",
  job: "A job that is created by POST",
  page: "A page of 100 versions, 723 kB"
}

const group = (all: ReadonlyArray<Result>, results: ReadonlyArray<Result>): ReadonlyArray<string> => {
  const [{ concurrency, payload } = { concurrency: 0, payload: "small" as const }] = results
  return [
    `${titles[payload]}, ${concurrency} at a time`,
    line(["", "CPU us", "(min-max)", "calls/s", "(min-max)", "/undici", "/SDK"]),
    ...results.map((result) => {
      const [micros, rate] = [cpu(result), perSecond(result)]
      return line([
        result.client,
        micros.median.toFixed(0),
        range(micros),
        rate.median.toFixed(0),
        range(rate),
        times(ratio(all, result, "undici")),
        times(ratio(all, result, "auth0"))
      ])
    }),
    ""
  ]
}

const notes = `CPU us: microseconds of processor time per call, user and system, all threads; the
median of the rounds. /undici, /SDK: that as a multiple of undici.request with
JSON.parse, and of the vendor's SDK.`

/** The results by scenario. */
export const groups = (results: ReadonlyArray<Result>): ReadonlyArray<ReadonlyArray<Result>> =>
  Object.values(Arr.groupBy(results, ({ concurrency, payload }) => `${payload} ${concurrency}`))

/** The table, 80 characters wide, with the meaning of its columns. */
export const table = (results: ReadonlyArray<Result>): string =>
  [...groups(results).flatMap((some) => group(results, some)), notes].join("\n")

const rounded = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : Number(value.toFixed(3))

/** The rows as one line of JSON. */
export const json = (results: ReadonlyArray<Result>): string =>
  JSON.stringify({
    rows: results.map((result) => ({
      payload: result.payload,
      concurrency: result.concurrency,
      client: result.client,
      cpuUs: Math.round(cpu(result).median),
      perSecond: Math.round(perSecond(result).median),
      ratioUndici: rounded(ratio(results, result, "undici")),
      ratioSdk: rounded(ratio(results, result, "auth0"))
    }))
  })
