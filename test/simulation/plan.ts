/** Plans: everything that happens in a simulation, as plain data that can be drawn from a seed, made smaller and printed. */
import type { CallSettings } from "./callSettings.js"
import { contended, drawJobCall, drawJobs, type JobCall, type JobsPlan, keyOfRun } from "./jobs/plan.js"
import { Draw, type Range } from "./numbers.js"

/** A run of redelivery. Runs with the same journal are for the same stream of events. */
export interface RedeliveryCall extends CallSettings {
  readonly kind: "redelivery"
  readonly journal: number
  readonly events: ReadonlyArray<number>
  readonly concurrency: number
  readonly lockExpiry: number
}

/** Many calls, all to list versions unless it says what else, at once or one in each time. */
interface BurstCall extends CallSettings {
  readonly kind: "burst"
  readonly times: number
  readonly of?: "update" | "delete" | "redeliver"
  readonly every?: number
}

/** A limit that all programs set for their calls: how many start in any interval. */
interface CeilingPlan {
  readonly limit: number
  readonly interval: number
  readonly operations: ReadonlyArray<string>
}

/** One thing that a process does. */
export type Call =
  | BurstCall
  | (CallSettings & { readonly kind: "export" | "redeliver" | "update" | "list" | "pages" | "delete" })
  | RedeliveryCall
  | JobCall

export const isJobCall = (call: Call): call is JobCall => "job" in call

/** The operations of calls that make a single request. */
export const operations = {
  list: "listActionVersions",
  update: "updateTokenExchangeProfile",
  delete: "deleteEventStream",
  redeliver: "redeliverEvent",
  export: "createUsersExport"
} as const

/** Calls that must not be carried out twice. */
export const isOnce = ({ kind }: Call): boolean => kind === "export" || kind === "redeliver"

/** The end of a life after a number of steps. `stop` interrupts its program, which then can clean up. */
export interface Crash {
  readonly kind: "crash" | "stop"
  readonly steps: number
  readonly downFor: number
}

export interface ProcessPlan {
  readonly id: number
  /** The time of day of the process minus that of the machine. */
  readonly skew: number
  readonly leaps: ReadonlyArray<{ readonly at: number; readonly by: number }>
  /** One for each life, in order; the life after the last one does not end before the simulation. */
  readonly crashes: ReadonlyArray<Crash>
  readonly pauses: ReadonlyArray<{ readonly at: number; readonly for: number }>
  readonly calls: ReadonlyArray<Call>
  /** The time at which its program closes the client, without waiting for its calls. */
  readonly closes?: number
}

/**
 * A fault of one request.
 *
 * - `refused`, `lost`, `reset`: the service never receives it; the client sees that no connection was possible, nothing, or a
 *   connection that broke.
 * - `silent`, `cut`, `truncated`: it is carried out; the client sees nothing, a connection that broke, or half of the body.
 * - `lies`: it is carried out; headers say that nothing is left for most of a day, or come with a time of day that is a day behind.
 * - `slow`: request or response takes longer.
 * - `status`: the service responds with this status, after or without carrying out.
 * - `elsewhere`: it is carried out, and the client follows a redirect to another host, or to the same path with another query
 *   (`moved`), which responds with this status.
 * - `tracer`: the program's tracer throws at each event of the call's spans.
 */
export type Fault =
  & { readonly key: string; readonly nth: number }
  & (
    | { readonly kind: "refused" | "lost" | "reset" | "silent" | "cut" | "truncated" | "tracer" }
    | { readonly kind: "lies"; readonly about: "reset" | "date" }
    | { readonly kind: "slow"; readonly leg: "request" | "response"; readonly millis: number }
    | {
      readonly kind: "status"
      readonly status: number
      readonly carriedOut: boolean
      readonly body: "json" | "html" | "secret"
      readonly retryAfter?: number
    }
    | { readonly kind: "elsewhere"; readonly status: number; readonly moved?: true }
  )

