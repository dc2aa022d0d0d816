/** From what was counted to what is shown: a row's figures, the bounds ours must keep, the table and the line. */
import type { Report } from "./client.js"
import { idealMs, type Row } from "./scenarios.js"

/** What a row came to: the reports of its clients as one, and what the tenant counted, requests for tokens left out. */
export interface Result extends Row, Report {
  readonly requests: number
  readonly refused: number
  readonly arrivedInTenSeconds: number
}

const failed = ({ scenario, succeeded }: Result): number => scenario.limit.calls - succeeded

/** What the bucket alone would have needed for the calls that succeeded, over the time that all of them took. */
const goodput = ({ millis, scenario, succeeded }: Result): number =>
  idealMs(scenario.ceiling ?? scenario.limit, succeeded) / millis

const rate429 = ({ refused, requests }: Result): number => refused / Math.max(1, requests)

/** Which bounds a row of ours breaks, in words; none for other clients. On a loaded machine the bounds are wider. */
export const broken = (result: Result, isLoaded: boolean): ReadonlyArray<string> => {
  if (result.client !== "ours") return []
  const { ceiling, limit: { isBare } } = result.scenario
  const least = isLoaded ? 0.85 : ceiling === undefined ? 0.95 : 0.97
  const allowed = ceiling === undefined ? Infinity : 10_000 * ceiling.refill / ceiling.perMs
  // A prior that is wrong may cost its first burst.
  const firstBurst = result.scenario.name.endsWith("wrong prior") ? result.scenario.limit.burst : 0
  // Where only refusals show the limit, they have to come.
  const most = isBare ? 0.1 : isLoaded ? 0.03 : result.scenario.clients === 2 ? 0.05 : 0.01
  return [
    ...(goodput(result) >= least ? [] : [`goodput ${goodput(result).toFixed(4)}, must be at least ${least}`]),
    ...(result.inTenSeconds <= allowed ? [] : [`${result.inTenSeconds} calls started within 10 s, may be ${allowed}`]),
    ...(result.refused <= 1 + firstBurst || rate429(result) <= most ? [] : [
      `${percent(rate429(result))} of the requests got a 429, may be ${most * 100} %`
    ]),
    ...(failed(result) === 0 ? [] : [`${failed(result)} calls failed, none may`])
  ].map((words) => `${result.scenario.name}: ${words}`)
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

const seconds = (millis: number): string => (millis / 1000).toFixed(1)

/** One line about a row that is done: what failed, by kind, and whether the machine was too busy to measure on. */
export const summary = (result: Result): string => {
  const { client, failures, heldUpMs, millis, scenario, succeeded } = result
  const failing = Object.entries(failures).map(([kind, times]) => `${times} x ${kind}`).join(", ")
  return `${scenario.name} (${client}): ${succeeded} of ${scenario.limit.calls} after ${seconds(millis)} s` +
    (failing === "" ? "" : `; failed: ${failing}`) +
    (heldUpMs < 250 ? "" : `; its process stood still for ${heldUpMs.toFixed(0)} ms`)
}

/** The most calls that started and that arrived in ten seconds, for a row with a ceiling. */
const windows = ({ arrivedInTenSeconds, inTenSeconds, scenario }: Result): ReadonlyArray<string> =>
  scenario.ceiling === undefined
    ? []
    : [`${scenario.name}: at most ${inTenSeconds} calls started within 10 s, and ${arrivedInTenSeconds} arrived`]

const widths = [21, 9, 6, 7, 9, 6, 9, 7, 8, 8]

const line = (cells: ReadonlyArray<string>): string =>
  cells.map((cell, index) => index < 2 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)).join("")

/** Describes the columns of the table. */
export const notes = `goodput: what the bucket alone would need for the calls that succeeded,
(succeeded - burst) / rate, over the time from the word to go (a token has to be
fetched) until the last call has ended. 429s: of all requests that the tenant got,
those for tokens left out. 50th s: until the 50th call had succeeded. Of a row with
a ceiling the goodput is the used share of it; its calls are counted as they start,
and as they arrive: the first of a process are longer on their way than later ones. Two clients: half of the calls each, one figure.`

/** The table, 87 characters wide, and what its columns mean. */
export const table = (results: ReadonlyArray<Result>): string =>
  [
    line(["scenario", "client", "calls", "failed", "requests", "429s", "429 rate", "s", "goodput", "50th s"]),
    ...results.map((result) =>
      line([
        result.scenario.name,
        result.client,
        String(result.scenario.limit.calls),
        String(failed(result)),
        String(result.requests),
        String(result.refused),
        percent(rate429(result)),
        seconds(result.millis),
        goodput(result).toFixed(3),
        (result.fiftiethMs / 1000).toFixed(2)
      ])
    ),
    ...results.flatMap(windows)
  ].join("\n")

const rounded = (value: number): number => Number(value.toFixed(4))

/** The rows as one line of JSON. */
export const json = (results: ReadonlyArray<Result>): string =>
  JSON.stringify({
    rows: results.map((result) => ({
      scenario: result.scenario.name,
      client: result.client,
      goodput: rounded(goodput(result)),
      rate429: rounded(rate429(result)),
      failed: failed(result),
      fiftiethMs: Math.round(result.fiftiethMs),
      ...(result.scenario.ceiling !== undefined && {
        inTenSeconds: result.inTenSeconds,
        arrivedInTenSeconds: result.arrivedInTenSeconds
      })
    }))
  })
