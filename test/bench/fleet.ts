/**
 * `npm run bench:fleet`: eight processes, one tenant, limits and tokens shared through Redis. What do they get out of the
 * bucket, how many requests are turned away, how many tokens are asked for, with and without sharing, and when something
 * breaks? `--quick` makes fewer calls in less time, most of which is the beginning; `--only clock` runs the scenarios whose name contains that, `--shared` those that
 * share. A row that shares and breaks a bound is a failure.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { parseArgs } from "node:util"
import { binary } from "../support/redisServer.js"
import { measure } from "./fleet/measure.js"
import { broken, json, summary, table } from "./fleet/result.js"
import { scenarios } from "./fleet/scenarios.js"
import { bundle } from "./processes.js"

const { values: { only = "", quick, shared: onlyShared } } = parseArgs({
  options: {
    "quick": { type: "boolean", default: false },
    "shared": { type: "boolean", default: false },
    "only": { type: "string" }
  }
})

/** Beginning costs the same however few calls there are. */
const { bounds, work } = quick
  ? { work: { callsEach: 40, speed: 3, limitMs: 40_000 }, bounds: { goodput: 0.3, rate429: 0.03 } }
  : { work: { callsEach: 500, speed: 3, limitMs: 240_000 }, bounds: { goodput: 0.95, rate429: 0.01 } }

const rows = scenarios.filter(({ event, name, shared }) =>
  name.includes(only) && (shared || !onlyShared) && (!quick || shared || event === "none")
)

const program = Effect.gen(function*() {
  if (binary === undefined) return yield* Effect.fail("there is no redis-server on this machine")
  if (rows.length === 0) return yield* Effect.fail("no row has that name")
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
  console.log(`${table(results)}\n`)
  for (const complaint of complaints) console.log(`broken: ${complaint}`)
  console.log(`\n${json(results)}`)
  if (complaints.length > 0) process.exitCode = 1
}).pipe(Effect.scoped)

NodeRuntime.runMain(program, {
  // A run that was interrupted has not passed.
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? Number(process.exitCode ?? 0) : 1)
})
