/**
 * `npm run bench:fleet`: measures eight processes of one tenant with and without limits and tokens shared through Redis: goodput,
 * refused requests and token requests, also when something breaks. `--quick` makes fewer calls in less time. `--only clock`
 * runs the scenarios whose names contain the word, `--shared` those with sharing. It fails if one of those breaks a bound.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { parseArgs } from "node:util"
import { binary } from "../support/redisServer.js"
import { measure } from "./fleet/measure.js"
import { broken, json, notes, summary, table } from "./fleet/result.js"
import { scenarios } from "./fleet/scenarios.js"
import { bundle } from "./processes.js"
import { save } from "./results.js"

const { values: { only = "", quick, shared: onlyShared } } = parseArgs({
  options: {
    "quick": { type: "boolean", default: false },
    "shared": { type: "boolean", default: false },
    "only": { type: "string" },
    "save": { type: "boolean" }
  }
})

/** A quick run has looser bounds: the start takes as long with few calls as with many. */
const { bounds, work } = quick
  ? { work: { callsEach: 40, speed: 3, limitMs: 40_000 }, bounds: { goodput: 0.3, rate429: 0.03 } }
  : { work: { callsEach: 500, speed: 3, limitMs: 240_000 }, bounds: { goodput: 0.95, rate429: 0.01 } }

const rows = scenarios.filter(({ event, name, shared }) =>
  name.includes(only) && (shared || !onlyShared) && (!quick || shared || event === "none")
)

const program = Effect.gen(function*() {
  if (binary === undefined) return yield* Effect.fail("this machine has no redis-server")
  if (rows.length === 0) return yield* Effect.fail("no scenario has that name")
  const start = yield* bundle(import.meta.dirname, ["fleet/member", "fleet/tenant", "goodput/clock"])
  const results = yield* Effect.forEach(
    rows,
    (scenario) =>
      Effect.tap(
        measure(start, scenario, work),
        (result) => Effect.sync(() => console.error(summary(result)))
      )
  )
  const complaints = results.flatMap((result) => broken(result, bounds))
  console.log(`${table(results)}\n\n${notes}\n`)
  save("fleet.txt", table(results))
  for (const complaint of complaints) console.log(`broken: ${complaint}`)
  console.log(`\n${json(results)}`)
  if (complaints.length > 0) process.exitCode = 1
}).pipe(Effect.scoped)

NodeRuntime.runMain(program, {
  // An interrupted run fails.
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? Number(process.exitCode ?? 0) : 1)
})
