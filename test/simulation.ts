/**
 * `npm run test:simulation`: 200 simulations, each the whole system with its faults from one seed, in turn of clients that are alone, of a
 * fleet, and of processes that run jobs. `--seeds 1000` runs more of them, `--from 5000` other ones, `--alone`, `--fleet` and `--jobs` one kind only. A failure prints its seed and
 * the smallest plan that fails alike; `--seed 17` replays one and prints all that happens. Many seeds are shared out to one process
 * for each core, in batches: fibers of crashed processes never end, so a process's memory only grows. `--planted` takes mends of `src` back in a copy, one
 * at a time, and demands that each is found. The last line is JSON; the exit code is 1 if a simulation fails.
 */
import { spawn } from "node:child_process"
import { availableParallelism } from "node:os"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { drawPlan, type Plan, type SimulationKind, simulationKinds } from "./simulation/plan.js"
import { findAll } from "./simulation/planted.js"
import { shrink } from "./simulation/shrink.js"
import { simulate } from "./simulation/simulate.js"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "0" },
    seed: { type: "string" },
    plan: { type: "string" },
    fleet: { type: "boolean", default: false },
    alone: { type: "boolean", default: false },
    jobs: { type: "boolean", default: false },
    first: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    planted: { type: "boolean", default: false }
  }
})

/** Parses an option. A typing error must not look like runs without a failure. */
const whole = (option: string, text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new Error(`--${option} cannot be ${text}`)
}

const chosen = simulationKinds.filter((kind) => values[kind])
const kinds = chosen.length === 0 ? simulationKinds : chosen
const kindOf = (seed: number) => kinds[seed % kinds.length]! // sound: there is at least one
const planOf = (seed: number): Plan => drawPlan(seed, kindOf(seed))

/** The numbers of seeds that simulate clients that are alone, fleets, and jobs. */
const kindsOf = (from: number, seeds: number) => {
  const counts: Record<SimulationKind, number> = { alone: 0, fleet: 0, jobs: 0 }
  for (let seed = from; seed < from + seeds; seed++) counts[kindOf(seed)]++
  return counts
}

const replay = async (plan: Plan): Promise<void> => {
  const { trace, violation } = await simulate(plan)
  console.log(`${JSON.stringify(plan)}\n${trace.join("\n")}`)
  if (violation !== undefined) process.exitCode = 1
}

const search = async (from: number, seeds: number): Promise<void> => {
  let [steps, failed] = [0, 0]
  for (let seed = from; seed < from + seeds; seed++) {
    const plan = planOf(seed)
    const report = await simulate(plan)
    steps += report.steps
    if (report.violation === undefined) continue
    failed++
    process.exitCode = 1
    const { invariant, message } = report.violation
    console.log(`seed ${seed} breaks "${invariant}": ${message}`)
    if (values.first) break
    const smallest = await shrink(plan, report.violation, async (plan) => (await simulate(plan)).violation)
    const kind = kindOf(seed) // without it, the seed decides
    console.log(
      `again: npm run test:simulation -- --seed ${seed} --${kind}\nsmallest plan: ${JSON.stringify(smallest)}`
    )
  }
  console.log(JSON.stringify({ seeds, ...kindsOf(from, seeds), steps, failed }))
}

/** The number of seeds that one process simulates. */
const batch = 250

/**
 * Simulates a batch in a process of its own, which collects its many short-lived objects faster from a large young generation, and reads
 * no source maps: a replay does. Returns the numbers of its last line.
 */
const simulateBatch = async (
  from: number,
  seeds: number
): Promise<{ readonly steps: number; readonly failed: number }> => {
  const flags = chosen.map((kind) => `--${kind}`)
  const args = [
    "--max-semi-space-size=64",
    import.meta.filename,
    "--from",
    String(from),
    "--seeds",
    String(seeds),
    ...flags
  ]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  let last = ""
  for await (const line of createInterface({ input: child.stdout })) {
    if (last !== "") console.log(last)
    last = line
  }
  if (last === "") throw new Error(`the simulation of the seeds from ${from} ended early`)
  const { failed, steps } = JSON.parse(last) // sound: the last line of `search`
  return { failed, steps }
}

const searchInBatches = async (from: number, seeds: number): Promise<void> => {
  const starts = Array.from({ length: Math.ceil(seeds / batch) }, (_, nth) => from + nth * batch).values()
  let [steps, failed] = [0, 0]
  await Promise.all(Array.from({ length: availableParallelism() }, async () => {
    for (const start of starts) {
      const result = await simulateBatch(start, Math.min(batch, from + seeds - start))
      steps += result.steps
      failed += result.failed
    }
  }))
  if (failed > 0) process.exitCode = 1
  console.log(JSON.stringify({ seeds, ...kindsOf(from, seeds), steps, failed }))
}

if (values.planted) process.exitCode = findAll(values.only) === 0 ? 0 : 1
else if (values.plan !== undefined) await replay(JSON.parse(values.plan))
else if (values.seed !== undefined) await replay(planOf(whole("seed", values.seed)))
else {
  const [from, seeds] = [whole("from", values.from), whole("seeds", values.seeds)]
  await (values.first || seeds <= batch ? search : searchInBatches)(from, seeds)
}