/** A time in which the shared store is not well. `lost` happens at its begin; `keys` concerns those of one tenant. */
type StoreFault =
  & { readonly from: number; readonly for: number }
  & ({ readonly kind: "down" | "hung" | "slow" | "lost" } | { readonly kind: "keys"; readonly tenant: 0 | 1 })

/** A time in which the disk of a process does not respond, or fails. */
interface DiskFault {
  readonly kind: "stall" | "fail"
  readonly process: number
  readonly from: number
  readonly for: number
}

/** Everything that happens in a simulation. All times are in milliseconds from its begin. */
export interface Plan {
  readonly seed: number
  readonly isFleet: boolean
  readonly permute: boolean
  /** The share of operations at which a fiber gives way to another. */
  readonly preempt: number
  /** The times that a message takes, from the least to the most. */
  readonly latency: { readonly network: Range; readonly store: Range; readonly disk: Range }
  readonly service: {
    readonly burst: number
    readonly perSecond: number
    /** In seconds. */
    readonly tokenLifetime: number
    readonly skew: number
  }
  readonly processes: ReadonlyArray<ProcessPlan>
  readonly faults: ReadonlyArray<Fault>
  readonly storeFaults: ReadonlyArray<StoreFault>
  readonly diskFaults: ReadonlyArray<DiskFault>
  readonly revocations: ReadonlyArray<number>
  readonly ceilings?: ReadonlyArray<CeilingPlan>
  /** Only if the processes run jobs. */
  readonly jobs?: JobsPlan
}

/** The most events of a stream, and the most versions of an action. */
export const sizes = { events: 8, versions: 45 }

/** The longest `Retry-After` of a fault in seconds, and of one that makes no sense. */
const longestRetryAfter = { usual: 60, absurd: 99_999_999_999 }

export const keyOfCall = (process: number, call: number): string => `p${process}c${call}`
export const keyOfToken = (process: number): string => `p${process}token`
export const keyOfEvent = (call: string, event: number): string => `${call}e${event}`

/** The key under which all redeliveries of a journal's event count. */
export const keyOfRedelivery = (journal: number | string, event: number): string => keyOfEvent(`j${journal}`, event)
export const isKeyOfJournal = (key: string): boolean => key.startsWith("j")

const minute = 60_000

const drawCall = (draw: Draw, id: number, threads: number, journals: number): Call => {
  const settings: CallSettings = {
    id,
    thread: draw.between(0, threads - 1),
    after: draw.magnitude([0, 20_000]),
    ...(draw.chance(0.2) && { timeout: draw.magnitude([20, minute]) }),
    ...(draw.chance(0.1) && { interruptAfter: draw.magnitude([1, minute]) }),
    ...(draw.chance(0.1) && { withoutRetries: true }),
    ...(draw.chance(0.1) && { background: true })
  }
  const kind = draw.oneOf(
    "export",
    "export",
    "redeliver",
    "update",
    "list",
    "pages",
    "delete",
    "burst",
    "redelivery",
    "redelivery"
  )
  if (kind === "burst") return { ...settings, kind, times: draw.magnitude([2, 40]) }
  if (kind !== "redelivery") return { ...settings, kind }
  const { interruptAfter: _, ...more } = settings
  const distinct = draw.oneOf(1, 2, sizes.events)
  return {
    ...more,
    kind,
    journal: draw.between(0, journals - 1),
    events: [0, ...draw.list(sizes.events, () => draw.between(0, distinct - 1))],
    concurrency: draw.between(1, 4),
    lockExpiry: draw.magnitude([100, 15_000])
  }
}

