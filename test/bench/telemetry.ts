/**
 * `npm run bench:telemetry`: measures the cost of telemetry. Runs one program without telemetry in its bundle, with it but
 * without a tracer, and with a tracer that keeps spans, alternately in one process. As the same program may be compiled well or
 * badly, it repeats this in many processes. Ratios are medians over the processes; `overNetwork` is the median of all rows with
 * a network. `--quick` uses fewer processes.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import type { Plugin } from "esbuild"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Job, Report } from "./calls/client.js"
import type { Listening } from "./calls/server.js"
import { build, bundle } from "./processes.js"
import { save } from "./results.js"
import type { Measured, Name, Question, Ready, Start } from "./telemetry/rounds.js"

const { values: { quick } } = parseArgs({
  options: { quick: { type: "boolean", default: false }, save: { type: "boolean" } }
})
const { processes, rounds } = quick ? { processes: 2, rounds: 12 } : { processes: 15, rounds: 18 }

/** The calls of a round, and the rounds that are not measured: at first, and in each scenario. */
const [calls, first, warmUp] = [200, 30, 12]

/** Replaces telemetry in a bundle. */
const without: Plugin = {
  name: "without telemetry",
  setup: ({ onResolve }) => {
    onResolve(
      { filter: /\/(?:call|token)Telemetry\.js$/ },
      () => ({ path: join(import.meta.dirname, "telemetry", "none.ts") })
    )
  }
}

const programs = ["calls/variants", "telemetry/direct"] as const

const scenarios = [
  { title: "no network", program: "telemetry/direct", payload: "small", concurrency: 1 },
  { title: "150 bytes, 1 at a time", program: "calls/variants", payload: "small", concurrency: 1 },
  { title: "150 bytes, 50 at a time", program: "calls/variants", payload: "small", concurrency: 50 },
  { title: "a job by POST, 50 at a time", program: "calls/variants", payload: "job", concurrency: 50 }
] as const

const quantile = (numbers: ReadonlyArray<number>, part: number): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * part
  const [low = NaN, high = NaN] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return low + (high - low) * (at - Math.floor(at))
}

const median = (numbers: ReadonlyArray<number>) => quantile(numbers, 0.5)

const medians = ({ included, removed, traced }: Measured): Readonly<Record<Name, number>> => ({
  removed: median(removed),
  included: median(included),
  traced: median(traced)
})

const measure = Effect.gen(function*() {
  const start = yield* bundle(import.meta.dirname, ["calls/server", "telemetry/rounds"])
  const included = yield* build(import.meta.dirname, programs)
  const removed = yield* build(import.meta.dirname, programs, [without])
  const { first: { origin } } = yield* start<Listening, Job, Report>({ program: "calls/server" })
  const once = (program: typeof programs[number]) =>
    Effect.gen(function*() {
      const about: Start = { origin, program, removed, included }
      const { ask } = yield* start<Ready, Question, Measured>({
        program: "telemetry/rounds",
        argument: JSON.stringify(about)
      })
      yield* ask({ payload: "small", concurrency: 50, calls, rounds: first })
      return yield* Effect.forEach(
        scenarios.filter((scenario) => scenario.program === program),
        ({ concurrency, payload, title }) =>
          Effect.gen(function*() {
            yield* ask({ payload, concurrency, calls, rounds: warmUp })
            return { title, ...medians(yield* ask({ payload, concurrency, calls, rounds })) }
          })
      )
    }).pipe(Effect.scoped)
  const results = yield* Effect.forEach(
    Array.from({ length: processes }, () => programs).flat(),
    once
  )
  return scenarios.map(({ title }) => {
    const found = results.flat().filter((result) => result.title === title)
    const ratios = found.map(({ included, removed }) => included / removed)
    return {
      title,
      removed: median(found.map(({ removed }) => removed)),
      included: median(found.map(({ included }) => included)),
      traced: median(found.map(({ traced }) => traced)),
      ratio: median(ratios),
      ratios,
      quartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)] as const,
      ratioTraced: median(found.map(({ removed, traced }) => traced / removed))
    }
  })
}).pipe(Effect.scoped)

const rounded = (value: number, digits: number) => Number(value.toFixed(digits))

const report = Effect.map(measure, (results) => {
  const line = (cells: ReadonlyArray<string>) =>
    cells.map((cell, index) => index === 0 ? cell.padEnd(28) : cell.padStart(index === 4 ? 14 : 9)).join("")
  const lines = [line(["CPU us per call", "removed", "included", "ratio", "(quartiles)", "traced"])]
  for (const { included, quartiles: [low, high], ratio, removed, title, traced } of results) {
    lines.push(line([
      title,
      removed.toFixed(1),
      included.toFixed(1),
      ratio.toFixed(3),
      `${low.toFixed(2)}-${high.toFixed(2)}`,
      traced.toFixed(1)
    ]))
  }
  console.log(lines.join("\n"))
  save("telemetry.txt", lines.join("\n"))
  const rows = results.map(({ included, ratio, ratioTraced, removed, title, traced }) => ({
    calls: title,
    removedUs: rounded(removed, 1),
    includedUs: rounded(included, 1),
    tracedUs: rounded(traced, 1),
    ratio: rounded(ratio, 3),
    ratioTraced: rounded(ratioTraced, 3)
  }))
  const overNetwork = median(results.slice(1).flatMap(({ ratios }) => ratios))
  console.log(`\n${JSON.stringify({ rows, overNetwork: rounded(overNetwork, 3) })}`)
})

NodeRuntime.runMain(report)
