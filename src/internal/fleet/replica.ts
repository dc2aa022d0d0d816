/** One process's copy of what its fleet knows of a tenant, with the calls of this process. Times are milliseconds on the store's clock. */
import type * as Effect from "effect/Effect"
import type * as SharedStore from "../../SharedStore.js"
import * as Adaptive from "../limiter/adaptive.js"
import {
  type AdaptiveGrant,
  type CeilingCounter,
  exportTenant,
  importTenant,
  type OperationState,
  type TenantSnapshot
} from "../limiter/adaptiveState.js"
import type { BucketReading } from "../limiter/bucketReading.js"
import type { ResolvedLimits } from "../limiter/known/options.js"
import type { CallQueue } from "../limiter/queue.js"
import { type Ahead, reserved, type Wait, type Waiter } from "../limiter/strategy.js"
import { grant } from "./fairShare.js"
import * as Membership from "./membership.js"
import { countInFlight, goneAfter, type Member, type Members, present } from "./membership.js"
import type { FleetSnapshot, Format } from "./snapshotFormat.js"
import { requestMillis } from "./storeTimeout.js"

/** A call that was granted. */
export interface FleetGrant {
  readonly own: AdaptiveGrant
  /** While the store is unavailable: the calls that the other members are assumed to start at the same time. */
  readonly others: ReadonlyArray<AdaptiveGrant>
  /** The time of the grant by the queue's clock. */
  readonly at: number
  /** Set if the counts have begun anew: the response of this call says nothing about them. */
  isOutdated: boolean
}

/** A call that has ended, as the other members do not know yet. */
interface EndedCall {
  readonly grant: FleetGrant
  /** `undefined`: there was no response. */
  readonly reading: BucketReading | undefined
  readonly wasSent: boolean
}

/** The changes that a process wants to make known, and the knowledge of the limits `before` them. */
export type Update = ReturnType<Replica["update"]>

/** If the store's clock is behind an earlier time by more than this, it was set back. */
const maxLag = 1000

/** A grant that is older than this, in milliseconds, is given back: its call would start long after the others have counted it. */
const maxAge = 1000

/** A process's part in a fleet, which all its tenants have in common. */
export interface Host {
  /** The id of this process. */
  readonly id: string
  readonly store: SharedStore.SharedStore["Type"]
  readonly format: Format
  /** The share of a limit that background calls leave to others. */
  readonly reserve: number
  readonly limits: ResolvedLimits
  /** The waiting calls; set when the fleet begins to serve them. */
  queue: CallQueue<OperationState> | undefined
  /** Set when the process has left. Its calls may still end. */
  isClosed: boolean
  /** The time by the store's clock, whether a response has told it, and what sets it by a response after `millis`. */
  readonly storeTime: () => number
  hasStoreTime: boolean
  readonly setStoreTime: (now: number, millis: number) => void
  readonly fork: (effect: Effect.Effect<void>) => void
}

export class Replica {
  readonly strategy: Adaptive.AdaptiveStrategy
  private readonly host: Host
  private readonly tenant: string
  /** The time by the queue's clock. */
  private readonly queueTime: () => number
  private members: Members = new Map()
  /** The time of the last write that it knows. */
  writtenAt = -Infinity
  /** The time that `now` returned last. */
  private latest = -Infinity
  /** The time since which it may have made calls that the store does not count. */
  private aloneSince = Infinity
  /** The members that were present when it went alone, and the time at which it rejoined them. */
  private aloneWith = 0
  private rejoinedAt = -Infinity
  /** The calls below each ceiling when it began to go alone. */
  private ceilingsBefore: TenantSnapshot["ceilings"] = {}
  /** The time since which calls of this process wait, as the others know; `Infinity` if none does. */
  private waitingSince = Infinity
  /** The calls in flight, as the others know; a call that has ended is one of them until that is reported. */
  private readonly inFlight = new Set<FleetGrant>()
  private ended: Array<EndedCall> = []
  /** Granted calls that have not started. */
  private readonly granted = new Map<OperationState, Array<FleetGrant>>()
  /** Grants that the others do not know yet. */
  private uncommitted: ReadonlyArray<FleetGrant> = []
  /** The times by the queue's clock at which operations were last throttled by their limit. */
  private readonly throttledAt = new Map<OperationState, number>()
  /** The times by the queue's clock at which operations, and their background work, last got a permit. */
  private readonly grantedAt = new Map<string, number>()

