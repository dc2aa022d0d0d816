/**
 * `npm run bench`: compares the cost of a call with that of other clients, down to bare undici. The server and each client run
 * in processes of their own; the clients are measured alternately. `--quick` measures for less time, `--only job` measures one
 * payload, `--client ky` compares one client with undici, `--svg file` draws the results, `--save` keeps them for the pages.
 * `--effect4` measures the line for Effect 4 beside the one for Effect 3, all on the former's Node; `npm run effect4` writes it first.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { effect4 } from "../../.ci/line.js"
import { measure } from "./calls/measure.js"
import { plot } from "./calls/plot.js"
import { figuresOf, json, notes, stored, table } from "./calls/result.js"
import { clients, clientsOfEffect4, scenarios } from "./calls/scenarios.js"
import { save } from "./results.js"

const { values: { client = "", effect4: isEffect4, only = "", quick, svg } } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    client: { type: "string" },
    effect4: { type: "boolean", default: false },
    save: { type: "boolean" },
    svg: { type: "string" }
  }
})

const program = Effect.gen(function*() {
  const results = yield* measure(
    (isEffect4 ? clientsOfEffect4 : clients).filter(({ name }) =>
      name === "undici" || name === client || client === ""
    ),
    scenarios.filter(({ payload }) => payload.includes(only)),
    {
      ...(quick
        ? { rounds: 3, millis: 30, startMillis: 300, warmUpMillis: 100 }
        : { rounds: 31, millis: 120, startMillis: 4000, warmUpMillis: 1500 }),
      execPath: isEffect4 ? effect4.node : process.execPath
    }
  )
  const figures = figuresOf(results)
  if (svg !== undefined) writeFileSync(svg, plot(figures))
  if (isEffect4) save("effect4-calls.txt", table(figures))
  else save("calls.json", stored(figures))
  console.log(`${table(figures)}\n\n${notes}\n\n${json(figures)}`)
})

NodeRuntime.runMain(program)