const drawProcess = (seed: number, id: number, isCalm: boolean): ProcessPlan => {
  const draw = new Draw(seed, "process", id)
  const threads = draw.between(1, 4)
  const journals = draw.between(1, 2)
  return {
    id,
    skew: draw.oneOf(0, draw.between(-5000, 5000), draw.between(-86_400_000, 86_400_000)),
    leaps: isCalm ? [] : draw.list(1, () => ({
      at: draw.magnitude([0, 2 * minute]),
      by: draw.oneOf(-1, 1) * draw.magnitude([10, 86_400_000])
    })),
    crashes: isCalm ? [] : draw.list(2, () => ({
      kind: draw.oneOf("crash", "crash", "stop"),
      steps: draw.magnitude([1, 3000]),
      downFor: draw.magnitude([1, 30_000])
    })),
    pauses: isCalm ? [] : draw.list(2, () => ({
      at: draw.magnitude([0, 2 * minute]),
      for: draw.magnitude([10, minute])
    })),
    calls: [drawCall(draw, 0, threads, journals), ...draw.list(6, (nth) => drawCall(draw, nth + 1, threads, journals))]
  }
}

type Kind = Fault["kind"]

const drawFault = (draw: Draw, key: string, nth: number, kinds: ReadonlyArray<Kind>): Fault => {
  const kind = draw.oneOf(...kinds)
  const at = { key, nth }
  switch (kind) {
    case "slow":
      return { ...at, kind, leg: draw.oneOf("request", "response"), millis: draw.magnitude([100, minute]) }
    case "lies":
      return { ...at, kind, about: draw.oneOf("reset", "date") }
    case "elsewhere":
      return { ...at, kind, status: draw.oneOf(401, 429, 503, 200), ...(draw.chance(0.5) && { moved: true }) }
    case "status": {
      const status = draw.oneOf(401, 403, 408, 429, 429, 500, 502, 503, 503, 504)
      const mayRetryAfter = status === 429 || status === 503
      return {
        ...at,
        kind,
        status,
        carriedOut: (status >= 500 || status === 408) && draw.chance(0.5),
        body: draw.oneOf("json", "html", "secret"),
        ...(mayRetryAfter && draw.chance(0.5) &&
          { retryAfter: draw.magnitude([0, draw.chance(0.1) ? longestRetryAfter.absurd : longestRetryAfter.usual]) })
      }
    }
    default:
      return { ...at, kind }
  }
}

const kinds: ReadonlyArray<Kind> = [
  "refused",
  "lost",
  "reset",
  "silent",
  "cut",
  "truncated",
  "slow",
  "status",
  "elsewhere",
  "lies",
  "tracer"
]

/** The most requests with one key that may get a fault. */
const mostRequests = { token: 6, call: 4, event: 2 }

const drawFaults = (
  seed: number,
  processes: ReadonlyArray<ProcessPlan>,
  jobs: JobsPlan["jobs"] = []
): ReadonlyArray<Fault> => {
  const draw = new Draw(seed, "faults")
  const share = draw.oneOf(0.05, 0.15, 0.4, 0.7)
  const chosen = kinds.filter(() => draw.chance(0.4))
  const faults: Array<Fault> = []
  const add = (key: string, most: number) => {
    const own = new Draw(seed, "faults", key)
    for (let nth = 0; nth < most; nth++) {
      if (own.chance(share)) faults.push(drawFault(own, key, nth, chosen.length === 0 ? kinds : chosen))
    }
  }
  for (const { calls, id } of processes) {
    add(keyOfToken(id), mostRequests.token)
    for (const call of calls) {
      const key = keyOfCall(id, call.id)
      if (isJobCall(call)) continue
      if (call.kind !== "redelivery") add(key, mostRequests.call)
      else for (const event of new Set(call.events)) add(keyOfEvent(key, event), mostRequests.event)
    }
    for (const { id: job } of jobs) {
      for (let event = 0; event < sizes.events; event++) add(keyOfEvent(keyOfRun(id, job), event), mostRequests.event)
    }
  }
  return faults
}

