/**
 * `npm run bench:outage`: the requests that fifty callers send while the service is unavailable for a minute, and what becomes of their
 * calls, in virtual time. Each caller begins a call every second; the service responds with 503 after 20 ms.
 */
import { Effect } from "effect"
import type { Defaults } from "../../src/IdentityClient.js"
import { run } from "../support/outage.js"

const clients: Readonly<Record<string, Defaults>> = {
  "no budget": { retryBudget: Infinity },
  "a budget of 20 %": { retryBudget: 0.2 },
  "a budget of 5 %": { retryBudget: 0.05 },
  "a circuit": { circuit: {} }
}

const program = Effect.gen(function*() {
  const results = yield* Effect.forEach(
    Object.entries(clients),
    ([name, options]) => Effect.map(run({ pace: "steady", options }), (result) => ({ name, ...result }))
  )
  const [reference] = results
  console.log(
    `${"client".padEnd(20)}${"requests".padStart(10)}${"retries".padStart(9)}${"failed".padStart(8)}  failed only here`
  )
  const rows = results.map(({ calls, callsDuringOutage, duringOutage, name }) => {
    const failed = Array.from(calls).filter(([, { succeeded }]) => !succeeded)
    const onlyHere = failed.filter(([nth]) => reference?.calls.get(nth)?.succeeded === true).length
    const retries = Math.max(0, duringOutage - callsDuringOutage)
    const share = `${(100 * retries / duringOutage).toFixed(0)} %`
    console.log(
      name.padEnd(20),
      String(duringOutage).padStart(9),
      share.padStart(8),
      String(failed.length).padStart(7),
      String(onlyHere).padStart(17)
    )
    return { client: name, requests: duringOutage, retries, failed: failed.length, onlyHere }
  })
  console.log(`\n${JSON.stringify({ rows })}`)
  if (rows[1]?.onlyHere !== 0) process.exitCode = 1
})

Effect.runPromise(program).catch((error: unknown) => {
  console.error(String(error))
  process.exitCode = 1
})
