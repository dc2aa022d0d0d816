/**
 * One limiter for many processes. What is known of a tenant lies in the shared store, as one value: whoever wants calls takes
 * it as it knows it, adds what became of its own calls, takes new ones by the very rules of a limiter that is alone, and puts
 * it back, unless somebody was faster: then it begins again with what that one has put there. While the store is away,
 * each process goes on with what it knew last, and takes for granted that all others do as it does.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import type * as SharedStore from "../../SharedStore.js"
import * as Adaptive from "../limiter/adaptive.js"
import { type AdaptiveGrant, bucketIdsOf, type OperationState } from "../limiter/adaptiveState.js"
import type { Bucket, BucketStatus } from "../limiter/bucket.js"
import type { CallQueue, LimitStrategy, Waiting } from "../limiter/queue.js"
import type { RateLimitReading } from "../limiter/rateLimitHeaders.js"
import { makeRunner } from "../runtime/fiber.js"
import { monotonicMillis } from "../runtime/monotonicClock.js"
import * as Timer from "../runtime/timer.js"
import { decode, restore, type Saved } from "./saved.js"
import * as Learned from "./snapshot.js"

/** A call that was let go. */
interface Permit {
  readonly own: AdaptiveGrant
  /** What the other processes are taken to have taken at the same time, while the store is away. */
  readonly others: ReadonlyArray<AdaptiveGrant>
  /** Between two losses of the store counts go on; what was counted before says nothing after. */
  readonly era: number
}

/** A call that is over, and has not been told the others yet. */
interface Over {
  readonly permit: Permit
  readonly told: RateLimitReading | undefined
  readonly wasSent: boolean
}

/** What the others know of a process. */
interface Member {
  /** When it was here, in milliseconds on the store's clock. */
  readonly seen: number
  /** How many of its calls wait, and since when it has waited for its turn. */
  readonly waiting: number
  readonly since: number
  /** How many are under way, of each operation, and of each bucket. */
  readonly lanes: Readonly<Record<string, number>>
  readonly supplies: Readonly<Record<string, number>>
}

/** All times are in milliseconds. */
const time = {
  /** What nobody has written for so long is forgotten. */
  kept: Duration.hours(1),
  /** A process that was not here for so long is gone, with its calls; one that has some comes back after `beat`. */
  life: 10_000,
  beat: 3000,
  /** One that was not here for so long waits no more. */
  turn: 2000,
  /** When to look again what the others have learned: where only that helps, and where it may change something. */
  blind: 50,
  glance: 1000,
  /** The end of a call is told after so long at the latest. */
  lag: 15,
  /** Who waits because of the limit comes back no sooner, at the least and at the most. */
  pace: { least: 20, most: 250 },
  /** How soon after a failure the store is tried again. */
  again: 250,
  /** So long a process that goes tries to say so. */
  leave: 1000,
  /** A clock that is so far behind what others have written was set back. */
  skew: 1000
}

/** How much of a bucket may come back between two visits of one process. */
const filled = 1 / 8

/** Another version of the library may keep something else. */
const format = "1"

const count = (names: Iterable<string>, into: Map<string, number>): Map<string, number> => {
  for (const name of names) into.set(name, (into.get(name) ?? 0) + 1)
  return into
}

const numbers = (value: unknown): Readonly<Record<string, number>> =>
  Predicate.isReadonlyRecord(value)
    ? Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, number] => Predicate.isNumber(entry[1]))
    )
    : {}

/** What all replicas of a process have in common. */
interface Host {
  readonly id: string
  readonly store: SharedStore.SharedStore["Type"]
  readonly reserve: number
  /** Who waits; there is none before the fleet is open. */
  gate: CallQueue<OperationState> | undefined
  /** Calls may end after that; nobody is told any more. */
  isClosed: boolean
  /** The store's time as far as it is known; and what the store has told. */
  readonly storeTime: () => number
  readonly toldTime: (now: number) => void
  readonly fork: (effect: Effect.Effect<void>) => void
}

/** What a process knows of one tenant. */
class Replica {
  readonly learning = Adaptive.make()
  /** Let go by the fleet, and not yet taken. */
  private readonly granted = new Map<OperationState, Array<Permit>>()
  /** Calls under way that the fleet knows of; and those of them that it takes for under way though they are over. */
  private readonly open = new Set<Permit>()
  private over: Array<Over> = []
  private members = new Map<string, Member>()
  private version: string | undefined
  /** When the value was written that this one knows. */
  private at = -Infinity
  /** Since when this process has waited for its turn, as the others know. */
  private since = Infinity
  private isApart = false
  private era = 0
  private isBusy = false
  private hasNews = false
  /** Not before then it helps to ask again. */
  private notBefore = -Infinity
  /** When a call that waits may go, by what it knew after its last visit. */
  private dueAt = Infinity
  /** When a call of a lane had to wait for the limit, as the store agreed. */
  private readonly heldAt = new Map<OperationState, number>()