/** Lets all processes run redeliveries on one journal whose disk stalls: they take the lock over from each other. */
const contend = (plan: Plan): Plan => {
  const draw = new Draw(plan.seed, "contention")
  if (plan.processes.length === 1 || draw.chance(0.7)) return plan
  const hurry = (call: Call): Call =>
    call.kind !== "redelivery" ? call : {
      ...call,
      after: draw.magnitude([0, 3000]),
      journal: 0,
      events: [0, 1, 2, 3, 4, 0],
      concurrency: 1,
      lockExpiry: draw.magnitude([100, 1000])
    }
  return {
    ...plan,
    processes: plan.processes.map((process) => ({ ...process, calls: process.calls.map(hurry) })),
    diskFaults: plan.processes.map(({ id }) => ({
      kind: "stall",
      process: id,
      from: draw.magnitude([10, 5000]),
      for: draw.magnitude([500, 20_000])
    }))
  }
}

/**
 * Lets processes crash again and again while they redeliver many events with a slow disk and a fast network: an event that is
 * sent before its entry is written will be carried out twice.
 */
const crashMidway = (plan: Plan): Plan => {
  const draw = new Draw(plan.seed, "midway")
  if (draw.chance(0.8)) return plan
  const longer = (call: Call): Call => call.kind !== "redelivery" ? call : { ...call, events: [0, 1, 2, 3, 4, 5, 6, 7] }
  return {
    ...plan,
    latency: { ...plan.latency, network: [1, 30], disk: [1, 3000] },
    processes: plan.processes.map((process) => ({
      ...process,
      calls: process.calls.map(longer),
      crashes: Array.from(
        { length: 5 },
        () => ({ kind: "crash", steps: draw.magnitude([100, 1000]), downFor: draw.magnitude([1, 1000]) })
      )
    }))
  }
}

/** Lets the first request of each process be refused with an absurd `Retry-After`: a client that obeys it hangs. */
const pauseForLong = (plan: Plan): Plan => {
  const draw = new Draw(plan.seed, "long pause")
  if (draw.chance(0.9)) return plan
  const pauses = plan.processes.map(({ calls: [call], id }): Fault => {
    const key = keyOfCall(id, call!.id) // sound: each process has a call
    return {
      key: call!.kind === "redelivery" ? keyOfEvent(key, 0) : key,
      nth: 0,
      kind: "status",
      status: 429,
      carriedOut: false,
      body: "json",
      retryAfter: longestRetryAfter.absurd
    }
  })
  const isOther = ({ key, nth }: Fault) => !pauses.some((pause) => pause.key === key && pause.nth === nth)
  return { ...plan, faults: [...plan.faults.filter(isOther), ...pauses] }
}

/** Checks that nothing goes wrong in a plan, so that no token is refused. */
export const isQuiet = ({ faults, processes, revocations, storeFaults }: Plan): boolean =>
  faults.length + revocations.length + storeFaults.length === 0 &&
  processes.every(({ crashes, leaps, pauses }) => crashes.length + leaps.length + pauses.length === 0)

/** Lets tokens live shorter than calls wait for the limiter. */
const queueForLong = (plan: Plan): Plan => {
  const draw = new Draw(plan.seed, "long queue")
  if (draw.chance(0.93)) return plan
  return {
    ...plan,
    service: { ...plan.service, burst: 2, perSecond: 1, tokenLifetime: 60 },
    processes: plan.processes.slice(0, 1).map((process) => ({
      ...process,
      crashes: [],
      leaps: [],
      pauses: [],
      calls: [{ kind: "burst", id: 0, thread: 0, after: 0, times: draw.between(100, 200) }]
    })),
    faults: [],
    storeFaults: [],
    diskFaults: [],
    revocations: []
  }
}

