/**
 * `npm run bench:durable`: three runners of a cluster redeliver the events of twenty tenants, while runners are killed, stopped and
 * restarted, and while the database does not run. Every event must arrive exactly once, or be reported as unknown. `--quick` has fewer
 * tenants and events and smaller buckets, and runs two scenarios at the same time. `--only kill` runs the scenarios whose names contain
 * the word. It fails if a row breaks a bound.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { parseArgs } from "node:util"
import { isAvailable } from "../../examples/support/postgresServer.js"
import { measure } from "./durable/measure.js"
import { measureSingle } from "./durable/measureSingle.js"
import { broken, json, notes, summary, table } from "./durable/result.js"
import { type Pace, scenarios, single } from "./durable/scenarios.js"
import type { Work } from "./durable/settings.js"
import { bundle } from "./processes.js"
import { save } from "./results.js"

const { values: { only = "", quick } } = parseArgs({
  options: {
    "quick": { type: "boolean", default: false },
    "only": { type: "string" },
    "save": { type: "boolean" }
  }
})

interface Size {
  readonly work: Work
  readonly pace: Pace
  readonly goodput: number
  /** The number of scenarios that run at the same time. */
  readonly atOnce: number
}

/** A quick run has a looser bound: the start takes as long with few events as with many. */
const { atOnce, goodput, pace, work }: Size = quick
  ? {
    work: { tenants: 8, eventsEach: 60, burst: 20, rate: 8, limitMs: 120_000 },
    pace: { firstMs: 1000, killEveryMs: 1000, kills: 3, pauseMs: 10_000, stopMs: 1500 },
    goodput: 0.1,
    atOnce: 3
  }
  : {
    work: { tenants: 20, eventsEach: 1000, burst: 50, rate: 16, limitMs: 600_000 },
    pace: { firstMs: 5000, killEveryMs: 5000, kills: 5, pauseMs: 20_000, stopMs: 5000 },
    goodput: 0.9,
    atOnce: 1
  }

const program = Effect.gen(function*() {
  if (!isAvailable) return yield* Effect.fail("this machine has no PostgreSQL")
  const start = yield* bundle(import.meta.dirname, ["durable/runner", "durable/service", "durable/single"])
  const rows = [
    ...scenarios.map((scenario) => ({ name: scenario.name, run: measure(start, scenario, work, pace) })),
    { name: single, run: measureSingle(start, work) }
  ].filter(({ name }) => name.includes(only))
  if (rows.length === 0) return yield* Effect.fail("no scenario has that name")
  const results = yield* Effect.forEach(
    rows,
    ({ run }) => Effect.tap(run, (result) => Effect.sync(() => console.error(summary(result)))),
    { concurrency: atOnce }
  )
  const complaints = results.flatMap((result) => broken(result, goodput))
  console.log(`${table(results)}\n\n${notes}\n`)
  save("durable.txt", table(results))
  for (const complaint of complaints) console.log(`broken: ${complaint}`)
  console.log(`\n${json(results)}`)
  if (complaints.length > 0) process.exitCode = 1
}).pipe(Effect.scoped)

NodeRuntime.runMain(program, {
  // An interrupted run fails.
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? Number(process.exitCode ?? 0) : 1)
})
