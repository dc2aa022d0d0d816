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
import { titles } from "./calls/result.js"
import type { Listening } from "./calls/server.js"
import { bundle } from "./processes.js"

const { values: { quick } } = parseArgs({ options: { quick: { type: "boolean", default: false } } })
const { millis, processes, rounds, warmUp } = quick
  ? { processes: 2, rounds: 6, millis: 150, warmUp: 600 }
  : { processes: 4, rounds: 25, millis: 250, warmUp: 3000 }

const calls = join(import.meta.dirname, "calls")

/** Leaves telemetry out of a bundle. */
const without: Plugin = {
  name: "without telemetry",
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/watch\.js$/ }, () => ({ path: join(import.meta.dirname, "telemetry", "none.ts") }))
  }
}

const variants = ["removed", "as it is", "traced"] as const

const scenarios = [
  { payload: "small", concurrency: 1 },
  { payload: "small", concurrency: 50 },
  { payload: "job", concurrency: 50 }
] as const

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? NaN
  return (at(Math.floor((sorted.length - 1) / 2)) + at(Math.ceil((sorted.length - 1) / 2))) / 2
}

const program = Effect.gen(function*() {
  const startWith = yield* bundle(calls, ["server", "ours"])
  const startWithout = yield* bundle(calls, ["ours"], [without])
  const { first: { origin } } = yield* startWith<Listening, Job, Report>({ program: "server" })
  const start = (variant: typeof variants[number]) => {
    const env = { VARIANT: variant === "traced" ? "traced" : "lean" }
    const options = { program: "ours", argument: origin, env } as const
    return variant === "removed" ? startWithout<Ready, Job, Report>(options) : startWith<Ready, Job, Report>(options)
  }
  const running = yield* Effect.forEach(
    Array.from({ length: processes }, () => variants).flat(),
    (variant) => Effect.map(start(variant), ({ ask }) => ({ variant, ask }))
  )
  yield* Effect.forEach(running, ({ ask }) => ask({ payload: "small", concurrency: 50, millis: warmUp }))
  return yield* Effect.forEach(scenarios, (scenario) =>
    Effect.gen(function*() {
      yield* Effect.forEach(running, ({ ask }) => ask({ ...scenario, millis: warmUp / 3 }))
      const turns = yield* Effect.forEach(Array.from({ length: rounds }), (_, round) =>
        // Who comes after whom changes from round to round.
        Effect.forEach(
          round % 2 === 0 ? running : running.toReversed(),
          ({ ask, variant }) =>
            Effect.map(ask({ ...scenario, millis }), ({ calls, cpuMicros }) => ({ variant, cpu: cpuMicros / calls }))
        ))
      const of = (variant: typeof variants[number]) =>
        turns.map((turn) => median(turn.flatMap((report) => report.variant === variant ? [report.cpu] : [])))
      const [removed, asItIs, traced] = variants.map(of)
      // Of rounds, not of sums: what else the machine does in a round hits all of them alike.
      const over = (some: ReadonlyArray<number> = []) =>
        median(some.map((cpu, round) => cpu / (removed?.[round] ?? NaN)))
      return {
        ...scenario,
        removed: median(removed ?? []),
        asItIs: median(asItIs ?? []),
        traced: median(traced ?? []),
        ratio: over(asItIs),
        ratioTraced: over(traced)
      }
    }))
}).pipe(Effect.scoped)

const rounded = (value: number, digits: number) => Number(value.toFixed(digits))

const report = Effect.map(program, (results) => {
  console.log("CPU per call, in microseconds              removed   as it is     ratio     traced     ratio")
  for (const { asItIs, concurrency, payload, ratio, ratioTraced, removed, traced } of results) {
    const cells = [removed.toFixed(1), asItIs.toFixed(1), ratio.toFixed(3), traced.toFixed(1), ratioTraced.toFixed(3)]
    console.log(
      `${titles[payload]}, ${concurrency} at a time`.padEnd(42) + cells.map((cell) => cell.padStart(10)).join(" ")
    )
  }
  const rows = results.map(({ concurrency, payload, ratio, ratioTraced, ...cpu }) => ({
    payload,
    concurrency,
    removedUs: rounded(cpu.removed, 1),
    asItIsUs: rounded(cpu.asItIs, 1),
    tracedUs: rounded(cpu.traced, 1),
    ratio: rounded(ratio, 3),
    ratioTraced: rounded(ratioTraced, 3)
  }))
  console.log(`\n${JSON.stringify({ rows })}`)
})

NodeRuntime.runMain(report)
