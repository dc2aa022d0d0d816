/**
 * `npm run bench`: compares the cost of a call with that of other clients, down to bare undici. The server and each client run
 * in processes of their own; the clients are measured alternately. `--quick` measures for less time, `--only job` measures one
 * payload, `--client ky` compares one client with undici, `--svg file` draws the results.
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
