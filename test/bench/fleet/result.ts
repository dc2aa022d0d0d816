/** Results of the fleet benchmark, as a table and as JSON. */
import { idealMs, type Limit } from "../goodput/scenarios.js"
import type { Scenario } from "./scenarios.js"

export interface Result extends Scenario {
  readonly limit: Limit
  readonly succeeded: number
  readonly failures: Readonly<Record<string, number>>
  readonly millis: number
  readonly heldUpMs: number
  readonly requests: number
  readonly refused: number
  /** Token requests that got a response, and those whose process was killed before. */
  readonly tokens: number
  readonly cut: number
  /** Round trips to the store; unknown if it was stopped. */
  readonly trips: number | undefined
}

const failed = ({ limit, succeeded }: Result): number => limit.calls - succeeded

const goodput = ({ limit, millis, succeeded }: Result): number => idealMs(limit, succeeded) / millis

const rate429 = ({ refused, requests }: Result): number => refused / Math.max(1, requests)

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

/** The bounds of a fleet that shares. */
export interface Bounds {
  readonly goodput: number
  readonly rate429: number
}

/** Describes the bounds that a fleet broke. */
export const broken = (result: Result, bounds: Bounds): ReadonlyArray<string> =>
  !result.shared ? [] : [
    ...(goodput(result) >= bounds.goodput
      ? []
      : [`goodput ${goodput(result).toFixed(3)}, must be at least ${bounds.goodput}`]),
    ...(rate429(result) <= bounds.rate429
      ? []
      : [`${percent(rate429(result))} of 429s, may be ${percent(bounds.rate429)}`]),
    ...(failed(result) === 0 ? [] : [`${failed(result)} calls failed, none may`]),
    ...(result.tokens === 1 ? [] : [`${result.tokens} token requests got a response, must be 1`])
  ].map((words) => `${result.name}: ${words}`)

const widths = [21, 7, 6, 7, 9, 6, 9, 7, 8, 8, 11]

const line = (cells: ReadonlyArray<string>): string =>
  cells.map((cell, index) => index < 2 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)).join("")

const header = [
  "scenario",
  "shared",
  "calls",
  "failed",
  "requests",
  "429s",
  "429 rate",
  "s",
  "goodput",
  "tokens",
  "trips/call"
]

const cellsOf = (result: Result): ReadonlyArray<string> => [
  result.name,
  result.shared ? "yes" : "no",
  String(result.limit.calls),
  String(failed(result)),
  String(result.requests),
  String(result.refused),
  percent(rate429(result)),
  (result.millis / 1000).toFixed(1),
  goodput(result).toFixed(3),
  `${result.tokens}${result.cut === 0 ? "" : `+${result.cut}`}`,
  result.trips === undefined ? "" : (result.trips / result.limit.calls).toFixed(2)
]

/** Describes the columns of the table. */
export const notes =
  `goodput: the time that the bucket alone needs for the calls that succeeded, divided by the time that they took.
tokens: token requests that got a response; +1: one whose process was killed while it waited.
trips/call: round trips to the store.`

export const table = (results: ReadonlyArray<Result>): string =>
  [line(header), ...results.map((result) => line(cellsOf(result)))].join("\n")

/** Summarizes a row in one line. */
export const summary = (result: Result): string => {
  const failing = Object.entries(result.failures).map(([kind, times]) => `${times} x ${kind}`).join(", ")
  return line(cellsOf(result)) + (failing === "" ? "" : `  failed: ${failing}`) +
    (result.heldUpMs < 250 ? "" : `  a process was blocked for ${result.heldUpMs.toFixed(0)} ms`)
}

const rounded = (value: number): number => Number(value.toFixed(4))

export const json = (results: ReadonlyArray<Result>): string =>
  JSON.stringify({
    rows: results.map((result) => ({
      scenario: result.name,
      shared: result.shared,
      goodput: rounded(goodput(result)),
      rate429: rounded(rate429(result)),
      failed: failed(result),
      tokenRequests: result.tokens,
      ...(result.trips !== undefined && { tripsPerCall: rounded(result.trips / result.limit.calls) })
    }))
  })
