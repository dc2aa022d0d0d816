/** The state of a tenant's limits, as the shared store keeps it. */
import * as Predicate from "effect/Predicate"
import type { AdaptiveStrategy } from "../limiter/adaptive.js"
import type { BucketSnapshot, Observation, OperationSnapshot, TenantSnapshot } from "../limiter/adaptiveState.js"
import { type EstimatorState, initialState, type RateSample } from "../limiter/estimatorState.js"
import * as FixedWindow from "../limiter/fixedWindow.js"
import { plain, restore, type Saved } from "./saved.js"

/** The number of calls in flight, by operation and by bucket. */
interface Open {
  readonly lanes: ReadonlyMap<string, number>
  readonly supplies: ReadonlyMap<string, number>
}

const part = (saved: unknown): Saved => Predicate.isReadonlyRecord(saved) ? saved : {}

const list = (saved: unknown): ReadonlyArray<unknown> => Array.isArray(saved) ? saved : []

const encodeEstimator = (state: EstimatorState): Saved => ({
  ...plain(state),
  samples: state.samples.map(plain),
  window: plain(state.window)
})

const decodeEstimator = (saved: Saved): EstimatorState => ({
  ...restore(initialState(), saved),
  samples: list(saved["samples"]).map((sample) =>
    restore<RateSample>({ sentAt: 0, endedAt: 0, low: 0, high: 0 }, sample)
  ),
  window: restore(FixedWindow.initialState(), saved["window"])
})

/** Encodes all that is known of a tenant. */
export const save = (learning: AdaptiveStrategy, name: string): Saved => {
  const { buckets, operations, unknown, ...rest } = learning.exportTenant(name)
  return {
    ...plain(rest),
    unknown: encodeEstimator(unknown),
    buckets: buckets.map(({ estimator, ...bucket }) => ({ ...bucket, estimator: encodeEstimator(estimator) })),
    operations: Object.fromEntries(
      Object.entries(operations).map(([name, { bucket, observations, ...operation }]) => [
        name,
        { ...plain(operation), bucket, observations: observations.map(plain) }
      ])
    )
  }
}

const decodeBucket = (saved: Saved): BucketSnapshot => ({
  ...restore({ id: "", limit: 0 }, saved),
  estimator: decodeEstimator(part(saved["estimator"])),
  similarity: Object.fromEntries(
    Object.entries(part(saved["similarity"])).map(([id, times]) => [id, Number(times)])
  )
})

const decodeOperation = (saved: Saved): OperationSnapshot => ({
  ...restore({ startedAt: -Infinity, isSilent: false, contradictions: 0 }, saved),
  bucket: Predicate.isString(saved["bucket"]) ? saved["bucket"] : undefined,
  observations: list(saved["observations"]).map((observation) =>
    restore<Observation>({ sentAt: 0, endedAt: 0, remaining: 0, fullAt: 0 }, observation)
  )
})

/** Replaces all that is known of a tenant. */
export const load = (learning: AdaptiveStrategy, name: string, saved: Saved, open: Open): void => {
  const snapshot: TenantSnapshot = {
    ...restore({ bucketCount: 0, startedAt: -Infinity }, saved),
    unknown: decodeEstimator(part(saved["unknown"])),
    buckets: list(saved["buckets"]).map((bucket) => decodeBucket(part(bucket))),
    operations: Object.fromEntries(
      Object.entries(part(saved["operations"])).map(([name, operation]) => [name, decodeOperation(part(operation))])
    )
  }
  learning.importTenant(name, snapshot, { operations: open.lanes, buckets: open.supplies })
}

/** The calls left in each bucket that is known. */
export const levels = (learning: AdaptiveStrategy, name: string, now: number): ReadonlyMap<string, number> =>
  new Map(
    Array.from(learning.tenantOf(name).buckets, ({ estimator, id }) => [id, estimator.status(now)?.remaining ?? 0])
  )

/** Lowers the estimates to those levels. */
export const cap = (
  learning: AdaptiveStrategy,
  name: string,
  levels: ReadonlyMap<string, number>,
  now: number
): void => {
  for (const { estimator, id } of learning.tenantOf(name).buckets) estimator.cap(levels.get(id) ?? Infinity, now)
}