/** Lets a call that two or three ceilings count compete with a steady flow of younger ones, each of which counts for one of them. */
const competeForCeilings = (plan: Plan): Plan => {
  const draw = new Draw(plan.seed, "ceilings")
  if (plan.isFleet || draw.chance(0.93)) return plan
  const others = ([undefined, "update", "delete", "redeliver"] as const).filter(() => draw.chance(0.7))
  const limits = others.map((of) => ({ of, limit: draw.between(1, 3), interval: draw.magnitude([1000, 5000]) }))
  return {
    ...plan,
    service: { ...plan.service, burst: 60, perSecond: 20 },
    processes: plan.processes.slice(0, 1).map((process) => ({
      ...process,
      crashes: [],
      leaps: [],
      pauses: [],
      calls: [
        ...limits.map(({ interval, limit, of }, id): BurstCall => ({
          kind: "burst",
          id,
          thread: id,
          after: draw.magnitude([0, 1000]),
          times: draw.between(30, 100),
          every: Math.round(interval / limit),
          ...(of !== undefined && { of })
        })),
        { kind: "export", id: 9, thread: 9, after: draw.magnitude([500, 20_000]) }
      ]
    })),
    faults: [],
    storeFaults: [],
    diskFaults: [],
    revocations: [],
    ceilings: limits.map(({ interval, limit, of }) => ({
      limit,
      interval,
      operations: [operations[of ?? "list"], operations.export]
    }))
  }
}

/** The tenants that the processes call. */
export const countTenants = ({ processes }: Plan): number =>
  processes.some(({ calls }) => calls.some(({ tenant }) => tenant !== undefined)) ? 2 : 1

/** Lets each process call two tenants. The store fails for the keys of one. */
const callTwoTenants = (plan: Plan): Plan => {
  const draw = new Draw(plan.seed, "tenants")
  if (!plan.isFleet || draw.chance(0.9)) return plan
  const divide = (call: Call): Call =>
    call.kind === "redelivery" || isJobCall(call) || draw.chance(0.5) ? call : { ...call, tenant: 1 }
  const fault = (): StoreFault => ({
    kind: "keys",
    tenant: draw.oneOf(0, 1),
    from: draw.magnitude([0, minute]),
    for: draw.magnitude([100, minute])
  })
  return {
    ...plan,
    processes: plan.processes.map((process) => ({ ...process, calls: process.calls.map(divide) })),
    storeFaults: [...plan.storeFaults, fault(), ...draw.list(1, fault)]
  }
}

/** Lets programs close their clients while calls run. */
const closeMidway = (plan: Plan): Plan => {
  const draw = new Draw(plan.seed, "closing")
  if (draw.chance(0.85)) return plan
  const close = (process: ProcessPlan): ProcessPlan => ({
    ...process,
    crashes: [],
    pauses: [],
    closes: draw.magnitude([10, 2 * minute])
  })
  return { ...plan, processes: plan.processes.map(close) }
}

/**
 * Lets the processes run jobs. They submit, cancel and resume them, and do little else. In some plans they crash again and again, or
 * stand still.
 */
const withJobs = (plan: Plan, isCalm: boolean): Plan => {
  const draw = new Draw(plan.seed, "jobs")
  const jobs = drawJobs(draw, plan.processes.length, sizes.events, isCalm)
  const crashesOften = draw.chance(0.3)
  const pausesOften = draw.chance(0.3)
  const processes = plan.processes.map((process): ProcessPlan => ({
    ...process,
    calls: [
      ...Array.from({ length: draw.between(1, 5) }, (_, id) => drawJobCall(draw, id, jobs.jobs.length)),
      ...process.calls.filter(({ kind }) => kind === "list" || kind === "update").map((call) => ({
        ...call,
        id: 100 + call.id
      }))
    ],
    ...(crashesOften && !isCalm && {
      crashes: Array.from({ length: 4 }, () => ({
        kind: draw.oneOf("crash", "crash", "stop"),
        steps: draw.magnitude([100, 3000]),
        downFor: draw.magnitude([1, 5000])
      }))
    }),
    ...(pausesOften && !isCalm && {
      pauses: Array.from(
        { length: 6 },
        () => ({ at: draw.magnitude([100, minute]), for: draw.magnitude([100, 30_000]) })
      )
    })
  }))
  const store = draw.oneOf<Range>(plan.latency.store, [0, 5], [1, 1000], [1, 3000])
  const faults = isCalm ? [] : drawFaults(plan.seed, processes, jobs.jobs)
  const drawn = { ...plan, latency: { ...plan.latency, store }, processes, faults, jobs }
  return isCalm || draw.chance(0.7) ? drawn : contendForJobs(draw, drawn, jobs)
}

