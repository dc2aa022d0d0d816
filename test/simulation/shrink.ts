/** Makes a plan that fails smaller: it takes parts away as long as the same invariant is broken. */
import type { JobsPlan } from "./jobs/plan.js"
import type { Plan, ProcessPlan } from "./plan.js"
import type { Violation } from "./world.js"

/** All lists that differ from this one by a part less: first half of it, then quarters, then single elements. */
const smaller = <A>(list: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> => {
  const lists: Array<ReadonlyArray<A>> = []
  for (let size = list.length; size >= 1; size = size >> 1) {
    for (let from = 0; from < list.length; from += size) {
      lists.push([...list.slice(0, from), ...list.slice(from + size)])
    }
  }
  return lists
}

const calm = [0, 0] as const

/** The plans that are a step smaller than one, those first that save most. */
const candidates = function*(plan: Plan): Generator<Plan> {
  for (const processes of smaller(plan.processes)) if (processes.length > 0) yield { ...plan, processes }
  const within = (id: number, change: (process: ProcessPlan) => Partial<ProcessPlan>): Plan => ({
    ...plan,
    processes: plan.processes.map((process) => process.id === id ? { ...process, ...change(process) } : process)
  })
  for (const { calls, id } of plan.processes) {
    for (const fewer of smaller(calls)) yield within(id, () => ({ calls: fewer }))
    for (const call of calls) {
      if (call.kind === "burst" && call.times > 1) {
        const fewer = { ...call, times: call.times >> 1 }
        yield within(id, () => ({ calls: calls.map((other) => other === call ? fewer : other) }))
      }
      if (call.kind !== "redelivery") continue
      for (const events of smaller(call.events)) {
        yield within(id, () => ({ calls: calls.map((other) => other === call ? { ...call, events } : other) }))
      }
    }
  }
  for (const faults of smaller(plan.faults)) yield { ...plan, faults }
  for (const storeFaults of smaller(plan.storeFaults)) yield { ...plan, storeFaults }
  for (const diskFaults of smaller(plan.diskFaults)) yield { ...plan, diskFaults }
  for (const ceilings of smaller(plan.ceilings ?? [])) yield { ...plan, ceilings }
  for (const revocations of smaller(plan.revocations)) yield { ...plan, revocations }
  for (const { crashes, id, leaps, pauses, skew } of plan.processes) {
    for (const fewer of smaller(crashes)) yield within(id, () => ({ crashes: fewer }))
    for (const fewer of smaller(pauses)) yield within(id, () => ({ pauses: fewer }))
    for (const fewer of smaller(leaps)) yield within(id, () => ({ leaps: fewer }))
    if (skew !== 0) yield within(id, () => ({ skew: 0 }))
  }
  const { jobs } = plan
  if (jobs !== undefined) {
    const less = (change: Partial<JobsPlan>): Plan => ({ ...plan, jobs: { ...jobs, ...change } })
    for (const databaseFaults of smaller(jobs.databaseFaults)) yield less({ databaseFaults })
    for (const moves of smaller(jobs.moves)) yield less({ moves })
    for (const outages of smaller(jobs.outages)) yield less({ outages })
    for (const job of jobs.jobs) {
      for (const events of smaller(job.events ?? [])) {
        yield less({ jobs: jobs.jobs.map((other) => other === job ? { ...job, events } : other) })
      }
    }
    if (jobs.hasPlainJournals) yield less({ hasPlainJournals: false })
  }
  const { latency, service } = plan
  for (const kind of ["network", "store", "disk"] as const) {
    if (latency[kind][1] > 0) yield { ...plan, latency: { ...latency, [kind]: calm } }
  }
  if (service.skew !== 0) yield { ...plan, service: { ...service, skew: 0 } }
  if (plan.preempt > 0) yield { ...plan, preempt: 0 }
  if (plan.permute) yield { ...plan, permute: false }
  if (plan.isFleet) yield { ...plan, isFleet: false }
}

/** Gives the smallest plan that was found to break the same invariant, after at most `most` runs. */
export const shrink = async (
  plan: Plan,
  { invariant }: Violation,
  run: (plan: Plan) => Promise<Violation | undefined>,
  most = 400
): Promise<Plan> => {
  let smallest = plan
  let runs = 0
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    for (const candidate of candidates(smallest)) {
      if (++runs > most) return smallest
      if ((await run(candidate))?.invariant !== invariant) continue
      smallest = candidate
      isSmaller = true
      break
    }
  }
  return smallest
}
