/** The strategy that learns limits from responses, one tenant at a time. */
import { getOrInsert } from "../runtime/memoize.js"
import { type AdaptiveGrant, type OperationState, type SharedBucket, TenantState } from "./adaptiveState.js"
import { place } from "./bucketInference.js"
import type { BucketReading } from "./bucketReading.js"
import { Pace } from "./estimator/pace.js"
import { none as noLimits } from "./known/options.js"
import {
  type Ahead,
  idleTime,
  type Limit,
  type LimitStrategy,
  longestOf,
  none,
  type Wait,
  type Waiter
} from "./strategy.js"

/**
 * The first call of an operation waits no longer than this for buckets that may not be its own, in milliseconds. Of several such calls
 * one starts in this time.
 */
const longestDoubt = 2000

export interface AdaptiveStrategy extends LimitStrategy<OperationState, AdaptiveGrant> {
  readonly tenantOf: (name: string) => TenantState
}

export const make = (limits = noLimits): AdaptiveStrategy => {
  const tenants = new Map<string, TenantState>()
  const tenantOf = (name: string) => getOrInsert(tenants, name, () => new TenantState(name, limits))

  const wait: AdaptiveStrategy["wait"] = (one, now, ahead) => {
    const longest = longestOf(limitsOf(one.state), one, now, ahead)
    if (!one.state.isNew) return longest
    const doubt = doubtOf(one, now, ahead)
    return doubt.millis > longest.millis ? doubt : longest
  }

  return {
    tenantOf,
    stateOf: ({ operation, tenant }) => tenantOf(tenant).operation(operation),
    states: () => Array.from(tenants.values()).flatMap(({ operations }) => Array.from(operations.values())),
    limitsOf,
    wait,
    statusOf: ({ bucket }, now) => bucket?.estimator.status(now),
    start: (state, now, waited) => {
      state.inFlight++
      state.startedAt = state.tenant.startedAt = now
      const { doubtfulAt } = state.tenant
      if (state.isNew) state.tenant.doubtfulAt = now
      state.tenant.pace?.start(now)
      return {
        state,
        doubtfulBefore: doubtfulAt,
        sentAt: now,
        reservations: bucketsOf(state).map((bucket) => [
          bucket,
          bucket.estimator.start(now, waited, now, bucket.isTested(now))
        ]),
        counted: state.ceilings.map((ceiling) => [ceiling, ceiling.start(now)])
      }
    },
    giveBack: ({ counted, doubtfulBefore, reservations, sentAt, state }, now) => {
      state.inFlight--
      if (state.tenant.doubtfulAt === sentAt) state.tenant.doubtfulAt = doubtfulBefore
      state.tenant.pace?.giveBack()
      for (const [ceiling, nth] of counted) ceiling.giveBack(nth)
      for (const [{ estimator }] of reservations) estimator.giveBack(now)
    },
    settle: ({ reservations, sentAt, state }, reading, now) => {
      state.inFlight--
      const hasTested = reading?.isRateLimited === false && reading.limit !== undefined &&
        reservations.some(([bucket, { isTest }]) => isTest && bucket === state.bucket)
      if (hasTested) { for (const operation of state.bucket?.operations ?? []) operation.observations = [] }
      const bucket = reading === undefined ? undefined : place(state, sentAt, reading, now)
      const isPaced = reading !== undefined && bucket !== undefined && pace(bucket, state.tenant, reading, sentAt, now)
      let unsettled = bucket
      for (const [from, reservation] of reservations) {
        if (from === bucket) unsettled = undefined
        if (from === bucket || bucket === undefined) from.estimator.settle(reservation, reading, now, isPaced)
        else from.estimator.giveBack(now) // the call drew on another bucket
      }
      unsettled?.estimator.settle(unsettled.estimator.start(now, false, sentAt), reading, now, isPaced)
    },
    forgetIdle: (now, isWaiting) => {
      const isBusy = (state: OperationState) =>
        state.inFlight > 0 || longestOf([...limitsOf(state), ...bucketsOf(state)], { share: 0 }, now, none).millis > 0
      for (const { ceilings, name, operations, startedAt } of tenants.values()) {
        if (now - startedAt < idleTime || isWaiting(name) || Array.from(operations.values()).some(isBusy)) continue
        if (ceilings.every((ceiling) => ceiling.isIdle(now))) tenants.delete(name)
      }
    }
  }
}

/** The buckets that a call may draw on: its own or, until that is known, every bucket that may be its own. */
const bucketsOf = ({ bucket, isSilent, tenant }: OperationState): ReadonlyArray<SharedBucket> => {
  if (bucket !== undefined) return [bucket]
  return isSilent || tenant.buckets.size === 0 ? [tenant.unknown] : Array.from(tenant.buckets)
}

/** The limits that hold for an operation for certain. */
const limitsOf = (state: OperationState): ReadonlyArray<Limit> => {
  const { ceilings, tenant: { pace } } = state
  return [...ceilings, ...(pace === undefined ? [] : [pace]), ...(state.isNew ? [] : bucketsOf(state))]
}

/** The wait of an operation's first call: until every bucket that may be its own allows it, but not for longer than `longestDoubt`. */
const doubtOf = ({ share, since, state }: Waiter<OperationState>, now: number, ahead: Ahead): Wait => {
  const { inFlight, tenant } = state
  if (inFlight > 0 && tenant.buckets.size > 0) return { millis: Infinity, reason: "inFlight" }
  const longest = longestOf(bucketsOf(state), { share }, now, ahead)
  const left = longestDoubt - Math.min(now - since, Math.abs(now - tenant.doubtfulAt)) // the clock may have been set back
  const most = Math.max(0, left, tenant.unknown.estimator.pausedFor(now)) // a pause without headers is for all operations
  return inFlight > 0 || longest.millis < most ? longest : { ...longest, millis: most }
}

/**
 * Lets the tenant's pace learn from a response. Returns true for a 429 that says nothing, neither about a limit nor when to come back, and
 * that its bucket does not explain.
 */
const pace = (
  { estimator }: SharedBucket,
  tenant: TenantState,
  reading: BucketReading,
  sentAt: number,
  now: number
): boolean => {
  const { isRateLimited, isServed, limit, pause = 0 } = reading
  const isBare = isRateLimited && limit === undefined && pause === 0 && !estimator.isPrior
  const isPaced = isBare && (tenant.pace !== undefined || !estimator.mayRefuse)
  if (isPaced) tenant.pace ??= new Pace(now)
  if (isPaced || (!isRateLimited && isServed)) tenant.pace?.settle(reading, isPaced, Math.min(sentAt, now), now)
  if (tenant.pace?.isOver === true) tenant.pace = undefined
  return isPaced
}