  constructor(host: Host, tenant: string, queueTime: () => number) {
    this.host = host
    this.strategy = Adaptive.make(host.limits)
    this.tenant = tenant
    this.queueTime = queueTime
  }

  /** The store's time, but not before the last write or the time returned last: slow responses would set it back again and again. */
  now(): number {
    const now = this.host.storeTime()
    const before = [this.writtenAt, this.latest].filter((time) => time - now < maxLag)
    return this.latest = Math.max(now, ...before)
  }

  get hasEnded(): boolean {
    return this.ended.length > 0
  }

  get hasInFlight(): boolean {
    return this.inFlight.size > 0
  }

  /** Checks that a call may start with a grant, and gives back those that are too old: the process was frozen meanwhile. */
  hasGrant(state: OperationState): boolean {
    const granted = this.granted.get(state) ?? []
    const shortest = Math.min(maxAge, ...state.ceilings.map(({ interval }) => interval))
    // A grant is that old already if the store's response was slow.
    const oldest = this.queueTime() - Math.max(shortest, requestMillis(this.host.store.timeout))
    for (let [first] = granted; first !== undefined && first.at < oldest; [first] = granted) {
      this.end(first, undefined, false)
      granted.shift()
    }
    return granted.length > 0
  }

  /** The wait by the store's clock of a call that came by the queue's. */
  private waitOf(one: Waiter<OperationState>, now: number, ahead: Ahead): Wait {
    return this.strategy.wait({ ...one, since: now - (this.queueTime() - one.since) }, now, ahead)
  }

  /** Estimates the wait until a call may be granted; a call of each member that has waited longer goes first. */
  wait(one: Waiter<OperationState>, ahead: Ahead): Wait {
    const now = this.now()
    const before = Membership.countBefore(this.members, now, this.waitingSince)
    return this.waitOf(one, now, (limit) => ahead(limit) + before)
  }

  /** The same while the store is unavailable, if each other member makes a call at the same time. */
  waitAlone(one: Waiter<OperationState>, ahead: Ahead): Wait {
    const now = this.now()
    const { share, state } = one
    // Otherwise a bucket or a ceiling smaller than the fleet, less what the call leaves of it, would never allow a call.
    const smallest = Math.min(...state.ceilings.map(({ limit }) => limit - 1 - reserved(share, limit)))
    const most = Math.max(0, Math.min((this.strategy.statusOf(state, now)?.limit ?? 0) - 2, smallest))
    // After the longest pause the call may test whether responses have lied, whatever the others do.
    const others = state.bucket?.isTested(now) === true ? 0 : Math.min(present(this.members, now).size, most)
    const ceilings = new Set<object>(state.ceilings)
    const below = Math.min(this.aloneWith, smallest)
    return this.waitOf(one, now, (limit) => ahead(limit) + (ceilings.has(limit) ? below : others))
  }

  /** Starts a granted call, or one without the store. */
  start(state: OperationState, waited: boolean): FleetGrant {
    const first = this.granted.get(state)?.shift()
    if (first !== undefined) return first
    const now = this.now()
    const others = state.bucket === undefined ? 0 : present(this.members, now).size
    // A ceiling counts all members, however long ago they were seen: without the store they cannot show that they are present.
    for (const ceiling of state.ceilings) ceiling.start(now, Math.max(0, this.aloneWith - others))
    const started: FleetGrant = {
      // With other members a response proves nothing about the rate: they may have used fewer calls than assumed.
      own: this.strategy.start(state, now, waited && others === 0),
      others: Array.from({ length: others }, () => this.strategy.start(state, now, false)),
      at: this.queueTime(),
      isOutdated: false
    }
    this.inFlight.add(started)
    return started
  }

