/**
 * `npm run bench:goodput`: fifty callers against a limit, beside the vendor's SDK. How much of what the bucket gives is used,
 * and how many requests are wasted on 429s? `--quick` leaves out most of the SDK's rows, and the one with bare 429s, and stops early; `--only 16/s`
 * runs the scenarios whose name contains that, `--client ours` (or `auth0`) the rows of one client, and
 * `--no-retry-after` takes that header off the tenants' 429s, as the real service does at times. With `--loaded` other
 * processes keep all cores busy, and other bounds hold. With `--strict` a row of ours that breaks a bound is a failure; a busy
 * machine breaks some. `--effect4` measures the line for Effect 4 beside Effect's own limiter; `npm run effect4` writes it first.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { parseArgs } from "node:util"
import { effect3, effect4 } from "../../.ci/line.js"
import { measure } from "./goodput/measure.js"
import { broken, json, notes, table } from "./goodput/result.js"
import { clientNames, clientNamesOfEffect4, type Row, scenarios } from "./goodput/scenarios.js"
import { save } from "./results.js"

const {
  values: { client: onlyClient, effect4: isEffect4, loaded, "no-retry-after": noRetryAfter, only = "", quick, strict }
} = parseArgs({
  options: {
    "quick": { type: "boolean", default: false },
    "loaded": { type: "boolean", default: false },
    "strict": { type: "boolean", default: false },
    "only": { type: "string" },
    "client": { type: "string" },
    "effect4": { type: "boolean", default: false },
    "save": { type: "boolean" },
    "no-retry-after": { type: "boolean", default: false }
  }
})

/** The SDK needs more than two minutes where it takes the server's clock for its own. */
const times = quick ? { limitMs: 37_000, staggerMs: 500 } : { limitMs: 240_000, staggerMs: 2000 }

/** The rows of the SDK that a quick run has. */
const quickRows = ["2/s", "16/s", "16/s, clock -60 s"]

const rows: ReadonlyArray<Row> = scenarios.flatMap((scenario) =>
  (isEffect4 ? clientNamesOfEffect4 : clientNames).map((client) => ({ scenario, client }))
)
  .filter(({ client, scenario: { known, limit, name } }) =>
    name.includes(only) && !(quick && limit.isBare) && (onlyClient === undefined || client === onlyClient) &&
    (client === "ours" || known === undefined) &&
    (client !== "auth0-10" || !quick) &&
    (client === "ours" || !quick || only !== "" || quickRows.includes(name))
  )

const program = Effect.gen(function*() {
  if (rows.length === 0) return yield* Effect.fail("no row has that name")
  const results = yield* measure(rows, {
    ...times,
    retryAfter: !noRetryAfter,
    isLoaded: loaded,
    line: isEffect4 ? effect4 : effect3
  })
  const complaints = results.flatMap((result) => broken(result, loaded))
  const isKept = complaints.length === 0 && results.some(({ client }) => client === "ours")
  console.log(`${table(results)}\n\n${notes}\n`)
  save(isEffect4 ? "effect4-goodput.txt" : "goodput.txt", table(results))
  for (const complaint of complaints) console.log(`broken: ${complaint}`)
  if (isKept) console.log("Every row of ours keeps its bounds.")
  console.log(`\n${json(results)}`)
  if (strict && complaints.length > 0) process.exitCode = 1
})

NodeRuntime.runMain(program, {
  // A run that was interrupted has not passed.
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? 0 : 1)
})
