/**
 * Keeps a process's copy of one tenant's limits in step with the shared store: it reads the value, adds the calls of this
 * process, and writes it back unless another process has written since; then it begins again with that. While the store is
 * unavailable or its value unreadable, the process goes on alone, and rejoins the others later.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as SharedStore from "../../SharedStore.js"
import type { OperationState } from "../limiter/adaptiveState.js"
import type { BucketReading } from "../limiter/bucketReading.js"
import type { Ahead, Wait, Waiter } from "../limiter/strategy.js"
import type { Timer, Timers } from "../runtime/timer.js"
import { pauseAfter } from "./contention.js"
import { type FleetGrant, type Host, Replica, type Update } from "./replica.js"
import type { FleetSnapshot } from "./snapshotFormat.js"
import { reader } from "./versionedJson.js"

/** All in milliseconds. */
const timing = {
  /** A process with calls in flight writes at least this often, so that it does not count as gone. */
  heartbeat: 3000,
  /** The time between two reads of the store: `blocked` if only another process can end the wait, else `waiting`. */
  poll: { blocked: 50, waiting: 1000 },
  /** The end of a call is reported within this time. */
  reportDelay: 15,
  /** The time between two visits of a process whose calls wait. */
  pace: { least: 20, most: 250 },
  /** The time until an unavailable store is tried again. */
  retry: 250,
  /** A process that leaves says so within this time. */
  leave: 1000
}

/** A process whose calls wait visits the store about as often as this share of a bucket comes back. */
const refillPerVisit = 1 / 8

/** The store removes a value that is not written for this time, or for the longest interval of a ceiling. */
const timeToLive = Duration.hours(1)

export class TenantSync {
  readonly replica: Replica
  private readonly host: Host
  private readonly tenant: string
  /** Visits the store when it fires. */
  private readonly timer: Timer
  private readonly key: string
  private readonly timeToLive: Duration.Duration
  /** Reads an entry; ignores one of another format. */
  private readonly read: (entry: SharedStore.Entry | undefined) => Effect.Effect<FleetSnapshot | undefined>
  /** The version of the entry that the replica is based on. */
  private version: string | undefined
  private isAlone = false
  private isVisiting = false
  /** Set if another visit must follow at once. */
  private isUrgent = false
  /** The earliest time of the next visit for waiting calls, by the timer's clock. */
  private notBefore = -Infinity
  /** The time at which they may start, by the local estimate and the timer's clock. */
  private dueAt = Infinity

  constructor(host: Host, tenant: string, timers: Timers) {
    this.replica = new Replica(host, tenant, timers.now)
    this.host = host
    this.tenant = tenant
    this.timer = timers.make(() => this.visit())
    this.key = host.format.keyOf(tenant)
    const intervals = host.limits.ceilings.map(({ interval }) => Duration.millis(interval))
    this.timeToLive = intervals.reduce((longest, interval) => Duration.max(longest, interval), timeToLive)
    this.read = reader(this.key, host.format.decode)
  }

  /** The wait until a call can start; `Infinity`: a visit will tell. */
  wait(one: Waiter<OperationState>, ahead: Ahead): Wait {
    if (this.replica.hasGrant(one.state)) return { millis: 0, reason: "limit" }
    if (this.isAlone) return this.replica.waitAlone(one, ahead)
    const wait = this.replica.wait(one, ahead)
    const now = this.timer.now()
    // The copy may be outdated: it is trusted only until the first time at which a call was expected to start.
    if (wait.millis > 0 && now < this.dueAt) {
      this.dueAt = Math.min(this.dueAt, now + wait.millis)
      this.timer.set(now + (wait.millis === Infinity ? timing.poll.blocked : timing.poll.waiting))
      return wait
    }
    const pause = this.notBefore - now
    if (pause > 0) return { ...wait, millis: pause }
    this.visit()
    return { millis: Infinity, reason: wait.millis > 0 ? wait.reason : "inFlight" }
  }

  /** Ends a call; `reading` is `undefined` if there was no response. */
  end(grant: FleetGrant, reading: BucketReading | undefined, wasSent: boolean): void {
    const isUrgent = reading?.isRateLimited === true || grant.own.state.bucket === undefined
    this.replica.end(grant, reading, wasSent)
    if (this.isAlone) return this.replica.settleAlone()
    if (!isUrgent) return this.timer.set(this.timer.now() + timing.reportDelay)
    this.isUrgent = true
    this.visit()
  }

  /** Forgets the limits if the tenant is idle; then returns `true`, and the tenant needs no more visits. */
  forgetIdle(isWaiting: (tenant: string) => boolean): boolean {
    const isForgotten = !this.isVisiting && this.replica.forgetIdle(isWaiting)
    if (isForgotten) this.timer.clear()
    return isForgotten
  }

  /** Visits the store soon, unless a visit is under way. */
  visit(): void {
    if (this.isVisiting || this.host.isClosed) return
    this.isVisiting = true
    this.host.fork(Effect.zipRight(Effect.yieldNow(), this.run))
  }

