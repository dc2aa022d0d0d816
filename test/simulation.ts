/**
 * `npm run test:simulation`: 200 simulations, each the whole system with its faults from one seed, in turn of clients that are alone and of a
 * fleet. `--seeds 1000` runs more of them, `--from 5000` other ones, `--fleet` and `--alone` one kind only. A failure prints its seed and
 * the smallest plan that fails alike; `--seed 17` replays one and prints all that happens. `--planted` takes mends of `src` back in a copy, one
 * at a time, and demands that each is found. The last line is JSON; the exit code is 1 if a simulation fails.
 */
import { parseArgs } from "node:util"
import { drawPlan, type Plan } from "./simulation/plan.js"
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

const isFleet = values.fleet === values.alone ? undefined : values.fleet
const planOf = (seed: number): Plan => drawPlan(seed, isFleet)

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
    console.log(`again: npm run test:simulation -- --seed ${seed}\nsmallest plan: ${JSON.stringify(smallest)}`)
  }
  console.log(JSON.stringify({ seeds, steps, failed }))
}

if (values.planted) process.exitCode = findAll(values.only) === 0 ? 0 : 1
else if (values.plan !== undefined) await replay(JSON.parse(values.plan))
else if (values.seed !== undefined) await replay(planOf(whole("seed", values.seed)))
else await search(whole("from", values.from), whole("seeds", values.seeds))
