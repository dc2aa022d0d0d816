/** The state of an estimator as plain data, and its calls in flight. Times are local milliseconds, rates calls per millisecond. */
import { LinkedNode } from "../../runtime/linkedList.js"
import { constants } from "./constants.js"
import * as FixedWindow from "./fixedWindow.js"

/** An estimate as plain data. */
export interface EstimatorState {
  /** The bucket's size; unknown until a response gives it. */
  limit: number | undefined
  /** The calls left at `levelAt`, less those in flight. */
  level: number
  levelAt: number
  /** The rate at which calls come back, less what other clients take. */
  netRate: number
  /** The greatest rate that own calls have proved. */
  provenRate: number
  /** True if other clients use the bucket. */
  isShared: boolean
  /** The calls left by the last response, at `reportedAt`, less those started since. */
  reported: number
  reportedAt: number
  /** The average duration of a call. */
  callMillis: number
  /** The calls that have started, and how they ended. */
  started: number
  ended: number
  served: number
  rateLimited: number
  /** The end of the pause that the service asked for. */
  pausedUntil: number
  /** The latest time seen. */
  latest: number
  /** The time at which the last call that has ended was sent. */
  lastSentAt: number
  /** The time of the last refusal that lowered the estimate. */
  loweredAt: number
  /** The number of calls in a row that waited and found the bucket full. */
  fullResponses: number
  /** True if no call was served since the last refusal. */
  isRecovering: boolean
  /** Without rate-limit headers: the calls that may be in flight, and the refusals in a row. */
  maxInFlight: number
  refusalsInRow: number
  /** Responses from which the rate is measured. */
  samples: ReadonlyArray<RateSample>
  window: FixedWindow.FixedWindowState
}

/** A response as bounds of `left + own calls`, which grow at the bucket's rate unless other clients take calls. */
interface RateSample {
  readonly sentAt: number
  readonly endedAt: number
  readonly low: number
  readonly high: number
}

/** The state of an estimator that knows nothing yet: it lets one call go. */
export const initialState = (): EstimatorState => ({
  limit: undefined,
  level: 0,
  levelAt: 0,
  netRate: constants.minRate,
  provenRate: constants.minRate,
  isShared: false,
  reported: 0,
  reportedAt: 0,
  callMillis: 0,
  started: 0,
  ended: 0,
  served: 0,
  rateLimited: 0,
  pausedUntil: -Infinity,
  latest: -Infinity,
  lastSentAt: 0,
  loweredAt: -Infinity,
  fullResponses: 0,
  isRecovering: false,
  maxInFlight: 1,
  refusalsInRow: 0,
  samples: [],
  window: FixedWindow.initialState()
})

/** A call in flight. */
export class PendingCall extends LinkedNode<PendingCall> {
  sentAt: number
  /** The number of calls that had ended when it started. */
  readonly endedBefore: number
  /** True if the estimate made it wait, so that its response tests the estimate. */
  readonly waited: boolean

  constructor(sentAt: number, endedBefore: number, waited: boolean) {
    super()
    this.sentAt = sentAt
    this.endedBefore = endedBefore
    this.waited = waited
  }
}
