/** What the programs of the durable benchmark have in common. */

/** The work of a scenario, and the bucket of each tenant. */
export interface Work {
  readonly tenants: number
  readonly eventsEach: number
  /** The calls that a full bucket allows at once; one more becomes free every `1000 / rate` milliseconds. */
  readonly burst: number
  readonly rate: number
  /** Every process gives up after this time. */
  readonly limitMs: number
}

/** The number of events of one job that are processed at the same time. */
export const concurrency = 10

export const stream = "est_0000000000000000000001"

const idOf = (nth: number): string => `evt_${String(nth).padStart(22, "0")}`

export const idsOf = ({ eventsEach }: Work): ReadonlyArray<string> =>
  Array.from({ length: eventsEach }, (_, nth) => idOf(nth))

/** The position of an event in the list of its tenant. */
export const positionOf = (id: string): number => Number(id.slice(4))

/** The names of the tenants. Each is the position of its address. */
export const tenantsOf = ({ tenants }: Work): ReadonlyArray<string> =>
  Array.from({ length: tenants }, (_, nth) => String(nth))

/** The least milliseconds in which full buckets let all events through. */
export const idealMs = ({ burst, eventsEach, rate }: Work): number => Math.max(0, eventsEach - burst) * 1000 / rate
