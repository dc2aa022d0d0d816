/**
 * `npm run bench`: what a call costs, beside other clients, down to undici by itself. Each client has a process of its own,
 * the server another; they take turns. `--quick` measures for less time; `--only job` one payload; `--client ky` one
 * client, beside undici; `--svg file` draws the results.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { measure } from "./calls/measure.js"
import { plot } from "./calls/plot.js"
import { json, table } from "./calls/result.js"
import { clients, scenarios } from "./calls/scenarios.js"

const { values: { client = "", only = "", quick, svg } } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    client: { type: "string" },
    svg: { type: "string" }
  }
})

const program = Effect.gen(function*() {
  const results = yield* measure(
    clients.filter(({ name }) => name === "undici" || name === client || client === ""),
    scenarios.filter(({ payload }) => payload.includes(only)),
    quick
      ? { rounds: 5, millis: 45, startMillis: 700, warmUpMillis: 150 }
      : { rounds: 31, millis: 120, startMillis: 4000, warmUpMillis: 1500 }
  )
  if (svg !== undefined) writeFileSync(svg, plot(results))
  console.log(`${table(results)}\n\n${json(results)}`)
})

NodeRuntime.runMain(program)