/**
 * Lets processes take one job over from each other, because each stands still again and again while it redelivers, and goes on as if
 * nothing had happened.
 */
const contendForJobs = (draw: Draw, plan: Plan, jobs: JobsPlan): Plan => ({
  ...plan,
  latency: { ...plan.latency, network: [1, 30], store: draw.oneOf<Range>([1, 40], [1, 300], [5, 1000]) },
  processes: plan.processes.map((process) => ({
    ...process,
    crashes: [],
    calls: process.calls.map((call) => isJobCall(call) ? { ...call, after: draw.magnitude([0, 1000]), job: 0 } : call),
    pauses: Array.from({ length: 4 }, () => ({ at: draw.magnitude([100, 20_000]), for: draw.between(2000, 30_000) }))
  })),
  jobs: contended(draw, { ...jobs, jobs: [{ id: 0, events: [0, 1, 2, 3, 4, 5, 6, 7] }] })
})

/** The kinds of simulations: clients that are alone, those of a fleet, and processes that run jobs. */
export const simulationKinds = ["alone", "fleet", "jobs"] as const

export type SimulationKind = typeof simulationKinds[number]

/** Draws the plan of a seed. The ranges are drawn, too: what one simulation never does, another does all the time. */
export const drawPlan = (seed: number, kind: SimulationKind): Plan => {
  const isFleet = kind === "fleet" || (kind === "jobs" && new Draw(seed, "fleet").chance(0.3))
  const change = (plan: Plan) =>
    kind === "jobs"
      ? withJobs(plan, isCalm)
      : [contend, crashMidway, pauseForLong, closeMidway, queueForLong, callTwoTenants, competeForCeilings].reduce(
        (changed, step) => step(changed),
        plan
      )
  const draw = new Draw(seed, "plan")
  const isCalm = draw.chance(0.1)
  const processes = Array.from({ length: draw.between(1, 3) }, (_, id) => drawProcess(seed, id, isCalm))
  const window = () => ({ from: draw.magnitude([0, 2 * minute]), for: draw.magnitude([10, minute]) })
  return change({
    seed,
    isFleet,
    permute: draw.chance(0.8),
    preempt: draw.oneOf(0, 0.02, 0.05, 0.1),
    latency: {
      network: draw.oneOf<Range>([0, 0], [1, 30], [1, 400], [1, 5000]),
      store: draw.oneOf<Range>([0, 0], [0, 5], [1, 40], [1, 300]),
      disk: draw.oneOf<Range>([0, 0], [0, 5], [1, 100], [1, 3000])
    },
    service: {
      burst: draw.magnitude([2, 60]),
      perSecond: draw.magnitude([1, 20]),
      tokenLifetime: draw.oneOf(86_400, 600, 60),
      skew: draw.oneOf(0, draw.between(-90_000, 90_000))
    },
    processes,
    faults: isCalm ? [] : drawFaults(seed, processes),
    storeFaults: isCalm || !isFleet
      ? []
      : draw.list(3, () => ({ kind: draw.oneOf("down", "hung", "slow", "lost"), ...window() })),
    diskFaults: isCalm
      ? []
      : draw.list(2, () => ({
        kind: draw.oneOf("stall", "stall", "fail"),
        process: draw.between(0, processes.length - 1),
        ...window()
      })),
    revocations: isCalm ? [] : draw.list(2, () => draw.magnitude([0, 2 * minute]))
  })
}
