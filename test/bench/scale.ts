/**
 * `npm run bench:scale`: what a call costs when 1 or 10,000 of them are in flight, and what a caller holds when 1 or 100,000
 * of them wait for the limiter. `--quick` measures for less time.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { measure } from "./calls/measure.js"
import { cpu, perSecond } from "./calls/result.js"
import { clients, type Scenario } from "./calls/scenarios.js"
import { bundle } from "./processes.js"
import type { Answer, Question } from "./scale/waiting.js"

const { values: { quick } } = parseArgs({ options: { quick: { type: "boolean", default: false } } })

const scenarios: ReadonlyArray<Scenario> = [1, 50, 1000, 10_000].map((concurrency) => (
  { payload: "small", concurrency }
))

const inFlight = measure(
  clients.filter(({ name }) => name === "ours-lean" || name === "undici").map((client) => (
    { ...client, env: { ...client.env, CONNECTIONS: "128" } } // as many as ours has by itself
  )),
  scenarios,
  quick
    ? { rounds: 3, millis: 800, startMillis: 1500, warmUpMillis: 800 }
    : { rounds: 5, millis: 2000, startMillis: 4000, warmUpMillis: 2000 }
)

const waiting = Effect.gen(function*() {
  const start = yield* bundle(join(import.meta.dirname, "scale"), ["waiting"])
  const { ask } = yield* start<object, Question, Answer>({ program: "waiting", execArgv: ["--expose-gc"] })
  yield* ask({ count: 1000 }) // what is made at the first call is not counted
  return yield* Effect.forEach(
    [1000, 10_000, 100_000],
    (count) => Effect.map(ask({ count }), (answer) => ({ count, ...answer }))
  )
}).pipe(Effect.scoped)

const program = Effect.gen(function*() {
  const results = yield* inFlight
  const rows = yield* waiting
  console.log("in flight   client      CPU us per call    calls/s")
  for (const result of results) {
    console.log(
      `${String(result.concurrency).padStart(9)}   ${result.client.padEnd(12)}${
        cpu(result).median.toFixed(0).padStart(15)
      }${perSecond(result).median.toFixed(0).padStart(11)}`
    )
  }
  console.log("\n  waiting   bytes per call   of a bare fiber   difference   CPU us per call")
  for (const { bytesPerFiber, bytesPerWaiter, count, microsPerWaiter } of rows) {
    const cells = [[bytesPerWaiter, 17], [bytesPerFiber, 18], [bytesPerWaiter - bytesPerFiber, 13], [
      microsPerWaiter,
      18
    ]] as const
    console.log(
      `${String(count).padStart(9)}${cells.map(([value, width]) => value.toFixed(0).padStart(width)).join("")}`
    )
  }
  const growth = (name: string) => {
    const [few = NaN, many = NaN] = [50, 10_000].map((concurrency) =>
      results.filter((result) => result.client === name && result.concurrency === concurrency)
        .map((result) => cpu(result).median)[0]
    )
    return Number((many / few).toFixed(3))
  }
  const most = rows.at(-1)
  console.log(
    `\n${
      JSON.stringify({
        inFlightRatio: growth("ours-lean"),
        inFlightRatioUndici: growth("undici"),
        bytesPerWaiter: most === undefined ? null : Math.round(most.bytesPerWaiter - most.bytesPerFiber)
      })
    }`
  )
})

NodeRuntime.runMain(program)
