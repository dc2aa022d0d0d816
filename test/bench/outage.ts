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

/** The clients by the share of the requests that fail. The first one is what the others are compared with. */
const scenarios = [
  [1, { ...unbounded, ...byDefault, "a budget of 5 %": { retryBudget: 0.05 }, "a circuit": { circuit: {} } }],
  [0.3, { ...unbounded, ...byDefault }],
  [0.5, { ...unbounded, ...byDefault }]
] as const

const failedIn = ({ calls }: Outcome): number => Array.from(calls.values()).filter(({ succeeded }) => !succeeded).length

const row = (...[share, client, requests, retries, failed, onlyHere]: ReadonlyArray<string>): string =>
  `${share?.padEnd(10)}${client?.padEnd(18)}${requests?.padStart(9)}${retries?.padStart(9)}${failed?.padStart(8)}` +
  `${onlyHere?.padStart(18)}`

const program = Effect.gen(function*() {
  const lines = [row("requests", "client", "requests", "retries", "failed", "failed only here")]
  for (const [share, clients] of scenarios) {
    let reference: Outcome | undefined
    for (const [name, options] of Object.entries(clients)) {
      const outcome = yield* run({ pace: "steady", options, fails: failing(share, 1) })
      reference ??= outcome
      const { callsDuringOutage, duringOutage } = outcome
      const onlyHere = failedOnlyIn(outcome, reference).length
      const retries = `${(100 * Math.max(0, duringOutage - callsDuringOutage) / duringOutage).toFixed(0)} %`
      lines.push(
        row(`${100 * share} %`, name, String(duringOutage), retries, String(failedIn(outcome)), String(onlyHere))
      )
      if (name.includes("budget") && onlyHere > 0) process.exitCode = 1
    }
  }
  const table = lines.join("\n")
  console.log(table)
  save("outage.txt", table)
})

Effect.runPromise(program).catch((error: unknown) => {
  console.error(String(error))
  process.exitCode = 1
})
