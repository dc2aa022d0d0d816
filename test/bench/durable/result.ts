/** Results of the durable benchmark, as a table and as JSON. */
import type { Verdict } from "./check.js"
import { groups, type Statistics } from "./statistics.js"

export interface Result extends Verdict {
  readonly scenario: string
  readonly events: number
  /** The number of events that were in flight in processes that were killed, or without a database. */
  readonly mayBeUnknown: number
  /** Why jobs ended otherwise than `done`. */
  readonly unfinished: ReadonlyArray<string>
  /** Runners that ended by themselves. */
  readonly crashes: number
  /** The time until all jobs have ended, relative to what the buckets alone need. */
  readonly timeRatio: number
  readonly database?: Statistics
}

/** Describes what must not be. */
export const broken = (result: Result, goodput: number): ReadonlyArray<string> => {
  const { crashes, failed, lost, mayBeUnknown, sentTwice, unfinished, unknown, worstGoodput } = result
  return [
    ...(sentTwice === 0 ? [] : [`${sentTwice} events arrived more than once`]),
    ...(lost === 0 ? [] : [`${lost} events are lost`]),
    ...(failed === 0 ? [] : [`${failed} events failed`]),
    ...(unknown <= mayBeUnknown ? [] : [`${unknown} events are unknown, at most ${mayBeUnknown} may be`]),
    ...(unfinished.length === 0 ? [] : [`${unfinished.length} jobs are not done: ${unfinished[0]}`]),
    ...(crashes === 0 ? [] : [`runners ended ${crashes} times by themselves`]),
    ...(result.scenario !== "undisturbed" || worstGoodput >= goodput
      ? []
      : [`the worst tenant's goodput is ${worstGoodput.toFixed(3)}, must be at least ${goodput}`])
  ].map((words) => `${result.scenario}: ${words}`)
}

const widths = [26, 8, 11, 6, 9, 8, 9, 6, 12, 15]

const line = (cells: ReadonlyArray<string>): string =>
  cells.map((cell, index) => index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)).join("")

const header = [
  "scenario",
  "events",
  "sent twice",
  "lost",
  "unknown",
  "may be",
  "arrived",
  "429s",
  "time/bucket",
  "worst goodput"
]

const cellsOf = (result: Result): ReadonlyArray<string> => [
  result.scenario,
  String(result.events),
  String(result.sentTwice),
  String(result.lost),
  String(result.unknown),
  String(result.mayBeUnknown),
  String(result.unknownArrived),
  String(result.refused),
  result.timeRatio.toFixed(2),
  result.worstGoodput.toFixed(3)
]

/** Summarizes a row in one line. */
export const summary = (result: Result): string => {
  const reasons = Object.entries(result.reasons).map(([reason, count]) => `${count} x ${reason}`).join(", ")
  return line(cellsOf(result)) + (reasons === "" ? "" : `  unknown: ${reasons}`)
}

const whole = (value: number): string => Math.round(value).toLocaleString("en-US")

/** Describes what the undisturbed run costs the database. */
const costOf = ({ database, events }: Result): ReadonlyArray<string> =>
  database === undefined ? [] : [
    `${whole(database.transactions * 1000 / events)} statements per 1,000 events`,
    `rows written per 1,000 events: ${
      groups.map((group) => `${group} ${whole(database.rows[group] * 1000 / events)}`).join(", ")
    }`,
    `growth of the tables per 100,000 events: ${
      groups.map((group) => `${group} ${whole(database.bytes[group] / 1024 * 100_000 / events)} kB`).join(", ")
    }`
  ]

/** Describes the columns of the table. */
export const notes =
  `unknown, may be, arrived: events that are reported as unknown; the most that may be, because they were in progress in a runner that was
killed or stopped, or while the database did not run; and those of them that arrived.
time/bucket: the time until all jobs have ended, divided by the time that the buckets alone need.
worst goodput: the time that the bucket of the worst tenant needs, divided by the time from its first event to its last.`

export const table = (results: ReadonlyArray<Result>): string =>
  [
    line(header),
    ...results.map((result) => line(cellsOf(result))),
    ...results.filter(({ scenario }) => scenario === "undisturbed").flatMap((result) => ["", ...costOf(result)])
  ].join("\n")

const rounded = (value: number): number => Number(value.toFixed(4))

export const json = (results: ReadonlyArray<Result>): string =>
  JSON.stringify({
    rows: results.map(({ database, events, lost, scenario, sentTwice, timeRatio, unknown, worstGoodput }) => ({
      scenario,
      events,
      sentTwice,
      lost,
      unknown,
      timeRatio: rounded(timeRatio),
      worstGoodput: rounded(worstGoodput),
      ...(database !== undefined && scenario === "undisturbed" && {
        statementsPer1000: Math.round(database.transactions * 1000 / events),
        rowsPer1000: Math.round(groups.reduce((sum, group) => sum + database.rows[group], 0) * 1000 / events),
        kilobytesPer100000: Math.round(
          groups.reduce((sum, group) => sum + database.bytes[group], 0) / 1024 * 100_000 / events
        )
      })
    }))
  })
