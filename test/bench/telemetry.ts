/**
 * `npm run bench:telemetry`: what it costs that calls can be seen. The same program three times: with telemetry cut out of
 * the bundle, as it is while nobody looks, and with a tracer that keeps spans. Several processes of each take turns, since
 * two of the same program differ by more than what is looked for. `--quick` measures for less time.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import type { Plugin } from "esbuild"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Job, Ready, Report } from "./calls/client.js"
import type { Listening } from "./calls/server.js"
import { bundle } from "./processes.js"

const { values: { quick } } = parseArgs({ options: { quick: { type: "boolean", default: false } } })
const { calls, processes, rounds, warmUp } = quick
  ? { processes: 2, rounds: 7, calls: 200, warmUp: 3000 }
  : { processes: 5, rounds: 21, calls: 500, warmUp: 8000 }

/** Leaves telemetry out of a bundle. */
const without: Plugin = {
  name: "without telemetry",
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/watch\.js$/ }, () => ({ path: join(import.meta.dirname, "telemetry", "none.ts") }))
  }
}

const variants = ["removed", "as it is", "traced"] as const

type Variant = typeof variants[number]

const programs = ["calls/ours", "telemetry/direct"] as const

const scenarios = [
  { title: "no network", program: "telemetry/direct", payload: "small", concurrency: 1 },
  { title: "150 bytes, 1 at a time", program: "calls/ours", payload: "small", concurrency: 1 },
  { title: "150 bytes, 50 at a time", program: "calls/ours", payload: "small", concurrency: 50 },
  { title: "a job by POST, 50 at a time", program: "calls/ours", payload: "job", concurrency: 50 }
] as const

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? NaN
  return (at(Math.floor((sorted.length - 1) / 2)) + at(Math.ceil((sorted.length - 1) / 2))) / 2
}

const program = Effect.gen(function*() {
  const startWith = yield* bundle(import.meta.dirname, ["calls/server", ...programs])
  const startWithout = yield* bundle(import.meta.dirname, programs, [without])
  const { first: { origin } } = yield* startWith<Listening, Job, Report>({ program: "calls/server" })
  const start = (program: typeof programs[number], variant: Variant) => {
    const env = { VARIANT: variant === "traced" ? "traced" : "lean" }
    const options = { program, argument: origin, env } as const
    return variant === "removed" ? startWithout<Ready, Job, Report>(options) : startWith<Ready, Job, Report>(options)
  }
  const running = yield* Effect.forEach(
    programs.flatMap((program) =>
      Array.from({ length: processes }, () => variants.map((variant) => ({ program, variant }))).flat()
    ),
    ({ program, variant }) => Effect.map(start(program, variant), ({ ask }) => ({ program, variant, ask }))
  )
  yield* Effect.forEach(running, ({ ask }) => ask({ payload: "small", concurrency: 50, calls: warmUp }))
  return yield* Effect.forEach(scenarios, ({ concurrency, payload, program, title }) =>
    Effect.gen(function*() {
      const clients = running.filter((process) => process.program === program)
      yield* Effect.forEach(clients, ({ ask }) => ask({ payload, concurrency, calls: warmUp / 4 }))
      const turns = yield* Effect.forEach(Array.from({ length: rounds }), (_, round) =>
        // Who comes after whom changes from round to round.
        Effect.forEach(
          round % 2 === 0 ? clients : clients.toReversed(),
          ({ ask, variant }) =>
            Effect.map(
              ask({ payload, concurrency, calls }),
              ({ calls, cpuMicros }) => ({ variant, cpu: cpuMicros / calls })
            )
        ))
      const cpu = (variant: Variant) =>
        median(turns.flat().flatMap((report) => report.variant === variant ? [report.cpu] : []))
      const [removed, asItIs, traced] = [cpu("removed"), cpu("as it is"), cpu("traced")]
      return { title, removed, asItIs, traced, ratio: asItIs / removed, ratioTraced: traced / removed }
    }))
}).pipe(Effect.scoped)

const rounded = (value: number, digits: number) => Number(value.toFixed(digits))

const report = Effect.map(program, (results) => {
  const line = (cells: ReadonlyArray<string>) =>
    cells.map((cell, index) => index === 0 ? cell.padEnd(30) : cell.padStart(10)).join("")
  console.log(line(["CPU us per call", "removed", "as it is", "", "traced", ""]))
  for (const { asItIs, ratio, ratioTraced, removed, title, traced } of results) {
    console.log(
      line([title, removed.toFixed(1), asItIs.toFixed(1), ratio.toFixed(3), traced.toFixed(1), ratioTraced.toFixed(3)])
    )
  }
  const rows = results.map(({ asItIs, ratio, ratioTraced, removed, title, traced }) => ({
    calls: title,
    removedUs: rounded(removed, 1),
    asItIsUs: rounded(asItIs, 1),
    tracedUs: rounded(traced, 1),
    ratio: rounded(ratio, 3),
    ratioTraced: rounded(ratioTraced, 3)
  }))
  console.log(`\n${JSON.stringify({ rows })}`)
})

NodeRuntime.runMain(report)
