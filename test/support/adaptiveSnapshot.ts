/** Exports and imports an adaptive strategy's knowledge of a tenant, as the processes of a fleet do. */
import * as Adaptive from "../../src/internal/limiter/adaptive.js"
import type { InFlight, TenantSnapshot } from "../../src/internal/limiter/adaptiveState.js"

/** The knowledge of a strategy that knows nothing. */
export const nothing: TenantSnapshot = Adaptive.make().exportTenant("")

export const save = (strategy: Adaptive.AdaptiveStrategy, tenant: string): TenantSnapshot =>
  structuredClone(strategy.exportTenant(tenant))

export const load = (
  strategy: Adaptive.AdaptiveStrategy,
  tenant: string,
  snapshot: TenantSnapshot,
  inFlight: InFlight
): void => strategy.importTenant(tenant, snapshot, inFlight)

/** The calls left in each bucket. */
export const levels = (strategy: Adaptive.AdaptiveStrategy, tenant: string, now: number): ReadonlyMap<string, number> =>
  new Map(
    Array.from(strategy.tenantOf(tenant).buckets, ({ estimator, id }) => [id, estimator.status(now)?.remaining ?? 0])
  )

/** Lowers the estimates to these levels. */
export const cap = (
  strategy: Adaptive.AdaptiveStrategy,
  tenant: string,
  levels: ReadonlyMap<string, number>,
  now: number
): void => {
  for (const { estimator, id } of strategy.tenantOf(tenant).buckets) estimator.cap(levels.get(id) ?? Infinity, now)
}
