/**
 * Infers which operations share one bucket. The headers name none: operations of a tenant with the same limit are assumed
 * to share until a response shows more calls left than can be left. Then they part, and join again when the responses of
 * each show the calls of the other.
 */
import type { Observation, OperationState, SharedBucket, TenantState } from "./adaptiveState.js"
import type { BucketReading } from "./bucketReading.js"

/** The number of observations kept of each operation. */
const maxObservations = 32

/** This many contradicting responses move an operation out of its bucket; this many similar ones each way merge two buckets. */
const proof = 2

/** Finds the bucket that a response belongs to, and keeps the observation. */
export const place = (state: OperationState, sentAt: number, reading: BucketReading, now: number): SharedBucket => {
  const { isRateLimited, isServed, limit, remaining, untilFull } = reading
  if (limit === undefined || remaining === undefined) {
    state.isSilent = isServed
    return state.bucket ?? state.tenant.unknown
  }
  if (state.bucket?.estimator.isPrior === true) correct(state.bucket, state, { limit, remaining, sentAt, now })
  if (state.bucket !== undefined && state.bucket.limit !== limit) leave(state, state.bucket)
  const observation = { sentAt, endedAt: now, remaining, fullAt: now + Math.max(0, (untilFull ?? 0) - 1) * 1000 }
  if (state.bucket !== undefined && state.bucket.operations.size > 1 && !isRateLimited) {
    // Many more than can be left are proof enough. One more may be an error of rounding.
    const excess = remaining - mostLeft(state.bucket, state, observation)
    state.contradictions = excess > 0 ? state.contradictions + (excess > 1 ? proof : 1) : 0
    if (state.contradictions >= proof) leave(state, state.bucket)
  }
  const bucket = state.bucket ?? enter(state, limit, observation)
  if (!isRateLimited) {
    compare(bucket, state.tenant, observation)
    if (state.observations.push(observation) > maxObservations) state.observations.shift()
  }
  return state.bucket ?? bucket
}

/**
 * Corrects a bucket that was known beforehand by its first response. It keeps its calls in flight. If others have used it, it is
 * the bucket of others that explains that best.
 */
const correct = (
  bucket: SharedBucket,
  state: OperationState,
  { limit, now, remaining, sentAt }: Readonly<Record<"limit" | "now" | "remaining" | "sentAt", number>>
): void => {
  bucket.limit = limit
  if (remaining + bucket.estimator.inFlight >= limit) return
  const other = bestOf(state, limit, { sentAt, endedAt: now, remaining, fullAt: now })
  if (other !== undefined) join(bucket, other, state.tenant)
}

const join = (bucket: SharedBucket, other: SharedBucket, tenant: TenantState): void => {
  for (const operation of bucket.operations) {
    operation.bucket = other
    other.operations.add(operation)
  }
  bucket.operations.clear()
  tenant.buckets.delete(bucket)
}

const leave = (state: OperationState, bucket: SharedBucket): void => {
  state.bucket = undefined
  state.contradictions = 0
  state.observations = []
  bucket.operations.delete(state)
  if (bucket.operations.size === 0) state.tenant.buckets.delete(bucket)
}

/** Finds the bucket that explains an observation best. */
const bestOf = (state: OperationState, limit: number, observation: Observation): SharedBucket | undefined => {
  let best: SharedBucket | undefined
  let least = Infinity
  for (const bucket of state.tenant.buckets) {
    if (bucket.estimator.isPrior) continue // a prior without a response explains nothing
    const gap = mostLeft(bucket, state, observation) - observation.remaining
    if (bucket.limit === limit && gap >= 0 && (best === undefined || gap < least)) {
      best = bucket
      least = gap
    }
  }
  return best
}

/** Moves an operation to the bucket that explains an observation best, or to a new one if none does. */
const enter = (state: OperationState, limit: number, observation: Observation): SharedBucket => {
  const { tenant } = state
  const best = bestOf(state, limit, observation) ?? tenant.makeBucket(`${++tenant.bucketCount}`, limit)
  tenant.buckets.add(best)
  best.operations.add(state)
  state.bucket = best
  return best
}

/** The number of calls that were sent and ended for sure between two points in time. */
const countBetween = (operations: Iterable<OperationState>, from: number, to: number): number => {
  let count = 0
  for (const { observations } of operations) {
    for (const { endedAt, sentAt } of observations) if (sentAt >= from && endedAt <= to) count++
  }
  return count
}

/** The last observation that had ended at a point in time; one operation may be left out. */
const lastObservation = (
  operations: Iterable<OperationState>,
  before: number,
  except?: OperationState
): Observation | undefined => {
  let last: Observation | undefined
  for (const operation of operations) {
    const own = operation === except ? undefined : operation.observations.findLast(({ endedAt }) => endedAt <= before)
    if (own !== undefined && own.endedAt >= (last?.endedAt ?? -Infinity)) last = own
  }
  return last
}

/** The calls that may come back within `millis`, by a generous estimate. */
const mostRefilled = ({ estimator, limit }: SharedBucket, now: number, millis: number): number => {
  const status = estimator.status(now)
  if (status === undefined || status.fullAt <= now) return 1
  const perMilli = (limit - status.remaining) / (status.fullAt - now)
  return Math.min(limit, 1 + 2 * perMilli * millis)
}

/** The most calls that can be left after a call, by the observations of the bucket's other operations. */
const mostLeft = (bucket: SharedBucket, state: OperationState, { endedAt, sentAt }: Observation): number => {
  const last = lastObservation(bucket.operations, sentAt, state)
  if (last === undefined || endedAt >= last.fullAt) return Infinity
  const since = countBetween(bucket.operations, last.endedAt, sentAt) + 1
  return last.remaining + mostRefilled(bucket, endedAt, endedAt - last.sentAt) - since
}

/** Looks for the calls of other buckets with the same limit in an observation of this bucket. */
const compare = (bucket: SharedBucket, tenant: TenantState, { endedAt, remaining, sentAt }: Observation): void => {
  if (tenant.buckets.size === 1) return
  const last = lastObservation(bucket.operations, sentAt)
  if (last === undefined) return
  const own = countBetween(bucket.operations, last.endedAt, sentAt) + 1
  const missing = last.remaining - own - remaining
  for (const other of tenant.buckets) {
    if (other === bucket || other.limit !== bucket.limit) continue
    const theirs = countBetween(other.operations, last.endedAt, sentAt)
    if (theirs < 2) continue
    if (missing <= 0 || missing + mostRefilled(bucket, endedAt, endedAt - last.sentAt) < theirs) {
      bucket.similarity.delete(other)
      continue
    }
    const known = bucket.similarity.get(other)
    if (known?.endedAt === endedAt) continue // counted already: a fleet settles a call again after a conflict in its store
    const times = (known?.times ?? 0) + 1
    bucket.similarity.set(other, { times, endedAt })
    if (times >= proof && (other.similarity.get(bucket)?.times ?? 0) >= proof) return join(bucket, other, tenant)
  }
}