  private readonly tenant: string
  private readonly host: Host
  private readonly alarm: Timer.Timer

  constructor(tenant: string, host: Host, alarm: Timer.Timer) {
    this.tenant = tenant
    this.host = host
    this.alarm = alarm
  }

  /** A little behind the store's time, never before what others have written. */
  now(): number {
    const now = this.host.storeTime()
    return this.at > now && this.at - now < time.skew ? this.at : now
  }

  wait(lane: OperationState, share: number, ahead: number, waited: number): number {
    if (this.granted.has(lane)) return 0
    const now = this.now()
    const wait = this.learning.wait(
      lane,
      now,
      share,
      ahead + (this.isApart ? this.round(lane, now) : this.turn(now)),
      waited
    )
    if (this.isApart) return wait
    // What it knows may be old: when it comes to the time that it first counted on, it looks.
    if (wait > 0 && this.alarm.now() < this.dueAt) {
      this.dueAt = Math.min(this.dueAt, this.alarm.now() + wait)
      this.alarm.set(this.alarm.now() + (wait === Infinity ? time.blind : time.glance))
      return wait
    }
    if (this.notBefore > this.alarm.now()) return this.notBefore - this.alarm.now()
    this.visit()
    return Infinity
  }

  start(lane: OperationState, held: boolean): Permit {
    const granted = this.granted.get(lane)
    const permit = granted?.shift()
    if (granted?.length === 0) this.granted.delete(lane)
    if (permit !== undefined) return permit
    const now = this.now()
    const others = lane.bucket === undefined ? 0 : this.fresh(now).length
    const taken: Permit = {
      // Who leaves calls to others that may not want them learns nothing from finding more than it counted on.
      own: this.learning.start(lane, now, held && others === 0),
      others: Array.from({ length: others }, () => this.learning.start(lane, now, false)),
      era: this.era
    }
    this.open.add(taken)
    return taken
  }

  end(permit: Permit, told: RateLimitReading | undefined, wasSent: boolean): void {
    const over = { permit, told, wasSent }
    if (this.isApart) {
      this.settle(over, this.now())
      this.open.delete(permit)
      return
    }
    const { state: lane } = permit.own
    const isNews = told?.isRateLimited === true || lane.bucket === undefined
    this.over.push(over)
    if (!isNews) return this.alarm.set(this.alarm.now() + time.lag)
    this.hasNews = true
    this.visit()
  }

  /** Comes to the store, soon, unless that is under way. */
  visit(): void {
    if (this.isBusy || this.host.isClosed) return
    this.isBusy = true
    this.host.fork(Effect.zipRight(Effect.yieldNow(), this.exchange))
  }

  /** The other processes that were here of late. */
  private fresh(now: number): ReadonlyArray<Member> {
    return Array.from(this.members.values()).filter(({ seen }) => seen > now - time.life)
  }

  /** The other processes whose calls wait. */
  private rivals(now: number): ReadonlyArray<Member> {
    return this.fresh(now).filter(({ seen, waiting }) => waiting > 0 && seen > now - time.turn)
  }

  /** How many of them go once before this one does. */
  private turn(now: number): number {
    return this.rivals(now).filter(({ since }) => since <= this.since).length
  }

  /** How many calls the others make with one of this process, while the store is away; the bucket must be able to hold them. */
  private round(lane: OperationState, now: number): number {
    const limit = this.learning.bucketOf(lane)?.status(now)?.limit ?? 0
    return Math.min(this.fresh(now).length, Math.max(0, limit - 2))
  }

  private settle({ permit: { era, others, own }, told, wasSent }: Over, now: number): void {
    for (const other of others) if (era === this.era) this.learning.settle(other, undefined, now)
    if (wasSent) this.learning.settle(own, era === this.era ? told : undefined, now)
    else this.learning.giveBack(own, now)
  }

  private openNow(
    own: Iterable<Permit>
  ): { readonly lanes: Map<string, number>; readonly supplies: Map<string, number> } {
    const permits = Array.from(own, ({ own }) => own)
    return {
      lanes: count(permits.map(({ state }) => state.call.operation), new Map()),
      supplies: count(permits.flatMap(bucketIdsOf), new Map())
    }
  }

