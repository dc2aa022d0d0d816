/** What an estimate of a bucket says at a time: the calls left, and the waits that follow. */
import { type BucketStatus, rounding, waitFor } from "../strategy.js"
import { constants } from "./constants.js"
import * as FixedWindow from "./fixedWindow.js"
import { EstimatorState } from "./state.js"

/** The part of an estimator that learns nothing. */
export class Estimate extends EstimatorState {
  /** The calls in flight. */
  get inFlight(): number {
    return this.started - this.ended
  }

  /** True while the service's pause delays calls. */
  isPaused(now: number): boolean {
    return now < this.pausedUntil || this.isProbing
  }

  /** The milliseconds that remain of a pause that the service asked for. */
  pausedFor(now: number): number {
    return Math.max(0, this.pausedUntil - now)
  }

  /**
   * The milliseconds until one call may test an estimate that rests on no response of the last `maxPause`: those before may have lied. A
   * test without a response is followed by the next.
   */
  untilTest(now: number, maxPause: number): number {
    return this.inFlight > 0 || this.isPrior || this.limit === undefined
      ? Infinity
      : Math.max(0, this.lastSentAt + maxPause - now)
  }

  status(now: number): BucketStatus | undefined {
    const { limit, netRate, window } = this
    if (limit === undefined) return undefined
    const level = this.levelNow(limit, now)
    return {
      limit,
      remaining: Math.max(0, Math.floor(level + rounding)),
      fullAt: window.isFound ? window.endsAt : now + Math.max(0, Math.ceil((limit - level) / netRate))
    }
  }

  /**
   * The wait until one more call may be in flight: until one ends or, because calls may hang, until more calls have come
   * back. Other clients of a shared bucket are assumed to have as many in flight.
   */
  protected waitInFlight(now: number, inFlight: number): number {
    const { callMillis, isShared, netRate, provenRate, reported, reportedAt } = this
    const rate = Math.min(netRate, provenRate)
    const left = reported + (isShared ? 0 : this.inFlight) + Math.max(0, now - reportedAt) * rate
    const missing = inFlight + 1 - Math.max(1, left * constants.inFlightShare + provenRate * callMillis)
    const untilBack = Math.max(0, missing) / (rate * constants.inFlightShare)
    return Math.min(untilBack, Math.max(callMillis, constants.recheckMillis))
  }

  protected waitForLevel(limit: number, now: number, reserve: number, ahead: number): number {
    const { isShared, level, netRate, window } = this
    if (window.isFound) {
      if (reserve + ahead + 1 <= level) return 0
      const windowsAhead = Math.floor(Math.max(0, ahead - Math.max(0, level)) / limit)
      return Math.max(0, window.endsAt - now) + windowsAhead * FixedWindow.lengthOf(window)
    }
    const most = isShared ? Math.max(1, Math.sqrt(limit) * constants.marginPerRoot) : 1
    const margin = Math.min(most, (limit - 1) * (isShared ? constants.marginShared : constants.marginAlone))
    const missing = Math.min(1 + margin + reserve, limit) + ahead - this.levelNow(limit, now)
    return waitFor(missing, netRate)
  }

  /** The calls left at a time. A fixed window does not refill. */
  protected levelNow(limit: number, now: number): number {
    const { level, levelAt, netRate, window } = this
    const refilled = window.isFound ? 0 : Math.max(0, now - levelAt) * netRate
    return Math.min(limit, level + refilled)
  }
}
