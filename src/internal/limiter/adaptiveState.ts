/** The state of the adaptive strategy: the operations and buckets of a tenant, and the same as plain data. */
import { getOrInsert } from "../runtime/memoize.js"
import { Estimator } from "./estimator/estimator.js"
import type { Pace } from "./estimator/pace.js"
import type { EstimatorState, Reservation } from "./estimator/state.js"
import { CeilingCounter, type CeilingSnapshot } from "./known/ceiling.js"
import { none, type ResolvedLimits } from "./known/options.js"
import type { Call, WaitReason } from "./limiter.js"
import type { Limit } from "./strategy.js"

export type { CeilingCounter }

type Prior = ResolvedLimits["priors"][number]

/** The calls of one operation. */
export class OperationState {
  readonly call: Call
  readonly tenant: TenantState
  /** The ceilings that count its calls. */
  readonly ceilings: ReadonlyArray<CeilingCounter>
  inFlight = 0
  /** The start of its last call. */
  startedAt = -Infinity
  /** Unknown until a response has rate-limit headers. */
  bucket: SharedBucket | undefined = undefined
  /** True if its last response had no rate-limit headers; matters while its bucket is unknown. */
  isSilent = false
  /** Its last responses, the newest last. */
  observations: Array<Observation> = []
  /** The times in a row that a response showed more calls left than can be left in its bucket. */
  contradictions = 0

  constructor(call: Call, tenant: TenantState) {
    this.call = call
    this.tenant = tenant
    this.ceilings = tenant.ceilings.filter((ceiling) => ceiling.counts(call.operation))
  }

  /** True if nothing is known about it. */
  get isNew(): boolean {
    return this.bucket === undefined && !this.isSilent
  }

  /** True if its next call goes before all others, because the response will show its bucket. */
  get isFirst(): boolean {
    return this.isNew && this.startedAt === -Infinity && this.tenant.buckets.size > 0
  }
}

/** A bucket that several operations may share. */
export class SharedBucket implements Limit {
  /** No other bucket of its tenant has or had this id. */
  readonly id: string
  limit: number
  readonly estimator = new Estimator()
  readonly operations = new Set<OperationState>()
  /** By another bucket: the number of times that its calls seemed to draw on this one, and the end of the last call that showed it. */
  readonly similarity = new WeakMap<SharedBucket, { readonly times: number; readonly endedAt: number }>()

  private readonly maxPause: number

  constructor(id: string, limit: number, maxPause: number) {
    this.id = id
    this.limit = limit
    this.maxPause = maxPause
  }

  wait(now: number, share: number, ahead: number): number {
    const wait = this.estimator.wait(now, share, ahead)
    return ahead > 0 || wait === 0 ? wait : Math.min(wait, this.estimator.untilTest(now, this.maxPause))
  }

  reason(now: number, millis: number): WaitReason {
    if (this.estimator.isPaused(now)) return "pause"
    return millis === Infinity ? "inFlight" : "limit"
  }

  /** Checks that a call that starts now does so only to test what the responses said. */
  isTested(now: number): boolean {
    return this.estimator.wait(now, 0, 0) > 0 && this.estimator.untilTest(now, this.maxPause) === 0
  }
}

export class TenantState {
  readonly name: string
  /** Its operations by their names. */
  readonly operations = new Map<string, OperationState>()
  /** Stands for the buckets of operations about which nothing is known. */
  readonly unknown: SharedBucket
  readonly buckets = new Set<SharedBucket>()
  readonly ceilings: ReadonlyArray<CeilingCounter>
  /** Set after a 429 that says nothing, until its limit is forgotten; no part of the snapshot: each process of a fleet paces itself. */
  pace: Pace | undefined = undefined
  private readonly priors: ReadonlyArray<Prior>
  private readonly maxPause: number
  /** The number of buckets made so far. */
  bucketCount = 0
  /** The start of its last call. */
  startedAt = -Infinity
  /** The start of the last call about whose operation nothing was known; no part of the snapshot. */
  doubtfulAt = -Infinity

  constructor(name: string, { ceilings, maxPause, priors }: ResolvedLimits = none) {
    this.name = name
    this.maxPause = maxPause
    this.unknown = this.makeBucket("?", 0)
    this.ceilings = ceilings.map((options) => new CeilingCounter(options))
    this.priors = priors
    for (const prior of priors) {
      const bucket = this.makeBucket(priorId(prior), prior.burst)
      bucket.estimator.assume(prior.burst, rateOf(prior))
      this.buckets.add(bucket)
    }
  }

  makeBucket(id: string, limit: number): SharedBucket {
    return new SharedBucket(id, limit, this.maxPause)
  }

  operation(name: string): OperationState {
    return getOrInsert(
      this.operations,
      name,
      () => {
        const state = new OperationState({ tenant: this.name, operation: name }, this)
        state.bucket = this.priorOf(name)
        state.bucket?.operations.add(state)
        return state
      }
    )
  }

  /** The bucket that is known beforehand for an operation. */
  priorOf(name: string): SharedBucket | undefined {
    const prior = this.priors.find(({ operations }) => operations?.includes(name)) ??
      this.priors.find(({ operations }) => operations === undefined)
    return prior && Array.from(this.buckets).find(({ id }) => id === priorId(prior))
  }

