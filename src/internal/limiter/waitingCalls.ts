/** The calls of a tenant that wait for their turn, and the order in which they start. */
import { LinkedList, LinkedNode } from "../runtime/linkedList.js"
import { getOrInsert } from "../runtime/memoize.js"
import type { Timer } from "../runtime/timer.js"
import type { ClientCall, WaitReason } from "./limiter.js"
import { type Ahead, type LimitStrategy, none, type Ordered, type Wait, type Waiter } from "./strategy.js"

/** A call that waits. */
export class WaitingCall<State> extends LinkedNode<WaitingCall<State>> implements Waiter<State> {
  /** Ends its wait: it may be sent now. */
  start: (now: number) => void = () => {}
  /** Ends its wait with a failure; `wait`: the milliseconds that it would have had to wait. */
  refuse: (wait: number | undefined) => void = () => {}
  /** Set if a limit delays it; unset if only earlier calls do. */
  reason: WaitReason | undefined = undefined
  readonly call: ClientCall
  readonly state: State
  readonly isBackground: boolean
  readonly share: number
  readonly nth: number
  readonly since: number

  constructor(call: ClientCall, { isBackground, nth, share, since, state }: Waiter<State>) {
    super()
    this.call = call
    this.state = state
    this.isBackground = isBackground
    this.share = share
    this.nth = nth
    this.since = since
  }
}

/** A call may wait this much longer than `maxWait`, in milliseconds: sleeps may end a little late. */
const grace = 20

/** The `retryAfter` of a call refused while it waits for another call, in milliseconds: the real wait is unknown. */
const unknownWait = 1000

type Strategy<State> = Pick<LimitStrategy<State, never>, "limitsOf" | "wait">

type Lists<State> = readonly [foreground: LinkedList<WaitingCall<State>>, background: LinkedList<WaitingCall<State>>]

/** The waiting calls of a tenant, first come, first served. */
export class TenantQueue<State extends Ordered> {
  readonly lists = new Map<State, Lists<State>>()
  private readonly strategy: Strategy<State>
  private readonly maxWait: number
  private readonly timer: Timer
  private readonly onDelay: (one: WaitingCall<State>, wait: Wait, now: number) => void

  /** `timer` serves it again; `onDelay` gets the calls that limits delay. */
  constructor(
    strategy: Strategy<State>,
    maxWait: number,
    timer: Timer,
    onDelay: (one: WaitingCall<State>, wait: Wait, now: number) => void
  ) {
    this.strategy = strategy
    this.maxWait = maxWait
    this.timer = timer
    this.onDelay = onDelay
  }

  /** The first call of each list. */
  private get heads(): ReadonlyArray<WaitingCall<State>> {
    return Array.from(this.lists.values()).flatMap((lists) => lists.flatMap(({ first }) => first ?? []))
  }

  get size(): number {
    return Array.from(this.lists.keys()).reduce((sum, state) => sum + this.sizeOf(state), 0)
  }

  sizeOf(state: State): number {
    return this.lists.get(state)?.reduce((sum, { size }) => sum + size, 0) ?? 0
  }

  add(one: WaitingCall<State>): void {
    const lists = getOrInsert(this.lists, one.state, (): Lists<State> => [new LinkedList(), new LinkedList()])
    lists[one.isBackground ? 1 : 0].add(one)
  }

  /** Takes a call out; returns `false` if it has left before. */
  remove(one: WaitingCall<State>): boolean {
    const isRemoved = this.lists.get(one.state)?.[one.isBackground ? 1 : 0].remove(one) ?? false
    if (this.sizeOf(one.state) === 0) this.lists.delete(one.state)
    return isRemoved
  }

  /** Ends the waits of all calls. */
  refuseAll(): void {
    for (const list of Array.from(this.lists.values()).flat()) for (const one of list) this.refuse(one, undefined)
  }

  private refuse(one: WaitingCall<State>, wait: number | undefined): void {
    this.remove(one)
    one.refuse(wait)
  }

  /** Starts the calls that may start, and refuses those that would wait for too long. */
  serve(): void {
    while (this.serveNext(this.timer.now())) {
      /* until all have to wait; a call that has started may have taken time */
    }
    if (this.lists.size === 0) this.timer.clear()
  }

  private serveNext(now: number): boolean {
    const waits = this.heads.map((one) => ({
      one,
      left: one.since + this.maxWait - now,
      wait: this.strategy.wait(one, now, none)
    }))
    const best = waits.reduce<WaitingCall<State> | undefined>((first, { one, wait }) => {
      if (wait.millis > 0 || (first !== undefined && !startsBefore(one, first))) return first
      return waits.some((other) => givesWay(this.strategy, one, other.one, other.wait.millis, now)) ? first : one
    }, undefined)
    if (best !== undefined) {
      this.remove(best)
      best.start(now)
      return true
    }
    const late = waits.find(({ left, wait: { millis } }) =>
      millis > 0 && millis < Infinity ? millis > Math.max(0, left + grace) : left <= 0
    )
    if (late !== undefined) {
      const { millis } = late.wait
      this.refuse(late.one, millis > 0 && millis < Infinity ? millis : unknownWait)
      return true
    }
    let soonest = Infinity
    for (const { left, one, wait } of waits) {
      soonest = Math.min(soonest, left > 0 ? left : Infinity, wait.millis > 0 ? wait.millis : Infinity)
      if (wait.millis <= 0) continue
      one.reason = wait.reason
      this.onDelay(one, wait, now)
    }
    this.timer.set(now + Math.max(1, soonest)) // a wrong estimate must not make it spin
    return false
  }

  /** The calls that start before a new one below each limit: those that nothing delays which does not delay the new one. */
  aheadOf(one: Waiter<State>): Ahead {
    const { limitsOf } = this.strategy
    const own = limitsOf(one.state)
    const before = Array.from(this.lists, ([state, [foreground, background]]) => ({
      first: foreground.first ?? background.first,
      limits: limitsOf(state),
      calls: foreground.size + (one.isBackground ? background.size : 0)
    })).filter(({ first, limits }) =>
      first !== undefined && first.reason !== "inFlight" && startsBefore(first, one) &&
      limits.every((limit) => own.includes(limit))
    )
    return (limit) => before.reduce((sum, { calls, limits }) => limits.includes(limit) ? sum + calls : sum, 0)
  }
}

/** Order of start: first a call whose response will show its operation's bucket; then foreground before background; then by arrival. */
export const startsBefore = (one: Waiter<Ordered>, other: Waiter<Ordered>): boolean => {
  const isFirst = one.state.isFirst ?? false
  if (isFirst !== (other.state.isFirst ?? false)) return isFirst
  return one.isBackground === other.isBackground ? one.nth < other.nth : other.isBackground
}

/**
 * Decides whether a call that may start gives way to another, which may start after `wait` milliseconds. It does if the other goes before
 * it and would then start later, because both draw on one limit. So no call waits for younger ones, however many limits it needs at once.
 */
export const givesWay = <State extends Ordered>(
  strategy: Pick<LimitStrategy<State, never>, "limitsOf" | "wait">,
  one: Waiter<State>,
  other: Waiter<State>,
  wait: number,
  now: number,
  ahead: Ahead = none
): boolean => {
  if (wait === Infinity || !startsBefore(other, one)) return false
  const own = strategy.limitsOf(one.state)
  if (own.length === 0) return false
  return strategy.wait(other, now, (limit) => ahead(limit) + (own.includes(limit) ? 1 : 0)).millis > wait
}
