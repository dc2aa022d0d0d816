/** A strategy for a known limit that all calls share and no other client uses. */
import { type Bucket, type Reservation, waitLeavingShare } from "./bucket.js"
import type { Call } from "./permit.js"
import type { LimitStrategy } from "./queue.js"

interface FixedState {
  readonly call: Call
  readonly bucket: Bucket
}

/** Levels are sums of fractions: a difference of a millionth of a call is an error of rounding. */
const rounding = 1e-6

/** A full token bucket that refills evenly: `rate` calls in each millisecond. */
const makeBucket = (limit: number, rate: number, now: number): Bucket => {
  let tokens = limit
  let at = now
  /** The calls left. If the clock was set back, time counts from there on. */
  const left = (now: number): number => {
    at = Math.min(at, now)
    return Math.min(limit, tokens + (now - at) * rate)
  }
  // One call is like another.
  const reservation: Reservation = {
    giveBack: () => {
      tokens++
    },
    settle: () => {}
  }
  return {
    wait: (now, reserve, ahead) => {
      const missing = 1 + reserve + ahead - left(now)
      return missing > rounding ? missing / rate : 0
    },
    start: (now) => {
      tokens = left(now) - 1
      at = now
      return reservation
    },
    pausedFor: () => 0,
    status: (now) => ({
      limit,
      remaining: Math.max(0, Math.floor(left(now) + rounding)),
      fullAt: at + Math.max(0, Math.ceil((limit - tokens) / rate))
    })
  }
}

/** Allows `limit` calls at once, and `rate` more in each millisecond. */
export const make = (limit: number, rate: number, now: number): LimitStrategy<FixedState, Reservation> => {
  const bucket = makeBucket(limit, rate, now)
  const state: FixedState = { call: { tenant: "*", operation: "*" }, bucket }
  return {
    stateOf: () => state,
    states: () => [state],
    bucketOf: () => bucket,
    isFirst: () => false,
    wait: (_, now, share, ahead) => waitLeavingShare(bucket, now, share, ahead),
    start: (_, now, waited) => bucket.start(now, waited),
    giveBack: (reservation, now) => reservation.giveBack(now),
    settle: () => {}
  }
}