  /** The prior whose bucket has an id. */
  priorWith(id: string): Prior | undefined {
    return this.priors.find((prior) => priorId(prior) === id)
  }
}

/** The id of a prior's bucket: what it is for, since the processes of a fleet may have other priors, or in another order. */
const priorId = ({ operations }: Prior): string =>
  `prior ${operations === undefined ? "*" : [...operations].sort().join()}`

const rateOf = ({ interval, limit }: Prior): number => limit / interval

/** A call that has ended, and what its response said. Times are milliseconds by the clock of the strategy. */
export interface Observation {
  readonly sentAt: number
  readonly endedAt: number
  readonly remaining: number
  /** The earliest time at which the bucket may be full again. */
  readonly fullAt: number
}

/** A call in flight, and its reservations: one in each bucket that it may draw on. */
export interface AdaptiveGrant {
  readonly state: OperationState
  readonly sentAt: number
  /** The time of the last doubtful start before this one. */
  readonly doubtfulBefore: number
  readonly reservations: ReadonlyArray<readonly [bucket: SharedBucket, reservation: Reservation]>
  /** Its number in each ceiling that counts it. */
  readonly counted: ReadonlyArray<readonly [ceiling: CeilingCounter, nth: number]>
}

/** The number of calls in flight, by operation and by the id of the bucket that they draw on. */
export interface InFlight {
  readonly operations: ReadonlyMap<string, number>
  readonly buckets: ReadonlyMap<string, number>
}

/** The ids of the buckets that a call draws on. */
export const bucketIdsOf = ({ reservations, state: { tenant } }: AdaptiveGrant): ReadonlyArray<string> =>
  reservations.flatMap(([bucket]) => bucket === tenant.unknown || tenant.buckets.has(bucket) ? [bucket.id] : [])

const exportBucket = ({ estimator, id, limit }: SharedBucket) => ({ id, limit, estimator: estimator.state })

const exportOperation = ({ bucket, contradictions, isSilent, observations, startedAt }: OperationState) => {
  const copied: ReadonlyArray<Observation> = [...observations]
  return { startedAt, bucket: bucket?.id, isSilent, observations: copied, contradictions }
}

/** The state of a tenant as plain data. */
export interface TenantSnapshot {
  readonly bucketCount: number
  readonly startedAt: number
  readonly unknown: EstimatorState
  readonly buckets: ReadonlyArray<ReturnType<typeof exportBucket>>
  /** By the name of the operation. */
  readonly operations: Readonly<Record<string, ReturnType<typeof exportOperation>>>
  /** By the key of the ceiling. */
  readonly ceilings: Readonly<Record<string, CeilingSnapshot>>
}

export const exportTenant = (
  { bucketCount, buckets, ceilings, operations, startedAt, unknown }: TenantState
): TenantSnapshot => ({
  bucketCount,
  startedAt,
  unknown: unknown.estimator.state,
  buckets: Array.from(buckets, exportBucket),
  operations: Object.fromEntries(Array.from(operations, ([name, state]) => [name, exportOperation(state)])),
  ceilings: Object.fromEntries(ceilings.map(({ key, snapshot }) => [key, snapshot]))
})

/** Replaces all that is known of a tenant; `inFlight` are its calls now. The objects of its operations, and of buckets that remain, stay the same. */
export const importTenant = (tenant: TenantState, snapshot: TenantSnapshot, inFlight: InFlight): void => {
  const before = new Map(Array.from(tenant.buckets, (bucket) => [bucket.id, bucket]))
  const buckets = new Map<string, SharedBucket>()
  // Every object has a `constructor`, and an operation may have that name, too.
  const operations = new Map(Object.entries(snapshot.operations))
  tenant.bucketCount = snapshot.bucketCount
  tenant.startedAt = snapshot.startedAt
  tenant.unknown.estimator.restore(snapshot.unknown, inFlight.buckets.get(tenant.unknown.id) ?? 0)
  tenant.buckets.clear()
  for (const { estimator, id, limit: storedLimit } of snapshot.buckets) {
    const prior = estimator.isPrior ? tenant.priorWith(id) : undefined
    const limit = prior?.burst ?? storedLimit
    const known = before.get(id)
    const bucket = known?.limit === limit ? known : tenant.makeBucket(id, limit)
    bucket.estimator.restore(estimator, inFlight.buckets.get(id) ?? 0)
    if (prior !== undefined) bucket.estimator.replacePrior(limit, rateOf(prior))
    bucket.operations.clear()
    tenant.buckets.add(bucket)
    buckets.set(id, bucket)
  }
  for (const ceiling of tenant.ceilings) {
    const stored = snapshot.ceilings[ceiling.key]
    if (stored !== undefined) ceiling.restore(stored)
  }
  for (const name of operations.keys()) tenant.operation(name)
  for (const [name, state] of tenant.operations) {
    const { bucket, ...stored } = operations.get(name) ??
      { ...exportOperation(new OperationState(state.call, tenant)), bucket: tenant.priorOf(name)?.id }
    Object.assign(state, stored, { observations: [...stored.observations] })
    state.inFlight = inFlight.operations.get(name) ?? 0
    state.bucket = bucket === undefined ? undefined : buckets.get(bucket)
    state.bucket?.operations.add(state)
  }
}
