/** Scenarios of the fleet benchmark. */
import type { Limit } from "../goodput/scenarios.js"

/** The bucket of production with a multiple of its refill rate. */
export const limitOf = (calls: number, speed: number): Limit => ({
  name: "fleet",
  bucket: "tenant",
  burst: 50,
  refill: 16 * speed,
  perMs: 1000,
  calls
})

export const processes = 8

type Event = "none" | "holder killed" | "store stopped" | "clock off"

export interface Scenario {
  readonly name: string
  readonly event: Event
  readonly shared: boolean
  /** The number of operations that make the calls. */
  readonly operations: number
}

const scenario = (name: string, event: Event, shared: boolean, operations = 4): Scenario => (
  { name, event, shared, operations }
)

export const scenarios: ReadonlyArray<Scenario> = [
  scenario("8 processes", "none", true),
  scenario("lease holder killed", "holder killed", true),
  scenario("store stopped 3 s", "store stopped", true),
  scenario("one clock +60 s", "clock off", true),
  scenario("400 operations", "none", true, 400),
  scenario("8 processes", "none", false),
  scenario("one clock +60 s", "clock off", false)
]
