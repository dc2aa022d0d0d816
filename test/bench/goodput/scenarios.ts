/**
 * What is measured: every limit, with the local clock right and wrong, and with two clients that do not know of each other; known
 * limits; and a limit that only 429s without headers show.
 */

import type { KnownLimits } from "../../../src/RateLimiter.js"

/** A bucket of the tenant, and how many calls are made against it. */
export interface Limit {
  readonly name: string
  readonly bucket: "tenant" | "profileUpdates"
  /** The number of calls at once; then `refill` calls in each `perMs` milliseconds. */
  readonly burst: number
  readonly refill: number
  readonly perMs: number
  readonly calls: number
  /** True if a proxy in front of the tenant counts the calls, whose 429s have no headers. The tenant's own bucket is larger. */
  readonly isBare?: true
}

export interface Scenario {
  readonly name: string
  readonly limit: Limit
  /** How far the clients' clock is ahead of the tenant's. */
  readonly shiftMs: number
  /** How many clients share the calls, each in a process of its own. */
  readonly clients: 1 | 2
  /** Limits that our client knows beforehand. The vendor's SDK has no such option, and no such row. */
  readonly known?: KnownLimits
  /** A limit of the client's own below that of the bucket: the goodput is its used share. */
  readonly ceiling?: Limit
}

/** `auth0-10` is the SDK with ten retries. */
export const clientNames = ["ours", "auth0", "auth0-10"] as const

/** On Effect 4: ours, and Effect's own limiter. */
export const clientNamesOfEffect4 = ["ours", "effect"] as const

export type ClientName = typeof clientNames[number] | typeof clientNamesOfEffect4[number]

/** One scenario, one client: a row of the table. */
export interface Row {
  readonly scenario: Scenario
  readonly client: ClientName
}

const production: Limit = { name: "16/s", bucket: "tenant", burst: 50, refill: 16, perMs: 1000, calls: 300 }

const limits: ReadonlyArray<Limit> = [
  { name: "2/s", bucket: "tenant", burst: 2, refill: 2, perMs: 1000, calls: 60 },
  production,
  { name: "100/min", bucket: "profileUpdates", burst: 5, refill: 100, perMs: 60_000, calls: 60 }
]

const ofLimits: ReadonlyArray<Scenario> = limits.flatMap((limit): ReadonlyArray<Scenario> => [
  { name: limit.name, limit, shiftMs: 0, clients: 1 },
  { name: `${limit.name}, clock +60 s`, limit, shiftMs: 60_000, clients: 1 },
  { name: `${limit.name}, clock -60 s`, limit, shiftMs: -60_000, clients: 1 },
  { name: `${limit.name}, two clients`, limit, shiftMs: 0, clients: 2 }
])

const alone = { shiftMs: 0, clients: 1 } as const

/** Rows of ours alone: a ceiling, and cold starts with what was known beforehand, right and wrong. */
const knownLimits: ReadonlyArray<Scenario> = [
  {
    ...alone,
    name: "16/s, ceiling 5/s",
    limit: { ...production, calls: 150 },
    known: { ceiling: { limit: 5, interval: 1000 } },
    ceiling: { ...production, burst: 5, refill: 5, calls: 150 }
  },
  {
    ...alone,
    name: "16/s, right prior",
    limit: production,
    known: { prior: { burst: 50, limit: 16, interval: 1000 } }
  },
  {
    ...alone,
    name: "16/s, wrong prior",
    limit: production,
    known: { prior: { burst: 150, limit: 64, interval: 1000 } }
  }
]

/** A proxy that serves a call if the last one that it served is 200 ms ago, as `limit_req rate=5r/s` of nginx does. */
const bare: Limit = {
  name: "5/s, bare 429s",
  bucket: "tenant",
  burst: 1,
  refill: 5,
  perMs: 1000,
  calls: 400,
  isBare: true
}

export const scenarios: ReadonlyArray<Scenario> = [
  ...ofLimits,
  ...knownLimits,
  { ...alone, name: bare.name, limit: bare }
]

/** The least milliseconds in which a full bucket lets this number of calls through. */
export const idealMs = ({ burst, perMs, refill }: Limit, calls: number): number =>
  Math.max(0, calls - burst) * perMs / refill
