/** The state of an estimator as plain data. Times are milliseconds by the clock of the strategy, rates calls per millisecond. */
import { constants } from "./constants.js"
import { FixedWindowState } from "./fixedWindow.js"

/** A call that was counted when it started. */
export interface Reservation {
  /** The time at which it was sent. */
  readonly sentAt: number
  /** The milliseconds by which the store's clock had been set back until then. */
  readonly setBack: number
  /** The number of calls that had ended when it started. */
  readonly endedBefore: number
  /** True if the estimate made it wait, so that its response tests the estimate. */
  readonly waited: boolean
  /** True if it started against the estimate, so that its response replaces it. */
  readonly isTest: boolean
}

/** Bounds of (calls left + own calls so far); without other clients their growth is the refill rate. */
interface RateSample {
  readonly sentAt: number
  readonly endedAt: number
  readonly low: number
  readonly high: number
}

/** An estimate as plain data; at first one that knows nothing and lets one call go. */
export class EstimatorState {
  /** The bucket's size; unknown until a response gives it. */
  limit: number | undefined = undefined
  /** True if all this is known beforehand: no response has confirmed it. */
  isPrior = false
  /** The calls left at `levelAt`, less those in flight. */
  level = 0
  levelAt = 0
  /** The rate at which calls come back, less what other clients take. */
  netRate = constants.minRate
  /** The greatest rate that own calls have proved. */
  provenRate = constants.minRate
  /** True if other clients use the bucket. */
  isShared = false
  /** The calls left by the last response, at `reportedAt`, less those started since. */
  reported = 0
  reportedAt = 0
  /** The calls that have started, and how they ended. */
  started = 0
  ended = 0
  served = 0
  rateLimited = 0
  /** The end of the pause that the service asked for. */
  pausedUntil = -Infinity
  /** True if the service asked for a longer pause: after it one call at a time goes, until the service responds to it. */
  isProbing = false
  /** The latest time seen. */
  latest = -Infinity
  /** The time at which the last call with a response was sent. */
  lastSentAt = 0
  /** The time of the last refusal that lowered the estimate. */
  loweredAt = -Infinity
  /** The number of calls in a row that waited and found the bucket full. */
  fullResponses = 0
  /** Without rate-limit headers: the calls that may be in flight. */
  maxInFlight = 1
  /** Responses from which the rate is measured. */
  samples: ReadonlyArray<RateSample> = []
  window = new FixedWindowState()
}
