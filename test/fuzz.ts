/**
 * `npm run test:fuzz`: 100,000 responses that no server should give, 20,000 requests that no client should send, and some
 * thousands of both on real sockets. `--quick` tries a fiftieth of that, `--runs 500` tries 500 responses. A failure is made smaller and
 * shown with the options that find it again: `--only responses --seed=-7 --path=12:0`.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import { properties } from "./fuzz/properties.js"

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    runs: { type: "string" },
    only: { type: "string", default: "" },
    seed: { type: "string" },
    path: { type: "string" }
  }
})

/** Parses an option. A typing error must not look like runs without a failure. */
const whole = (option: string, text: string, pattern: RegExp): number => {
  if (pattern.test(text)) return Number(text)
  throw new Error(`--${option} cannot be ${text}`)
}

const runs = whole("runs", values.runs ?? (values.quick ? "2000" : "100000"), /^[1-9]\d{0,8}$/)
const seed = values.seed === undefined ? undefined : whole("seed", values.seed, /^-?\d{1,10}$/)
const chosen = properties.filter(({ name }) => values.only === "" || name === values.only)
if (chosen.length === 0) throw new Error(`--only takes one of ${properties.map(({ name }) => name).join(", ")}`)

// Errors after the end of a run, when no call can fail with them.
process.on("uncaughtException", (error) => {
  console.error(`outside of all calls: ${error.stack ?? String(error)}`)
  process.exit(1)
})

for (const { check, name, share } of chosen) {
  const began = performance.now()
  const failure = await Effect.runPromise(Effect.scoped(check(runs, { seed, path: values.path })))
  const took = `${((performance.now() - began) / 1000).toFixed(1)} s`
  if (failure === undefined) {
    console.log(
      `${name.padEnd(20)} ${String(Math.max(1, Math.round(runs * share))).padStart(7)} runs ${took.padStart(9)}`
    )
    continue
  }
  process.exitCode = 1
  console.log(`${name} failed after ${took}: ${failure.why}\n${failure.example}`)
  console.log(`again: npm run test:fuzz -- --only ${name} --seed=${failure.seed} --path=${failure.path}`)
}
