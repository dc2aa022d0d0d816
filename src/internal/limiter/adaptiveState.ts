/** The state of the adaptive strategy: the operations and buckets of a tenant, and the same as plain data. */
import type { Bucket, Reservation } from "./bucket.js"
import * as Estimator from "./estimator/estimator.js"
import type { EstimatorState } from "./estimator/state.js"
import type { Call } from "./permit.js"

/** The calls of one operation. */
export interface OperationState {
  readonly call: Call
  readonly tenant: TenantState
  inFlight: number
  /** The start of its last call. */
  startedAt: number
  /** Unknown until a response has rate-limit headers. */
  bucket: SharedBucket | undefined
  /** True if its last response had no rate-limit headers; matters while its bucket is unknown. */
  isSilent: boolean
  /** Its last responses, the newest last. */
  observations: ReadonlyArray<Observation>
  /** The times in a row that a response showed more calls left than can be left in its bucket. */
  contradictions: number
}

/** A bucket that several operations may share. */
export interface SharedBucket {
  /** No other bucket of its tenant has or had this id. */
  readonly id: string
  readonly limit: number
  readonly estimator: Estimator.Estimator
  readonly operations: Set<OperationState>
  /** The number of times that calls of another bucket were visible in this one. */
  readonly similarity: WeakMap<SharedBucket, number>
}

export interface TenantState {
  /** For operations about which nothing is known. */
  readonly unknown: Estimator.Estimator
  readonly buckets: Set<SharedBucket>
  /** The number of buckets made so far. */
  bucketCount: number
  /** The start of its last call. */
  startedAt: number
}

/** A call that has ended, and what its response said. Times are local milliseconds. */
export interface Observation {
  readonly sentAt: number
  readonly endedAt: number
  readonly remaining: number
  /** The earliest time at which the bucket may be full again. */
  readonly fullAt: number
}

/** A call in flight, and its reservations: one for each bucket that it may draw on. */
export interface AdaptiveGrant {
  readonly state: OperationState
  readonly sentAt: number
  readonly reservations: ReadonlyArray<readonly [from: Bucket, reservation: Reservation]>
}

export const makeTenant = (): TenantState => ({
  unknown: Estimator.make(),
  buckets: new Set(),
  bucketCount: 0,
  startedAt: -Infinity
})

export const makeSharedBucket = (id: string, limit: number): SharedBucket => ({
  id,
  limit,
  estimator: Estimator.make(),
  operations: new Set(),
  similarity: new WeakMap()
})

export const makeOperation = (call: Call, tenant: TenantState): OperationState => ({
  call,
  tenant,
  inFlight: 0,
  startedAt: -Infinity,
  bucket: undefined,
  isSilent: false,
  observations: [],
  contradictions: 0
})

/** The state of a tenant as plain data. */
export interface TenantSnapshot {
  readonly bucketCount: number
  readonly startedAt: number
  readonly unknown: EstimatorState
  readonly buckets: ReadonlyArray<BucketSnapshot>
  /** By the name of the operation. */
  readonly operations: Readonly<Record<string, OperationSnapshot>>
}

interface BucketSnapshot {
  readonly id: string
  readonly limit: number
  readonly estimator: EstimatorState
  /** By the id of the other bucket. */
  readonly similarity: Readonly<Record<string, number>>
}

interface OperationSnapshot {
  readonly startedAt: number
  /** The id of its bucket. */
  readonly bucket: string | undefined
  readonly isSilent: boolean
  readonly observations: ReadonlyArray<Observation>
  readonly contradictions: number
}

/** The number of calls in flight, by operation and by the id of the bucket that they draw on. */
export interface InFlight {
  readonly operations: ReadonlyMap<string, number>
  readonly buckets: ReadonlyMap<string, number>
}

/** The id that stands for the bucket of operations about which nothing is known. */
const unknownId = "?"

/** The ids of the buckets that a call draws on. */
export const bucketIdsOf = ({ reservations, state: { tenant } }: AdaptiveGrant): ReadonlyArray<string> =>
  reservations.flatMap(([bucket]) =>
    bucket === tenant.unknown
      ? [unknownId]
      : Array.from(tenant.buckets).filter(({ estimator }) => estimator === bucket).map(({ id }) => id)
  )

export const exportTenant = (tenant: TenantState, operations: ReadonlyArray<OperationState>): TenantSnapshot => ({
  bucketCount: tenant.bucketCount,
  startedAt: tenant.startedAt,
  unknown: tenant.unknown.state,
  buckets: Array.from(tenant.buckets, ({ estimator, id, limit, similarity }) => ({
    id,
    limit,
    estimator: estimator.state,
    similarity: Object.fromEntries(
      Array.from(tenant.buckets, (other) => [other.id, similarity.get(other) ?? 0] as const)
        .filter(([, times]) => times > 0)
    )
  })),
  operations: Object.fromEntries(
    operations.map(({ bucket, call, contradictions, isSilent, observations, startedAt }) => [
      call.operation,
      { startedAt, bucket: bucket?.id, isSilent, observations, contradictions }
    ])
  )
})

/** Replaces the state of a tenant. The objects of its operations, and of buckets that remain, stay the same. */
export const importTenant = (
  tenant: TenantState,
  operations: ReadonlyArray<OperationState>,
  snapshot: TenantSnapshot,
  inFlight: InFlight
): void => {
  const before = new Map(Array.from(tenant.buckets, (bucket) => [bucket.id, bucket]))
  tenant.bucketCount = snapshot.bucketCount
  tenant.startedAt = snapshot.startedAt
  tenant.unknown.restore(snapshot.unknown, inFlight.buckets.get(unknownId) ?? 0)
  tenant.buckets.clear()
  const buckets = new Map<string, SharedBucket>()
  for (const { estimator, id, limit } of snapshot.buckets) {
    const known = before.get(id)
    const bucket = known?.limit === limit ? known : makeSharedBucket(id, limit)
    bucket.estimator.restore(estimator, inFlight.buckets.get(id) ?? 0)
    bucket.operations.clear()
    tenant.buckets.add(bucket)
    buckets.set(id, bucket)
  }
  for (const { id, similarity } of snapshot.buckets) {
    for (const [otherId, other] of buckets) buckets.get(id)?.similarity.set(other, similarity[otherId] ?? 0)
  }
  for (const state of operations) {
    const { operation } = state.call
    const stored = snapshot.operations[operation]
    state.inFlight = inFlight.operations.get(operation) ?? 0
    state.startedAt = stored?.startedAt ?? -Infinity
    state.bucket = stored?.bucket === undefined ? undefined : buckets.get(stored.bucket)
    state.bucket?.operations.add(state)
    state.isSilent = stored?.isSilent ?? false
    state.observations = stored?.observations ?? []
    state.contradictions = stored?.contradictions ?? 0
  }
}