  /** Takes over what all know. */
  private load(saved: Saved): void {
    const { lanes, supplies } = this.openNow(this.open)
    for (const member of this.members.values()) {
      for (const [name, calls] of Object.entries(member.lanes)) lanes.set(name, (lanes.get(name) ?? 0) + calls)
      for (const [name, calls] of Object.entries(member.supplies)) supplies.set(name, (supplies.get(name) ?? 0) + calls)
    }
    Learned.load(this.learning, this.tenant, saved, { lanes, supplies })
  }

  /** Takes over what the store holds; if that is nothing, `own`. */
  private take(entry: SharedStore.Entry | undefined, own: Saved): void {
    this.version = entry?.version
    if (entry === undefined) return this.load(own)
    const value = decode(entry.value)
    const { at } = restore({ at: 0 }, value)
    const members = Predicate.isReadonlyRecord(value["members"]) ? value["members"] : {}
    this.at = at
    this.members = new Map(
      Object.entries(members).filter(([id]) => id !== this.host.id).map(([id, member]) => [id, {
        ...restore({ seen: 0, waiting: 0, since: 0 }, member),
        lanes: numbers(Predicate.hasProperty(member, "lanes") ? member.lanes : undefined),
        supplies: numbers(Predicate.hasProperty(member, "supplies") ? member.supplies : undefined)
      }])
    )
    this.load(Predicate.isReadonlyRecord(value["learned"]) ? value["learned"] : {})
  }

  /**
   * Takes calls for those who wait, in their order, leaving as many to each other process that waits; and tells in which lanes
   * a call has to wait for the limit, and when that was.
   */
  private grant(
    now: number,
    isLast: boolean
  ): { readonly taken: ReadonlyArray<Permit>; readonly held: ReadonlyMap<OperationState, number> } {
    const { gate, reserve } = this.host
    const taken: Array<Permit> = []
    const held = new Map<OperationState, number>()
    if (gate === undefined || isLast) return { taken, held }
    const rivals = this.rivals(now).length
    const lines = Array.from(gate.queues(), (line) => line[Symbol.iterator]())
      .map((rest) => ({ rest, next: rest.next() }))
      .filter(({ next }) => next.done !== true && next.value.state.call.tenant === this.tenant)
    for (;;) {
      let best: { readonly line: typeof lines[number]; readonly waiter: Waiting<OperationState> } | undefined
      for (const line of lines) {
        if (line.next.done === true) continue
        const waiter = line.next.value
        const { isBackground, since, state: lane } = waiter
        const wait = (ahead: number) =>
          this.learning.wait(lane, now, isBackground ? reserve : 0, ahead, this.alarm.now() - since)
        if (wait(taken.length * rivals) > 0) {
          if (wait(0) > 0) held.set(lane, this.alarm.now())
          continue
        }
        if (best === undefined || this.goesBefore(waiter, best.waiter)) best = { line, waiter }
      }
      if (best === undefined) return { taken, held }
      const { line, waiter: { since, state: lane } } = best
      const wasHeld = (this.heldAt.get(lane) ?? -Infinity) >= since
      taken.push({ own: this.learning.start(lane, now, wasHeld), others: [], era: this.era })
      line.next = line.rest.next()
    }
  }

  private goesBefore(one: Waiting<OperationState>, other: Waiting<OperationState>): boolean {
    const [isFirst, isOtherFirst] = [this.learning.isFirst(one.state), this.learning.isFirst(other.state)]
    if (isFirst !== isOtherFirst) return isFirst
    return one.isBackground === other.isBackground ? one.nth < other.nth : other.isBackground
  }

  private waiting(): number {
    let sum = 0
    for (const lane of this.learning.states()) sum += this.host.gate?.waiting(lane) ?? 0
    return sum
  }

  /** Forgets processes that are gone, with their calls. */
  private bury(now: number): void {
    const gone = Array.from(this.members).filter(([, { seen }]) => seen <= now - time.life)
    if (gone.length === 0) return
    for (const [id] of gone) this.members.delete(id)
    this.load(Learned.save(this.learning, this.tenant))
  }

