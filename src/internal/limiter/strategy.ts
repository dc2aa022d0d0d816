/**
 * Strategies: they decide when calls may start. Times are milliseconds, by the monotonic clock or, in a fleet, by that of the store,
 * which may be set back.
 */
import { grain } from "../runtime/timer.js"
import type { BucketReading } from "./bucketReading.js"
import type { Call, WaitReason } from "./limiter.js"

/** The time in milliseconds after which a tenant without calls is forgotten. The store of a fleet forgets it then, too. */
export const idleTime = 3_600_000

export interface Ordered {
  /** True if the response to the next call will show its bucket. */
  readonly isFirst?: boolean
}

/** The part of a waiting call that decides when it starts. */
export interface Waiter<State> {
  readonly state: State
  readonly isBackground: boolean
  /** The share of each limit that it leaves to others. */
  readonly share: number
  /** Its number: calls that came before have a lower one. */
  readonly nth: number
  /** The time of its arrival, in milliseconds. */
  readonly since: number
}

/** The known limit at a time. */
export interface BucketStatus {
  readonly limit: number
  readonly remaining: number
  readonly fullAt: number
}

/** How long a call has to wait, and why. `millis` is 0 if it may start now, and `Infinity` if another call must end first. */
export interface Wait {
  readonly millis: number
  readonly reason: WaitReason
}

/** A limit that a call must keep. */
export interface Limit {
  /** The milliseconds until a call may start that leaves `share` of the limit to others, and comes after `ahead` of them. */
  readonly wait: (now: number, share: number, ahead: number) => number
  readonly reason: (now: number, millis: number) => WaitReason
}

/** The number of calls that go first below a limit. */
export type Ahead = (limit: object) => number

/** Nothing goes first. */
export const none: Ahead = () => 0

/** Decides when calls start. `State` is what it knows about the calls of one kind, `Grant` a call that has started. */
export interface LimitStrategy<State, Grant> {
  readonly stateOf: (call: Call) => State
  readonly states: () => Iterable<State>
  /** The limits that are known to hold for a kind of calls. */
  readonly limitsOf: (state: State) => ReadonlyArray<object>
  readonly wait: (one: Waiter<State>, now: number, ahead: Ahead) => Wait
  /** Starts a call; `waited`: the service's limit made it wait. */
  readonly start: (state: State, now: number, waited: boolean) => Grant
  /** Takes a start back: the call was not sent. */
  readonly giveBack: (grant: Grant, now: number) => void
  /** Ends a call; `undefined`: no response came. */
  readonly settle: (grant: Grant, reading: BucketReading | undefined, now: number) => void
  /** The service's limit, as far as it is known. */
  readonly statusOf: (state: State, now: number) => BucketStatus | undefined
  /** Forgets the tenants without a call for `idleTime`, unless one of their calls waits or would have to. */
  readonly forgetIdle: (now: number, isWaiting: (tenant: string) => boolean) => void
}

const free: Wait = { millis: 0, reason: "limit" }

/** The longest wait for one of several limits. */
export const longestOf = (
  limits: ReadonlyArray<Limit>,
  { share }: Pick<Waiter<unknown>, "share">,
  now: number,
  ahead: Ahead
): Wait => {
  let longest = free
  for (const limit of limits) {
    const millis = limit.wait(now, share, ahead(limit))
    if (millis > longest.millis) longest = { millis, reason: limit.reason(now, millis) }
  }
  return longest
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