  private readonly run: Effect.Effect<void> = Effect.suspend(() => {
    this.isUrgent = false
    return Effect.zipRight(
      // A ceiling would count the first calls by a clock that may be behind, and forget them too early.
      this.isAlone
        ? this.rejoin
        : Effect.when(this.readTime, () => !this.host.hasStoreTime && this.host.limits.ceilings.length > 0),
      Effect.suspend(() => {
        this.replica.returnGrants()
        // Each visit gets half of `timeout`: a quarter to retry, and a quarter for its last request.
        return this.writeUpdate(this.timer.now() + Duration.toMillis(this.host.store.timeout) / 4)
      })
    )
  }).pipe(
    Effect.catchAllCause(() =>
      // From now on this process knows only what it learns by itself.
      Effect.sync(() => {
        if (!this.isAlone) this.replica.goAlone()
        this.isAlone = true
        this.replica.settleAlone()
      })
    ),
    Effect.zipRight(Effect.sync(() => this.afterVisit()))
  )

  /** Writes an update until no other process interferes; gives up at `until`, by the timer's clock. */
  private writeUpdate(
    until: number,
    isLeaving = false,
    losses = 1
  ): Effect.Effect<void, SharedStore.StoreUnavailable | "contended" | "unreadable"> {
    const { host: { format, queue, setStoreTime, store }, replica, timer } = this
    return Effect.suspend(() => {
      const { version } = this
      const sentAt = timer.now()
      const update = replica.update(isLeaving ? undefined : queue)
      const written = Effect.suspend(() =>
        store.swap(this.key, version, { value: format.encode(update.snapshot), timeToLive: this.timeToLive })
      )
      return written.pipe(
        Effect.onError(() => Effect.sync(() => replica.restore(update.before))),
        Effect.flatMap(({ entry, now, swapped }) => {
          setStoreTime(now, timer.now() - sentAt)
          this.version = entry?.version
          if (swapped) return Effect.sync(() => this.commit(update))
          return Effect.flatMap(this.read(entry), (snapshot) => {
            if (snapshot === undefined) replica.restore(update.before)
            else replica.load(snapshot)
            // A value that the store has lost held the others' calls below a ceiling.
            const isLost = snapshot === undefined && version !== undefined && !this.isRemoved({ entry, now })
            if (isLost) replica.exhaustCeilings(() => true)
            if (snapshot === undefined && entry !== undefined) return Effect.fail("unreadable" as const)
            return timer.now() > until
              ? Effect.fail("contended" as const)
              : Effect.zipRight(pauseAfter(losses), this.writeUpdate(until, isLeaving, losses + 1))
          })
        })
      )
    })
  }

  /** Checks that the store has removed the value in time, and not lost it. */
  private isRemoved({ entry, now }: SharedStore.Snapshot): boolean {
    return entry === undefined && this.replica.writtenAt + Duration.toMillis(this.timeToLive) <= now
  }

  private commit(update: Update): void {
    this.replica.commit(update)
    if (update.own.waiting > 0) this.notBefore = this.timer.now() + this.pace()
  }

  /** Reads the entry, and the store's time. */
  private readonly readTime = Effect.suspend(() => {
    const sentAt = this.timer.now()
    return Effect.tap(
      this.host.store.get(this.key),
      ({ now }) => Effect.sync(() => this.host.setStoreTime(now, this.timer.now() - sentAt))
    )
  })

  private readonly rejoin = Effect.suspend(() =>
    Effect.flatMap(this.readTime, ({ entry, now }) => {
      const isUnchanged = entry?.version === this.version || this.isRemoved({ entry, now })
      return Effect.map(this.read(isUnchanged ? undefined : entry), (snapshot) => {
        this.isAlone = false
        this.version = entry?.version
        this.replica.rejoin(snapshot, isUnchanged)
      })
    })
  )

  private afterVisit(): void {
    this.isVisiting = false
    this.dueAt = Infinity
    const now = this.timer.now()
    if (this.isAlone) this.timer.set(now + timing.retry)
    else if (this.replica.hasEnded) this.timer.set(now + timing.reportDelay)
    else if (this.replica.hasInFlight) this.timer.set(now + timing.heartbeat)
    if (this.isUrgent) this.visit()
    this.host.queue?.wake(this.tenant)
    // The grants that are left belong to calls that were interrupted. If later calls used them, a ceiling would count those calls from
    // the time of the grant, before they start.
    if (this.host.limits.ceilings.length > 0) this.replica.returnGrants()
  }

  /** The milliseconds until the next visit for waiting calls: several calls have come back by then, and the bucket is not full. */
  private pace(): number {
    const { strategy } = this.replica
    const now = this.replica.now()
    const { pace } = strategy.tenantOf(this.tenant)
    let fastest = Math.max(pace?.rate ?? 0, ...this.host.limits.ceilings.map(({ interval }) => 1 / interval))
    for (const state of strategy.states()) {
      const status = strategy.statusOf(state, now)
      if (status === undefined || status.fullAt <= now) continue
      fastest = Math.max(fastest, (status.limit - status.remaining) / (status.fullAt - now) / status.limit)
    }
    return Math.max(timing.pace.least, Math.min(timing.pace.most, refillPerVisit / fastest))
  }

  /** Leaves the fleet: the others get the grants that this process does not need. */
  readonly leave: Effect.Effect<void> = Effect.suspend(() => {
    if (this.isAlone) return Effect.void
    this.replica.returnGrants()
    return Effect.ignore(this.writeUpdate(this.timer.now() + timing.leave, true))
  })
}