  /** One visit's work, on what is known now: how many ends it tells, what it takes, and the new value. */
  private work(isLast: boolean) {
    const now = this.now()
    this.bury(now)
    const over = this.over.length
    for (const each of this.over) this.settle(each, now)
    const { held, taken } = this.grant(now, isLast)
    const open = new Set(this.open)
    for (const { permit } of this.over) open.delete(permit)
    for (const permit of taken) open.add(permit)
    const { lanes, supplies } = this.openNow(open)
    const waiting = this.waiting() - taken.length
    const own: Member = {
      seen: now,
      waiting,
      since: waiting === 0 || taken.length > 0 ? now : Math.min(this.since, now),
      lanes: Object.fromEntries(lanes),
      supplies: Object.fromEntries(supplies)
    }
    const members = Object.fromEntries(isLast ? this.members : [...this.members, [this.host.id, own]])
    const value = JSON.stringify({ at: now, members, learned: Learned.save(this.learning, this.tenant) })
    return { now, over, taken, held, own, value }
  }

  private get key(): string {
    return `limit:${format}:${this.tenant}`
  }

  /** Brings together what this process and the others know, until nobody comes in between. */
  private meet(isLast: boolean): Effect.Effect<void, SharedStore.StoreUnavailable | "crowded"> {
    const { store, toldTime } = this.host
    const began = this.alarm.now()
    let clean = Learned.save(this.learning, this.tenant)
    const attempt: Effect.Effect<void, SharedStore.StoreUnavailable | "crowded"> = Effect.suspend(() => {
      const work = this.work(isLast)
      return Effect.flatMap(
        store.swap(this.key, this.version, { value: work.value, timeToLive: time.kept }),
        ({ entry, now, swapped }) => {
          toldTime(now)
          if (swapped) {
            this.keep(work, entry)
            return Effect.void
          }
          this.take(entry, clean)
          clean = Learned.save(this.learning, this.tenant)
          return this.alarm.now() - began > (isLast ? time.leave : Duration.toMillis(store.timeout) / 4)
            ? Effect.fail("crowded" as const)
            : attempt
        }
      )
    })
    return Effect.onError(attempt, () => Effect.sync(() => this.load(clean)))
  }

  /** The store is back. If the others have gone on, what they have put there counts, but no more than what is left here. */
  private rejoin({ entry, now }: SharedStore.Snapshot): void {
    this.host.toldTime(now)
    const levels = Learned.levels(this.learning, this.tenant, this.now())
    this.isApart = false
    this.era++
    this.take(entry?.version === this.version ? undefined : entry, Learned.save(this.learning, this.tenant))
    this.version = entry?.version
    Learned.cap(this.learning, this.tenant, levels, this.now())
  }

  private keep(
    { held, now, over, own, taken }: ReturnType<Replica["work"]>,
    entry: SharedStore.Entry | undefined
  ): void {
    for (const { permit } of this.over.splice(0, over)) this.open.delete(permit)
    for (const permit of taken) {
      this.open.add(permit)
      const { state: lane } = permit.own
      this.granted.set(lane, [...this.granted.get(lane) ?? [], permit])
    }
    for (const [lane, at] of held) this.heldAt.set(lane, at)
    this.version = entry?.version
    this.at = now
    this.since = own.waiting > 0 ? own.since : Infinity
    if (own.waiting > 0) this.notBefore = this.alarm.now() + this.pace()
  }

  /** How many calls of the quickest bucket come back in a millisecond. */
  private quickest(): number {
    const now = this.now()
    let most = 0
    for (const lane of this.learning.states()) {
      const known = this.learning.bucketOf(lane)?.status(now)
      if (known === undefined || known.fullAt <= now) continue
      most = Math.max(most, (known.limit - known.remaining) / (known.fullAt - now) / known.limit)
    }
    return most
  }

  /** How long who waits stays away: rarely enough to bring back several calls, often enough for none to be lost. */
  private pace(): number {
    return Math.max(time.pace.least, Math.min(time.pace.most, filled / this.quickest()))
  }

  /** From now on this process knows only what it learns by itself. */
  private part(): void {
    if (this.isApart) return
    this.isApart = true
    for (const over of this.over) {
      this.settle(over, this.now())
      this.open.delete(over.permit)
    }
    this.over = []
  }

  private readonly exchange: Effect.Effect<void> = Effect.suspend(() => {
    this.hasNews = false
    const back = Effect.suspend(() => Effect.map(this.host.store.get(this.key), (seen) => this.rejoin(seen)))
    return Effect.zipRight(
      Effect.when(back, () => this.isApart),
      Effect.suspend(() => {
        this.returnGranted()
        return this.meet(false)
      })
    )
  }).pipe(
    Effect.catchAllCause(() => Effect.sync(() => this.part())),
    Effect.zipRight(Effect.sync(() => {
      this.isBusy = false
      this.dueAt = Infinity
      const now = this.alarm.now()
      if (this.isApart) this.alarm.set(now + time.again)
      else if (this.over.length > 0) this.alarm.set(now + time.lag)
      else if (this.open.size > 0) this.alarm.set(now + time.beat)
      if (this.hasNews) this.visit()
      this.host.gate?.wake()
    }))
  )

