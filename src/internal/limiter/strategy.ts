/**
 * Strategies: they decide when calls may start. Times are milliseconds, by the monotonic clock or, in a fleet, by that of the store,
 * which may be set back.
 */
import { grain } from "../runtime/timer.js"
import type { BucketReading } from "./bucketReading.js"
import type { Call } from "./limiter.js"

/** The time in milliseconds after which a tenant without calls is forgotten. The store of a fleet forgets it then, too. */
export const idleTime = 3_600_000

/** The known limit at a time. */
export interface BucketStatus {
  readonly limit: number
  readonly remaining: number
  readonly fullAt: number
}

/** Counts the waiting calls of some kinds that go before a new one. */
export type CountAhead<State> = (isOne: (other: State) => boolean) => number

/** The greatest number of calls, up to `size`, whose last one waits at most `until` milliseconds after the others before it. */
export const countWithin = (until: number, size: number, waitAfter: (ahead: number) => number): number => {
  if (size === 0 || waitAfter(size - 1) <= until) return size
  let [least, most] = [0, size - 1]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (waitAfter(middle - 1) <= until) least = middle
    else most = middle - 1
  }
  return least
}

/** Decides when calls start. `State` is what it knows about the calls of one kind, `Grant` a call that has started. */
export interface LimitStrategy<State, Grant> {
  readonly stateOf: (call: Call) => State
  readonly states: () => Iterable<State>
  /** The identity of the bucket of a kind of calls, as far as it is known. */
  readonly bucketOf: (state: State) => object | undefined
  /** The known limit of a kind of calls. */
  readonly statusOf: (state: State, now: number) => BucketStatus | undefined
  /**
   * The milliseconds until the user's own ceilings allow a call that leaves `share` of them and comes after others: the number
   * of those before it that a predicate selects. `wait` contains it, but counts none of those.
   */
  readonly ceilingWait: (state: State, now: number, share: number, ahead?: CountAhead<State>) => number
  /** True if other processes count for the ceilings, too. */
  readonly sharesCeilings: boolean
  /** The milliseconds until the limits that hold for `other`, and not for `state`, allow its call after `ahead` others. */
  readonly waitApart: (other: State, state: State, now: number, ahead: number) => number
  /**
   * The milliseconds until the limits that hold for both allow a call of `state` that leaves `share` of them and comes after `ahead`
   * others, if a call of `other` starts now.
   */
  readonly waitAfter: (state: State, other: State, now: number, share: number, ahead: number) => number
  /** Checks that calls wait because the service asked for a pause. */
  readonly isPaused: (state: State, now: number) => boolean
  /** Checks that calls wait because the service refused some without saying why. */
  readonly isPaced: (state: State, now: number) => boolean
  /** Checks that the next call goes before all others, because its response will show its bucket. */
  readonly isFirst: (state: State) => boolean
  /**
   * The milliseconds until a call may start that leaves `share` of the limit, comes after `ahead` others and has `waited`
   * already; 0: now; `Infinity`: not before a call ends.
   */
  readonly wait: (state: State, now: number, share: number, ahead: number, waited: number) => number
  /** Starts a call; `waited`: its bucket made it wait. */
  readonly start: (state: State, now: number, waited: boolean) => Grant
  /** Takes a start back: the call was not sent. */
  readonly giveBack: (grant: Grant, now: number) => void
  /** Ends a call; `undefined`: no response came. */
  readonly settle: (grant: Grant, reading: BucketReading | undefined, now: number) => void
  /** Forgets the tenants without a call for `idleTime`, unless a call would have to wait or a state `isNeeded`. */
  readonly forgetIdle: (now: number, isNeeded: (state: State) => boolean) => void
}

/** Levels are sums of fractions: a difference of a millionth of a call is an error of rounding. */
export const rounding = 1e-6

/** The milliseconds until a number of calls has come back. The clock counts microseconds, so what is back within one is back. */
export const waitFor = (missing: number, rate: number): number => {
  const millis = missing / rate
  return missing <= rounding || millis <= grain ? 0 : millis
}

/** The calls that a `share` of a limit leaves to others: never all. */
export const reserved = (share: number, limit: number): number =>
  Math.max(0, Math.min(Math.ceil(share * limit), limit - 1))
