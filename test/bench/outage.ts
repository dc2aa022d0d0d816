/**
 * `npm run bench:outage`: the requests that fifty callers send while the service is unavailable for a minute, or a part of the requests
 * fails, and what becomes of their calls, in virtual time. Each caller begins a call every second; the service responds with 503 after
 * 20 ms. `--save` keeps the table.
 */
import { Effect } from "effect"
import type { Defaults } from "../../src/IdentityClient.js"
import { failedOnlyIn, failing, type Outcome, run } from "../support/outage.js"
import { save } from "./results.js"

const unbounded: Readonly<Record<string, Defaults>> = { "no budget": { retryBudget: Infinity } }
const byDefault: Readonly<Record<string, Defaults>> = { "a budget of 20 %": {} }

/** The clients by the share of the requests that fail. The others are compared with the first one. */
const scenarios = [
  [1, { ...unbounded, ...byDefault, "a budget of 5 %": { retryBudget: 0.05 }, "a circuit": { circuit: {} } }],
  [0.3, { ...unbounded, ...byDefault }],
  [0.5, { ...unbounded, ...byDefault }]
] as const

/** What became of the calls of a client. */
interface Row {
  readonly failing: number
  readonly client: string
  readonly requests: number
  readonly retries: number
  readonly failed: number
  readonly onlyHere: number
}

const failedIn = ({ calls }: Outcome): number => Array.from(calls.values()).filter(({ succeeded }) => !succeeded).length

const columns = (...[failing, client, requests, retries, failed, onlyHere]: ReadonlyArray<string>): string =>
  `${failing?.padEnd(9)}${client?.padEnd(18)}${requests?.padStart(9)}${retries?.padStart(9)}${failed?.padStart(8)}` +
  `${onlyHere?.padStart(18)}`

const line = ({ client, failed, failing, onlyHere, requests, retries }: Row): string =>
  columns(
    `${100 * failing} %`,
    client,
    String(requests),
    `${(100 * retries / requests).toFixed(0)} %`,
    String(failed),
    String(onlyHere)
  )

const program = Effect.gen(function*() {
  const rows: Array<Row> = []
  for (const [share, clients] of scenarios) {
    let reference: Outcome | undefined
    for (const [client, options] of Object.entries(clients)) {
      const outcome = yield* run({ pace: "steady", options, fails: failing(share, 1) })
      reference ??= outcome
      rows.push({
        failing: share,
        client,
        requests: outcome.duringOutage,
        retries: Math.max(0, outcome.duringOutage - outcome.callsDuringOutage),
        failed: failedIn(outcome),
        onlyHere: failedOnlyIn(outcome, reference).length
      })
    }
  }
  const table = [columns("failing", "client", "requests", "retries", "failed", "failed only here"), ...rows.map(line)]
  console.log(`${table.join("\n")}\n\n${JSON.stringify({ rows })}`)
  save("outage.txt", table.join("\n"))
  if (rows.some(({ client, onlyHere }) => client.includes("budget") && onlyHere > 0)) process.exitCode = 1
})

Effect.runPromise(program).catch((error: unknown) => {
  console.error(String(error))
  process.exitCode = 1
})
