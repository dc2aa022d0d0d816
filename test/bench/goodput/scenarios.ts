/** What is measured: every limit, with the local clock right and wrong, and with two clients that do not know of each other. */

/** A bucket of the tenant, and how many calls are made against it. */
export interface Limit {
  readonly name: string
  readonly bucket: "tenant" | "profileUpdates"
  /** The number of calls at once; then `refill` calls in each `perMs` milliseconds. */
  readonly burst: number
  readonly refill: number
  readonly perMs: number
  readonly calls: number
}

export interface Scenario {
  readonly name: string
  readonly limit: Limit
  /** How far the clients' clock is ahead of the tenant's. */
  readonly shiftMs: number
  /** How many clients share the calls, each in a process of its own. */
  readonly clients: 1 | 2
}

export const clientNames = ["ours", "auth0"] as const

export type ClientName = typeof clientNames[number]

/** One scenario, one client: a row of the table. */
export interface Row {
  readonly scenario: Scenario
  readonly client: ClientName
}

const limits: ReadonlyArray<Limit> = [
  { name: "2/s", bucket: "tenant", burst: 2, refill: 2, perMs: 1000, calls: 60 },
  { name: "16/s", bucket: "tenant", burst: 50, refill: 16, perMs: 1000, calls: 300 },
  { name: "100/min", bucket: "profileUpdates", burst: 5, refill: 100, perMs: 60_000, calls: 60 }
]

export const scenarios: ReadonlyArray<Scenario> = limits.flatMap((limit): ReadonlyArray<Scenario> => [
  { name: limit.name, limit, shiftMs: 0, clients: 1 },
  { name: `${limit.name}, clock +60 s`, limit, shiftMs: 60_000, clients: 1 },
  { name: `${limit.name}, clock -60 s`, limit, shiftMs: -60_000, clients: 1 },
  { name: `${limit.name}, two clients`, limit, shiftMs: 0, clients: 2 }
])

/** The least milliseconds in which a full bucket lets this number of calls through. */
export const idealMs = ({ burst, perMs, refill }: Limit, calls: number): number =>
  Math.max(0, calls - burst) * perMs / refill