  /** Ends a call; the next update reports it. */
  end(grant: FleetGrant, reading: BucketReading | undefined, wasSent: boolean): void {
    this.ended.push({ grant, reading, wasSent })
  }

  /** Returns the grants of calls that do not wait any more. */
  returnGrants(): void {
    for (const grant of Array.from(this.granted.values()).flat()) this.end(grant, undefined, false)
    this.granted.clear()
  }

  forgetIdle(isWaiting: (tenant: string) => boolean): boolean {
    this.forgetGone(this.now())
    this.strategy.forgetIdle(this.now(), isWaiting)
    return Array.from(this.strategy.states()).length === 0
  }

  /** Settles the ended calls here alone, without reporting them. */
  settleAlone(): void {
    const now = this.now()
    for (const call of this.ended) {
      this.settle(call, now)
      this.inFlight.delete(call.grant)
    }
    this.ended = []
  }

  /** Goes on without the store: what others have counted below a ceiling since the last visit is unknown. */
  goAlone(): void {
    const now = this.now()
    this.aloneSince = Math.min(this.aloneSince, now)
    // Soon after an outage not all have been seen again.
    const before = now < this.rejoinedAt + goneAfter ? this.aloneWith : 0
    this.aloneWith = Math.max(before, present(this.members, now).size)
    this.ceilingsBefore = this.export().ceilings
    this.exhaustCeilings(() => true)
  }

  /** Assumes that the others have used up the ceilings that are selected. */
  exhaustCeilings(isOne: (ceiling: CeilingCounter) => boolean): void {
    const now = this.now()
    for (const ceiling of this.strategy.tenantOf(this.tenant).ceilings) if (isOne(ceiling)) ceiling.exhaust(now)
  }

  private settle({ grant: { isOutdated, others, own }, reading, wasSent }: EndedCall, now: number): void {
    if (!isOutdated) { for (const other of others) this.strategy.settle(other, undefined, now) }
    // A test is there to replace what is known, also what has become known since.
    const learns = !isOutdated || own.reservations.some(([, { isTest }]) => isTest)
    if (wasSent) this.strategy.settle(own, learns ? reading : undefined, now)
    // An outdated call is not among those that the store counts.
    else this.strategy.giveBack(isOutdated ? { ...own, counted: [] } : own, now)
  }

  /** Forgets members that are gone: their calls are no longer in flight. */
  private forgetGone(now: number): void {
    const members = present(this.members, now)
    if (members.size === this.members.size) return
    this.members = members
    this.restore(this.export())
  }

  /** Makes the next update. It grants calls of the queue; without one it says that this process leaves. */
  update(queue: CallQueue<OperationState> | undefined) {
    const now = this.now()
    this.forgetGone(now)
    const before = this.export()
    for (const call of this.ended) this.settle(call, now)
    const { blocked, grants, served, throttled } = this.grant(queue, now)
    const waiting = (queue?.queueOf(this.tenant)?.size ?? 0) - grants.length
    const ended = new Set(this.ended.map(({ grant }) => grant))
    const inFlight = [...this.inFlight, ...grants].flatMap((grant) => ended.has(grant) ? [] : [grant.own])
    const own: Member = {
      seenAt: now,
      waiting,
      waitingSince: waiting === 0 || grants.length > 0 ? now : Math.min(this.waitingSince, now),
      blocked,
      inFlight: countInFlight(inFlight)
    }
    const written = Object.fromEntries(queue === undefined ? this.members : [...this.members, [this.host.id, own]])
    const snapshot = { writtenAt: now, members: written, limits: this.export() }
    return { snapshot, before, own, reported: this.ended.length, grants, served, throttled }
  }

