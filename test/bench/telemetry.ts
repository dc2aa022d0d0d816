/**
 * `npm run bench:telemetry`: what it costs that calls can be seen. The same program with telemetry cut out of the bundle, as
 * it is while nobody looks, and with a tracer that keeps spans. They take turns in one process; and because one and the same
 * program may be compiled well or badly, there are many processes, one after the other. Ratios are the medians of those of
 * the processes; `overNetwork` is that of all rows with a network. `--quick` has fewer processes.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import type { Plugin } from "esbuild"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Job, Report } from "./calls/client.js"
import type { Listening } from "./calls/server.js"
import { build, bundle } from "./processes.js"
import type { Answer, Name, Question, Ready, Start } from "./telemetry/turns.js"

const { values: { quick } } = parseArgs({ options: { quick: { type: "boolean", default: false } } })
const { processes, turns } = quick ? { processes: 2, turns: 12 } : { processes: 15, turns: 18 }

/** So many calls in each turn; and so many turns before those that count, in the first scenario and in each. */
const [calls, first, warmUp] = [200, 30, 12]

/** Leaves telemetry out of a bundle. */
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

const medians = ({ asItIs, removed, traced }: Answer): Readonly<Record<Name, number>> => ({
  removed: median(removed),
  asItIs: median(asItIs),
  traced: median(traced)
})

const measure = Effect.gen(function*() {
  const start = yield* bundle(import.meta.dirname, ["calls/server", "telemetry/turns"])
  const asItIs = yield* build(import.meta.dirname, programs)
  const removed = yield* build(import.meta.dirname, programs, [without])
  const { first: { origin } } = yield* start<Listening, Job, Report>({ program: "calls/server" })
  const once = (program: typeof programs[number]) =>
    Effect.gen(function*() {
      const about: Start = { origin, program, removed, asItIs }
      const { ask } = yield* start<Ready, Question, Answer>({
        program: "telemetry/turns",
        argument: JSON.stringify(about)
      })
      yield* ask({ payload: "small", concurrency: 50, calls, turns: first })
      return yield* Effect.forEach(
        scenarios.filter((scenario) => scenario.program === program),
        ({ concurrency, payload, title }) =>
          Effect.gen(function*() {
            yield* ask({ payload, concurrency, calls, turns: warmUp })
            return { title, ...medians(yield* ask({ payload, concurrency, calls, turns })) }
          })
      )
    }).pipe(Effect.scoped)
  const results = yield* Effect.forEach(
    Array.from({ length: processes }, () => programs).flat(),
    once
  )
  return scenarios.map(({ title }) => {
    const found = results.flat().filter((result) => result.title === title)
    const ratios = found.map(({ asItIs, removed }) => asItIs / removed)
    return {
      title,
      removed: median(found.map(({ removed }) => removed)),
      asItIs: median(found.map(({ asItIs }) => asItIs)),
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
  console.log(line(["CPU us per call", "removed", "as it is", "ratio", "(quartiles)", "traced"]))
  for (const { asItIs, quartiles: [low, high], ratio, removed, title, traced } of results) {
    console.log(line([
      title,
      removed.toFixed(1),
      asItIs.toFixed(1),
      ratio.toFixed(3),
      `${low.toFixed(2)}-${high.toFixed(2)}`,
      traced.toFixed(1)
    ]))
  }
  const rows = results.map(({ asItIs, ratio, ratioTraced, removed, title, traced }) => ({
    calls: title,
    removedUs: rounded(removed, 1),
    asItIsUs: rounded(asItIs, 1),
    tracedUs: rounded(traced, 1),
    ratio: rounded(ratio, 3),
    ratioTraced: rounded(ratioTraced, 3)
  }))
  const overNetwork = median(results.slice(1).flatMap(({ ratios }) => ratios))
  console.log(`\n${JSON.stringify({ rows, overNetwork: rounded(overNetwork, 3) })}`)
})

NodeRuntime.runMain(report)