  /** What was taken for calls that do not wait any more. */
  private returnGranted(): void {
    for (const permits of this.granted.values()) {
      for (const permit of permits) this.over.push({ permit, told: undefined, wasSent: false })
    }
    this.granted.clear()
  }

  /** The process goes: what it has taken and not used is the others'. */
  readonly leave: Effect.Effect<void> = Effect.suspend(() => {
    if (this.isApart) return Effect.void
    this.returnGranted()
    return Effect.ignore(this.meet(true))
  })
}

export interface Fleet {
  readonly source: LimitStrategy<OperationState, Permit>
  /** Begins to serve those who wait at a gate; it leaves when the scope is closed. */
  readonly serve: (gate: CallQueue<OperationState>) => Effect.Effect<void, never, Scope.Scope>
}

const makeId = Effect.map(
  Effect.all([Random.nextIntBetween(0, 2 ** 48), Random.nextIntBetween(0, 2 ** 48)]),
  (parts) => parts.map((part) => part.toString(36)).join("")
)

/** A limiter's source that shares all it knows with the others that use the store. */
export const make = (
  store: SharedStore.SharedStore["Type"],
  reserve: number
): Effect.Effect<Fleet, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const { fork, runSync } = yield* makeRunner()
    const clock = yield* Clock.clockWith(Effect.succeed)
    const steady = () => monotonicMillis(clock)
    let offset = clock.unsafeCurrentTimeMillis() - steady()
    const host: Host = {
      id: yield* makeId,
      store,
      reserve,
      gate: undefined,
      isClosed: false,
      storeTime: () => Math.floor(steady() + offset),
      toldTime: (now) => {
        offset = now - steady()
      },
      fork: (effect) => void fork(effect, scope)
    }

    const replicas = new Map<string, Replica>()
    const replicaOf = (tenant: string): Replica => {
      const known = replicas.get(tenant)
      if (known !== undefined) return known
      const alarm = runSync(Scope.extend(Timer.make(Effect.sync(() => replica.visit())), scope))
      const replica: Replica = new Replica(tenant, host, alarm)
      replicas.set(tenant, replica)
      return replica
    }
    const ofLane = ({ call: { tenant } }: OperationState): Replica => replicaOf(tenant)

    /** What is known of a bucket, by the local clock. */
    const views = new WeakMap<object, Pick<Bucket, "status">>()
    const viewOf = (replica: Replica, supply: Pick<Bucket, "status">): Pick<Bucket, "status"> => {
      const known = (now: number): BucketStatus | undefined => {
        const there = replica.now()
        const known = supply.status(there)
        return known === undefined ? undefined : { ...known, fullAt: known.fullAt - there + now }
      }
      const view = views.get(supply) ?? { status: known }
      views.set(supply, view)
      return view
    }

    return {
      source: {
        stateOf: (call) => replicaOf(call.tenant).learning.stateOf(call),
        states: () => Array.from(replicas.values()).flatMap(({ learning }) => Array.from(learning.states())),
        bucketOf: (lane) => {
          const replica = ofLane(lane)
          const supply = replica.learning.bucketOf(lane)
          return supply === undefined ? undefined : viewOf(replica, supply)
        },
        isFirst: (lane) => ofLane(lane).learning.isFirst(lane),
        wait: (lane, _, share, ahead, waited) => ofLane(lane).wait(lane, share, ahead, waited),
        start: (lane, _, held) => ofLane(lane).start(lane, held),
        giveBack: (permit) => ofLane(permit.own.state).end(permit, undefined, false),
        settle: (permit, told) => ofLane(permit.own.state).end(permit, told, true)
      },
      serve: (gate) =>
        Effect.suspend(() => {
          host.gate = gate
          const leave = Effect.suspend(() => {
            host.isClosed = true
            return Effect.forEach(replicas.values(), ({ leave }) => leave, { concurrency: "unbounded", discard: true })
          })
          // In a fiber of its own: who closes the scope may have been interrupted.
          return Effect.addFinalizer(() => Effect.flatMap(Effect.forkDaemon(leave), Fiber.join))
        })
    }
  })
