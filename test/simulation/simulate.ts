/** Runs a plan from its begin to its end: with its faults, then without, and then compares what is known with what happened. */
import { Account } from "./account.js"
import { Bounds } from "./bounds.js"
import { JobAccount } from "./jobs/account.js"
import { JobDatabase } from "./jobs/database.js"
import { Engine } from "./jobs/engine.js"
import type { JobsPlan } from "./jobs/plan.js"
import type { JobSite } from "./jobs/programs.js"
import { Network } from "./network.js"
import { Permits } from "./permits.js"
import { type Call, type Plan, type ProcessPlan, sizes } from "./plan.js"
import { Process } from "./process.js"
import type { Site } from "./programs.js"
import { Service } from "./service.js"
import { Storage } from "./storage.js"
import { type Violation, World } from "./world.js"

export interface Report {
  readonly violation: Violation | undefined
  readonly steps: number
  /** All that happened, the same for each run of a plan. */
  readonly trace: ReadonlyArray<string>
}

const minute = 60_000

/** The time in which faults happen; after it, everything is well. */
const faultyTime = 5 * minute

/** The time within which all calls end after the last fault: waits for permits, retries, locks and `Retry-After`. */
const settlingTime = 40 * minute

/** The time within which a process ends that is asked to. */
const closingTime = minute

/** A process that finishes what the others could not, once they have ended. */
const verifier = (journals: Iterable<number>, jobs: JobsPlan["jobs"] = []): ProcessPlan => ({
  id: 9,
  skew: 0,
  leaps: [],
  crashes: [],
  pauses: [],
  calls: [
    ...Array.from(journals, (journal, id): Call => ({
      kind: "redelivery",
      id,
      thread: id,
      after: 0,
      journal,
      events: Array.from({ length: sizes.events }, (_, event) => event),
      concurrency: 4,
      lockExpiry: 1000
    })),
    ...jobs.map(({ id }): Call => ({ kind: "finish", id: 100 + id, thread: 100 + id, after: 0, job: id }))
  ]
})

const storms = ({ plan, machine }: World, service: Service, storage: Storage): void => {
  for (const at of plan.revocations) machine.after(at, () => service.revoke())
  for (const { from, kind } of plan.storeFaults) if (kind === "lost") machine.after(from, () => storage.lose())
}

/** Lets processes run until all are done, or a phase until its condition holds. */
const phase = async (world: World, name: string, isDone: () => boolean, millis: number): Promise<void> => {
  if (world.violation !== undefined) return
  const isOver = await world.machine.run(() => world.violation !== undefined || isDone(), world.machine.now + millis)
  if (!isOver) world.violate("liveness", `${name}: not over after ${millis} ms`)
}

/** Runs a plan. */
export const simulate = async (plan: Plan): Promise<Report> => {
  const world = new World(plan)
  const { machine } = world
  machine.occupy()
  // An endless loop, or a timer of Node's, must not end the search without the seed.
  await play(world).catch((error: unknown) => world.violate("machine", String(error))).finally(() => machine.release())
  world.note(`${machine.steps} steps, schedule ${machine.fingerprint}`)
  return { violation: world.violation, steps: machine.steps, trace: world.trace }
}

const jobSite = (world: World, service: Service): JobSite => {
  const account = new JobAccount(world, service)
  const database = new JobDatabase(world, account)
  return { world, account, database, engine: new Engine(world, database, account) }
}

const play = async (world: World): Promise<void> => {
  const { plan } = world
  const service = new Service(world)
  const bounds = new Bounds(world)
  const network = new Network(world, service, bounds)
  const storage = new Storage(world)
  const account = new Account(world, service)
  const permits = new Permits(world, bounds)
  const jobs = plan.jobs && jobSite(world, service)
  const site: Site = { world, network, storage, account, permits, bounds, jobs }
  const processes = plan.processes.map((process) => new Process(site, process))
  const areDone = () => processes.every(({ isDone }) => isDone)
  const haveEnded = () => jobs === undefined || jobs.account.haveEnded(jobs.database.rows)
  const areClosed = () => processes.every(({ isClosed }) => isClosed)

  service.open()
  await phase(world, "the service opens", () => service.isOpen, 0)
  storms(world, service, storage)
  for (const process of processes) process.start()
  const isOver = () => world.violation !== undefined || (areDone() && haveEnded())
  await world.machine.run(isOver, world.machine.now + faultyTime)
  world.isHealed = true
  world.note("all is well from now on")
  await phase(world, "all calls end", areDone, settlingTime)

  await phase(world, "all jobs end", haveEnded, settlingTime)

  for (const process of processes) process.probe()
  await phase(world, "a call of each operation ends", () => processes.every(({ isProbed }) => isProbed), settlingTime)

  for (const process of processes) process.end()
  await phase(world, "all processes end", areClosed, closingTime)

  const last = new Process(site, verifier(storage.journals.keys(), plan.jobs?.jobs))
  processes.push(last)
  last.start()
  await phase(world, "the journals are finished", areDone, settlingTime)
  last.end()
  await phase(world, "the last process ends", areClosed, closingTime)

  // Late messages.
  await world.machine.run(() => world.violation !== undefined, world.machine.now + 5 * minute)
  if (world.violation === undefined) {
    account.checkAll(storage.journals)
    jobs?.account.checkAll(jobs.database.rows)
  }
}
