/** `npm run test:simulation`. */
import "./simulation/ambient.js"
import { drawPlan } from "./simulation/plan.js"
import { simulate } from "./simulation/simulate.js"
const from = Number(process.argv[2] ?? 0), to = Number(process.argv[3] ?? 5)
let steps = 0, requests = 0, failed = 0
const began = performance.now()
for (let seed = from; seed < to; seed++) {
  const plan = process.env.PLAN ? JSON.parse(process.env.PLAN) : drawPlan(seed)
  const report = await simulate(plan)
  steps += report.steps
  requests += report.requests
  if (to === from + 1) console.log(JSON.stringify(plan), "\n" + report.trace.join("\n"))
  if (report.violation) { failed++; console.log(seed, report.violation) }
}
console.log({ seeds: to - from, steps, requests, failed, ms: performance.now() - began })
