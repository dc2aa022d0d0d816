/** An adaptive strategy for tests, and calls of its operations. */
import * as Adaptive from "../../src/internal/limiter/adaptive.js"
import {
  exportTenant,
  importTenant,
  type InFlight,
  type TenantSnapshot,
  TenantState
} from "../../src/internal/limiter/adaptiveState.js"
import type { BucketReading } from "../../src/internal/limiter/bucketReading.js"
import { none as noLimits, type ResolvedLimits } from "../../src/internal/limiter/known/options.js"
import { none, type Waiter } from "../../src/internal/limiter/strategy.js"

export const tenant = "https://t.example.com/api/v2"

/** The state of a tenant about which nothing is known. */
export const nothing: TenantSnapshot = exportTenant(new TenantState(""))

/** A call that came at a time. */
export const waiterOf = <State>(state: State, since: number): Waiter<State> => ({
  state,
  isBackground: false,
  share: 0,
  nth: 0,
  since
})

export const noneInFlight: InFlight = { operations: new Map(), buckets: new Map() }

/** A strategy with operations of one tenant, each of whose calls takes 10 ms. */
export const makeStrategy = (limits: Partial<ResolvedLimits> = {}) => {
  const strategy = Adaptive.make({ ...noLimits, ...limits })
  const stateOf = (operation: string) => strategy.stateOf({ tenant, operation })
  const start = (operation: string, at: number) => strategy.start(stateOf(operation), at, false)
  return {
    strategy,
    stateOf,
    start,
    call: (operation: string, at: number, response: BucketReading | undefined) =>
      strategy.settle(start(operation, at), response, at + 10),
    wait: (operation: string, at: number, waited = 0) =>
      strategy.wait(waiterOf(stateOf(operation), at - waited), at, none).millis,
    /** Whether two operations share a bucket. */
    share: (one: string, other: string) => stateOf(one).bucket === stateOf(other).bucket,
    save: (): TenantSnapshot => structuredClone(exportTenant(strategy.tenantOf(tenant))),
    load: (snapshot: TenantSnapshot, inFlight = noneInFlight) =>
      importTenant(strategy.tenantOf(tenant), snapshot, inFlight),
    /** The calls left in each bucket, by its id. */
    levels: (now: number, name = tenant): ReadonlyMap<string, number> =>
      new Map(
        Array.from(strategy.tenantOf(name).buckets, ({ estimator, id }) => [id, estimator.status(now)?.remaining ?? 0])
      )
  }
}
