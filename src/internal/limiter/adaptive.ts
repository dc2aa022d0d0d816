/** The strategy that learns limits from responses, one tenant at a time. */
import { getOrInsert } from "../runtime/memoize.js"
import {
  type AdaptiveGrant,
  type CeilingCounter,
  type OperationState,
  type SharedBucket,
  TenantState
} from "./adaptiveState.js"
import { place } from "./bucketInference.js"
import type { BucketReading } from "./bucketReading.js"
import { Pace } from "./estimator/pace.js"
import { none } from "./known/options.js"
import { type CountAhead, idleTime, type LimitStrategy } from "./strategy.js"

/**
 * The first call of an operation waits no longer than this for buckets that may not be its own, in milliseconds. Of several such calls
 * one starts in this time.
 */
const longestDoubt = 2000

export interface AdaptiveStrategy extends LimitStrategy<OperationState, AdaptiveGrant> {
  readonly tenantOf: (name: string) => TenantState
}

export const make = (limits = none): AdaptiveStrategy => {
  const tenants = new Map<string, TenantState>()
  const tenantOf = (name: string) => getOrInsert(tenants, name, () => new TenantState(name, limits))

  const ceilingWait = (
    state: OperationState,
    now: number,
    share: number,
    ahead: CountAhead<OperationState>
  ): number => {
    let longest = 0
    for (const ceiling of state.ceilings) {
      const before = ahead((other) => other.ceilings.includes(ceiling))
      longest = Math.max(longest, ceiling.wait(now, share, before))
    }
    return longest
  }

  const wait = (state: OperationState, now: number, share: number, ahead: number, waited: number): number => {
    let longest = Math.max(
      bucketWait(state, now, share, ahead, waited),
      state.tenant.pace?.wait(now, share, ahead) ?? 0
    )
    for (const ceiling of state.ceilings) {
      // The calls ahead are those of a bucket: some may not count for this ceiling.
      const before = ceiling.countsAll ? ahead : 0
      longest = Math.max(longest, ceiling.wait(now, share, before))
    }
    return longest
  }

  return {
    tenantOf,
    stateOf: ({ operation, tenant }) => tenantOf(tenant).operation(operation),
    states: () => Array.from(tenants.values()).flatMap(({ operations }) => Array.from(operations.values())),
    bucketOf: ({ bucket }) => bucket,
    statusOf: ({ bucket }, now) => bucket?.estimator.status(now),
    isPaused: (state, now) => bucketsOf(state).some(({ estimator }) => estimator.isPaused(now)),
    isPaced: ({ tenant }, now) => tenant.pace !== undefined && tenant.pace.wait(now, 0, 0) > 0,
    ceilingWait: (state, now, share, ahead = () => 0) => ceilingWait(state, now, share, ahead),
    sharesCeilings: false,
    waitApart: (other, state, now, ahead) => {
      const shared = limitsOf(state)
      const own = limitsOf(other).filter((limit) => !shared.includes(limit))
      return Math.max(0, ...own.map((limit) => limit.wait(now, 0, ahead)))
    },
    waitAfter: (state, other, now, share, ahead) => {
      // The bucket of the other may be none of these, so it gives way to nobody who waits for them.
      const others = isNew(other) ? other.ceilings : limitsOf(other)
      const shared = limitsOf(state).filter((limit) => others.some((one) => one === limit))
      return Math.max(0, ...shared.map((limit) => limit.wait(now, share, ahead, 1)))
    },
    isFirst: (state) => isNew(state) && state.startedAt === -Infinity && state.tenant.buckets.size > 0,
    wait,
    start: (state, now, waited) => {
      state.inFlight++
      state.startedAt = state.tenant.startedAt = now
      const { doubtfulAt } = state.tenant
      if (isNew(state)) state.tenant.doubtfulAt = now
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
      for (const [from, reservation] of reservations) {
        if (from === bucket || bucket === undefined) from.estimator.settle(reservation, reading, now, isPaced)
        else from.estimator.giveBack(now) // the call drew on another bucket
      }
      if (bucket !== undefined && reservations.every(([from]) => from !== bucket)) {
        bucket.estimator.settle(bucket.estimator.start(now, false, sentAt), reading, now, isPaced)
      }
    },
    forgetIdle: (now, isNeeded) => {
      const isBusy = (state: OperationState) => state.inFlight > 0 || wait(state, now, 0, 0, 0) > 0 || isNeeded(state)
      for (const { ceilings, name, operations, startedAt } of tenants.values()) {
        if (now - startedAt < idleTime || Array.from(operations.values()).some(isBusy)) continue
        if (ceilings.every((ceiling) => ceiling.isIdle(now))) tenants.delete(name)
      }
    }
  }
}

/** The buckets that must allow a call: its own or, until that is known, every bucket that may be its own. */
const bucketsOf = ({ bucket, isSilent, tenant }: OperationState): ReadonlyArray<SharedBucket> => {
  if (bucket !== undefined) return [bucket]
  return isSilent || tenant.buckets.size === 0 ? [tenant.unknown] : Array.from(tenant.buckets)
}

/** All limits that must allow a call. */
const limitsOf = (state: OperationState): ReadonlyArray<CeilingCounter | Pace | SharedBucket> => [
  ...state.ceilings,
  ...(state.tenant.pace === undefined ? [] : [state.tenant.pace]),
  ...bucketsOf(state)
]

/** Checks that nothing is known about an operation. */
const isNew = ({ bucket, isSilent }: OperationState): boolean => bucket === undefined && !isSilent

/** The milliseconds until every bucket that a call may draw on allows it. */
const bucketWait = (state: OperationState, now: number, share: number, ahead: number, waited: number): number => {
  const { tenant } = state
  if (isNew(state) && state.inFlight > 0 && tenant.buckets.size > 0) return Infinity
  let longest = 0
  for (const bucket of bucketsOf(state)) longest = Math.max(longest, bucket.wait(now, share, ahead))
  if (!isNew(state) || state.inFlight > 0) return longest
  const sinceLast = now < tenant.doubtfulAt ? Infinity : now - tenant.doubtfulAt // the clock may have been set back
  const left = longestDoubt - Math.min(waited, sinceLast)
  return Math.min(longest, Math.max(left, tenant.unknown.estimator.pausedFor(now)))
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