  private grant(queue: CallQueue<OperationState> | undefined, now: number) {
    const at = this.queueTime()
    const rivals = Membership.rivals(this.members, now)
    const { blocked, grants, served, throttled } = grant({
      strategy: { ...this.strategy, wait: (one, _, ahead) => this.waitOf(one, now, ahead) },
      queues: Array.from(queue?.queueOf(this.tenant)?.lists.values() ?? []).flat(),
      rivals: rivals.length,
      blocked: Membership.blockedCalls(rivals).map(({ isBackground, operation, since }) => ({
        state: this.strategy.stateOf({ tenant: this.tenant, operation }),
        since: at - (now - since),
        isBackground,
        share: isBackground ? this.host.reserve : 0
      })),
      now,
      queueNow: at,
      throttledAt: this.throttledAt,
      grantedAt: this.grantedAt
    })
    this.uncommitted = grants.map((own) => ({ own, others: [], at, isOutdated: false }))
    return {
      grants: this.uncommitted,
      served,
      throttled,
      blocked: blocked.map(({ isBackground, since, state: { call: { operation } } }) => (
        { operation, since: now - (at - since), isBackground }
      ))
    }
  }

  /** Takes over an update that the others know by now. */
  commit({ grants, own, reported, served, snapshot, throttled }: Update): void {
    for (const { grant } of this.ended.splice(0, reported)) this.inFlight.delete(grant)
    for (const grant of grants) {
      this.inFlight.add(grant)
      this.granted.set(grant.own.state, [...this.granted.get(grant.own.state) ?? [], grant])
    }
    for (const [turn, at] of served) this.grantedAt.set(turn, at)
    for (const state of throttled) this.throttledAt.set(state, this.queueTime())
    this.uncommitted = []
    this.writtenAt = snapshot.writtenAt
    this.aloneSince = Infinity
    this.waitingSince = own.waiting > 0 ? own.waitingSince : Infinity
  }

  /** Takes over what another process has written. */
  load({ limits, members, writtenAt }: FleetSnapshot): void {
    this.writtenAt = writtenAt
    // A member whose clock runs ahead may write a future time. Uncapped, it would count as present for longer after it has gone.
    const now = this.host.storeTime()
    const others = Object.entries(members).filter(([id]) => id !== this.host.id)
    this.members = new Map(others.map(([id, one]) => [id, { ...one, seenAt: Math.min(one.seenAt, now) }]))
    this.restore(limits)
  }

  export(): TenantSnapshot {
    return exportTenant(this.strategy.tenantOf(this.tenant))
  }

  /** Replaces the knowledge of the limits, and drops grants that were not committed. */
  restore(limits: TenantSnapshot): void {
    for (const { own } of this.uncommitted) this.strategy.giveBack(own, this.now())
    this.uncommitted = []
    const own = countInFlight(Array.from(this.inFlight, ({ own }) => own))
    const others = Array.from(this.members.values(), ({ inFlight }) => inFlight)
    importTenant(this.strategy.tenantOf(this.tenant), limits, Membership.totalInFlight([own, ...others]))
  }

  /**
   * Begins the counts anew after the store was unavailable: with what others have written meanwhile, but no more calls than are
   * left here. `isUnchanged`: nobody has written, and the store has lost nothing. A process makes no call alone for an interval:
   * after a shorter time the store knows all calls below a ceiling, but for those of members that lost it before.
   */
  rejoin(snapshot: FleetSnapshot | undefined, isUnchanged: boolean): void {
    const { strategy, tenant } = this
    const { buckets } = strategy.tenantOf(tenant)
    const now = this.rejoinedAt = this.now()
    const left = new Map(Array.from(buckets, ({ estimator, id }) => [id, estimator.status(now)?.remaining ?? 0]))
    for (const grant of this.inFlight) grant.isOutdated = true
    if (snapshot !== undefined) this.load(snapshot)
    else this.restore({ ...this.export(), ...(isUnchanged && { ceilings: this.ceilingsBefore }) })
    const isKnown = snapshot !== undefined || isUnchanged
    this.exhaustCeilings(({ interval }) => !isKnown || this.aloneSince + interval <= this.now())
    for (const { estimator, id } of buckets) estimator.cap(left.get(id) ?? Infinity, this.now())
  }
}
