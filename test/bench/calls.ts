/**
 * `npm run bench`: compares the cost of a call with that of other clients, down to bare undici. The server and each client run
 * in processes of their own; the clients are measured alternately. `--quick` measures for less time, `--only job` measures one
 * payload, `--client ky` compares one client with undici, `--svg file` draws the results, `--save` keeps them for the pages.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { measure } from "./calls/measure.js"
import { plot } from "./calls/plot.js"
import { figuresOf, json, notes, stored, table } from "./calls/result.js"
import { clients, scenarios } from "./calls/scenarios.js"
import { save } from "./results.js"

const { values: { client = "", only = "", quick, svg } } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    client: { type: "string" },
    save: { type: "boolean" },
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
  const figures = figuresOf(results)
  if (svg !== undefined) writeFileSync(svg, plot(figures))
  save("calls.json", stored(figures))
  console.log(`${table(figures)}\n\n${notes}\n\n${json(figures)}`)
})

NodeRuntime.runMain(program)
