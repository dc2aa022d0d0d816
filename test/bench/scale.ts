/**
 * `npm run bench:scale`: measures the cost of a call with 1 to 10,000 calls in flight, the memory of a waiting call with
 * 1,000 to 100,000 calls that wait for a permit, and the time of a start while calls of up to 1,000 other tenants wait. `--quick` measures for less time, `--save` keeps the tables.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { startMillis } from "./blocking/tenants.js"
import { measure } from "./calls/measure.js"
import { cpu, perSecond } from "./calls/result.js"
import { clients, type Scenario } from "./calls/scenarios.js"
import { bundle } from "./processes.js"
import { save } from "./results.js"
import type { Job, Measurement } from "./scale/waiting.js"

const { values: { quick } } = parseArgs({
  options: { quick: { type: "boolean", default: false }, save: { type: "boolean" } }
})

const scenarios: ReadonlyArray<Scenario> = [1, 50, 1000, 10_000].map((concurrency) => (
  { payload: "small", concurrency }
))

const inFlight = measure(
  clients.filter(({ name }) => name === "ours-lean" || name === "undici").map((client) => (
    { ...client, env: { ...client.env, CONNECTIONS: "128" } } // the default number of this library
  )),
  scenarios,
  quick
    ? { rounds: 3, millis: 800, startMillis: 1500, warmUpMillis: 800 }
    : { rounds: 5, millis: 2000, startMillis: 4000, warmUpMillis: 2000 }
)

const waiting = Effect.gen(function*() {
  const start = yield* bundle(join(import.meta.dirname, "scale"), ["waiting"])
  const { ask } = yield* start<object, Job, Measurement>({ program: "waiting", execArgv: ["--expose-gc"] })
  yield* ask({ count: 1000 }) // allocations of the first call are not counted
  return yield* Effect.forEach(
    [1000, 10_000, 100_000],
    (count) => Effect.map(ask({ count }), (measurement) => ({ count, ...measurement }))
  )
}).pipe(Effect.scoped)

const program = Effect.gen(function*() {
  const results = yield* inFlight
  const rows = yield* waiting
  const lines = ["in flight   client      CPU us per call    calls/s"]
  for (const result of results) {
    lines.push(
      `${String(result.concurrency).padStart(9)}   ${result.client.padEnd(12)}${
        cpu(result).median.toFixed(0).padStart(15)
      }${perSecond(result).median.toFixed(0).padStart(11)}`
    )
  }
  lines.push("", "  waiting   bytes per call   of a bare fiber   difference   CPU us per call")
  for (const { bytesPerFiber, bytesPerWaiter, count, microsPerWaiter } of rows) {
    const cells = [[bytesPerWaiter, 17], [bytesPerFiber, 18], [bytesPerWaiter - bytesPerFiber, 13], [
      microsPerWaiter,
      18
    ]] as const
    lines.push(
      `${String(count).padStart(9)}${cells.map(([value, width]) => value.toFixed(0).padStart(width)).join("")}`
    )
  }
  lines.push("", "waiting tenants   ms of a start      spread")
  const starts = yield* Effect.forEach(
    [1, 100, 1000],
    (tenants) =>
      Effect.map(startMillis(tenants, 10), ([, ...times]) => ({ tenants, times: times.sort((a, b) => a - b) }))
  )
  for (const { tenants, times } of starts) {
    const [least = NaN, middle = NaN, most = NaN] = [times[0], times[4], times[8]]
    lines.push(
      `${String(tenants).padStart(15)}${middle.toFixed(4).padStart(16)}   ${least.toFixed(4)}–${most.toFixed(4)}`
    )
  }
  console.log(lines.join("\n"))
  save("scale.txt", lines.join("\n"))
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
