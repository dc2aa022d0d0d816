/** Calls that wait for a permit, and the order in which they start. */
import type * as Effect from "effect/Effect"
import type { RateLimited } from "../../Errors.js"
import { LinkedNode } from "../runtime/linkedList.js"
import type { ClientCall, WaitReason } from "./limiter.js"
import type { LimitStrategy } from "./strategy.js"

/** The part of a waiting call that decides when it starts. */
export type WaitingCall<State> = Pick<QueuedCall<State>, "state" | "nth" | "since" | "isBackground">

/** A call that waits for a permit. */
export class QueuedCall<State> extends LinkedNode<QueuedCall<State>> {
  /** Ends its wait: it may be sent now. `hasWaited`: its bucket made it wait. */
  start: (now: number, hasWaited: boolean) => void = () => {}
  /** Ends its wait with a failure. */
  refuse: (refusal: Effect.Effect<never, RateLimited>) => void = () => {}
  /** Set if the bucket delays it; unset if only earlier calls do. */
  reason: WaitReason | undefined = undefined
  readonly call: ClientCall
  readonly state: State
  readonly isBackground: boolean
  /** Its number: calls that came before have a lower one. */
  readonly nth: number
  /** The time of its arrival, in milliseconds. */
  readonly since: number

  constructor(call: ClientCall, state: State, isBackground: boolean, nth: number, since: number) {
    super()
    this.call = call
    this.state = state
    this.isBackground = isBackground
    this.nth = nth
    this.since = since
  }
}

/**
 * Order of start: first a call whose response will reveal its operation's bucket; then foreground before background; then by
 * arrival.
 */
export const startsBefore = <State>(
  { isFirst }: Pick<LimitStrategy<State, never>, "isFirst">,
  one: WaitingCall<State>,
  other: WaitingCall<State>
): boolean => {
  if (isFirst(one.state) !== isFirst(other.state)) return isFirst(one.state)
  return one.isBackground === other.isBackground ? one.nth < other.nth : other.isBackground
}

/** A wait of this time, in milliseconds, is not longer than a call takes. */
const shortWait = 100

/**
 * Decides whether a call that may start gives way to another, which may start after `wait` milliseconds. It does if the other goes before
 * it and would then start later, because both draw on one limit. So no call waits for younger ones, however many limits it needs at once.
 */
export const givesWay = <State>(
  strategy: Pick<LimitStrategy<State, never>, "isFirst" | "waitAfter">,
  one: WaitingCall<State>,
  other: WaitingCall<State>,
  wait: number,
  now: number,
  share: number,
  ahead: number
): boolean => {
  if (wait === Infinity || !startsBefore(strategy, other, one)) return false
  const after = strategy.waitAfter(other.state, one.state, now, share, ahead)
  // `Infinity`: until `one` ends, which takes no hour, unlike the wait for another limit may.
  return after > wait && (after < Infinity || wait <= shortWait)
}
