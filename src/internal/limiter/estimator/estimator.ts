/**
 * Estimates a bucket from the rate-limit headers of responses: the calls left, how fast they come back, and whether other
 * clients take some. Times are local milliseconds, rates calls per millisecond.
 */
import { type BucketStatus, reserved, rounding } from "../bucket.js"
import type { RateLimitReading } from "../rateLimitHeaders.js"
import { constants } from "./constants.js"
import * as FixedWindow from "./fixedWindow.js"
import { EstimatorState } from "./state.js"

const second = 1000

/** A call that was counted when it started. */
export interface Reservation {
  /** The time at which it was sent, if the clock had never been set back. */
  readonly sentAt: number
  /** The number of calls that had ended when it started. */
  readonly endedBefore: number
  /** True if the estimate made it wait, so that its response tests the estimate. */
  readonly waited: boolean
}

/** A bucket that is known from responses alone. */
export class Estimator {
  private current = new EstimatorState()
  /** The milliseconds by which the clock was set back so far. */
  private setBack = 0

  /** A copy of all that is known. */
  get state(): EstimatorState {
    return { ...this.current, window: { ...this.current.window } }
  }

  /** Replaces all that is known; `inFlight` calls are in flight. Calls that were started before may still settle. */
  restore(state: EstimatorState, inFlight: number): void {
    this.current = { ...state, ended: state.started - inFlight, window: { ...state.window } }
  }

  /** Lowers the estimate to at most `calls`. */
  cap(calls: number, now: number): void {
    const state = this.current
    this.take(0, now)
    state.level = Math.min(state.level, calls)
    state.reported = Math.min(state.reported, calls)
  }

  /**
   * The milliseconds until a call may start that leaves `share` of the limit, and comes after `ahead` others; 0: now;
   * `Infinity`: not before a call ends.
   */
  wait(now: number, share: number, ahead: number): number {
    const state = this.current
    this.keepUp(now)
    if (now < state.pausedUntil) return state.pausedUntil - now
    if (state.limit === undefined) return state.started - state.ended < state.maxInFlight ? 0 : Infinity
    return Math.max(this.waitInFlight(now), this.waitForLevel(state.limit, now, reserved(share, state.limit), ahead))
  }

  /** The milliseconds that remain of a pause that the service asked for. */
  pausedFor(now: number): number {
    return Math.max(0, this.current.pausedUntil - now)
  }

  /**
   * The wait until one more call may be in flight: until one ends or, because calls may hang, until more calls have come
   * back. Other clients of a shared bucket are assumed to have as many in flight.
   */
  private waitInFlight(now: number): number {
    const { callMillis, ended, isShared, netRate, provenRate, reported, reportedAt, started } = this.current
    const inFlight = started - ended
    const rate = Math.min(netRate, provenRate)
    const left = reported + (isShared ? 0 : inFlight) + Math.max(0, now - reportedAt) * rate
    const missing = inFlight + 1 - Math.max(1, left * constants.inFlightShare + provenRate * callMillis)
    return missing > 0
      ? Math.min(missing / (rate * constants.inFlightShare), Math.max(callMillis, constants.recheckMillis))
      : 0
  }

  private waitForLevel(limit: number, now: number, reserve: number, ahead: number): number {
    const { isShared, level, netRate, window } = this.current
    if (window.isFound) {
      if (reserve + ahead + 1 <= level) return 0
      const windowsAhead = Math.floor(Math.max(0, ahead - Math.max(0, level)) / limit)
      return Math.max(0, window.endsAt - now) + windowsAhead * FixedWindow.lengthOf(window)
    }
    const most = isShared ? Math.max(1, Math.sqrt(limit) * constants.marginPerRoot) : 1
    const margin = Math.min(most, (limit - 1) * (isShared ? constants.marginShared : constants.marginAlone))
    const missing = Math.min(1 + margin + reserve, limit) + ahead - this.levelAt(limit, now)
    return missing <= rounding ? 0 : missing / netRate
  }

  /** Counts a call that starts now, or was sent before; `waited`: this bucket made it wait. */
  start(now: number, waited: boolean, sentAt = now): Reservation {
    const state = this.current
    this.keepUp(now)
    // Calls that came back while nobody asked are not known to be there.
    if (state.started === state.ended) state.reportedAt = now
    state.started++
    this.take(1, now)
    return {
      sentAt: sentAt + this.setBack,
      endedBefore: state.ended,
      waited: waited && now > state.pausedUntil + constants.sampleGap
    }
  }

  /** Gives a call back that was not sent. */
  giveBack(now: number): void {
    this.current.ended++
    this.take(-1, now)
  }

  status(now: number): BucketStatus | undefined {
    const { limit, netRate, window } = this.current
    if (limit === undefined) return undefined
    const level = this.levelAt(limit, now)
    return {
      limit,
      remaining: Math.max(0, Math.floor(level + rounding)),
      fullAt: window.isFound ? window.endsAt : now + Math.max(0, Math.ceil((limit - level) / netRate))
    }
  }

  private take(calls: number, now: number): void {
    const state = this.current
    if (state.limit === undefined) return
    state.level = this.levelAt(state.limit, now) - calls
    state.levelAt = Math.max(state.levelAt, now)
    state.reported -= calls
  }

  /** Moves all times back when the clock was set back. */
  private keepUp(now: number): void {
    const state = this.current
    const back = state.latest - now
    state.latest = now
    if (back <= 0 || back === Infinity) return
    state.levelAt -= back
    state.reportedAt -= back
    state.pausedUntil -= back
    state.lastSentAt -= back
    state.loweredAt -= back
    this.setBack += back
    state.samples = state.samples.map((sample) => ({
      ...sample,
      sentAt: sample.sentAt - back,
      endedAt: sample.endedAt - back
    }))
    FixedWindow.shift(state.window, back)
  }

  /** The calls left at a time. A fixed window does not refill. */
  private levelAt(limit: number, now: number): number {
    const { level, levelAt, netRate, window } = this.current
    const refilled = window.isFound ? 0 : Math.max(0, now - levelAt) * netRate
    return Math.min(limit, level + refilled)
  }

  /** Ends a call; `undefined`: no response came. */
  settle(started: Reservation, reading: RateLimitReading | undefined, now: number): void {
    const state = this.current
    this.keepUp(now)
    const call = { ...started, sentAt: started.sentAt - this.setBack }
    // Other calls that the server may have counted before or after this one.
    const overlap = Math.max(0, state.started - call.endedBefore - 1)
    state.ended++
    if (reading === undefined) return
    const { date, isRateLimited, pause, remaining, untilFull } = reading
    if (isRateLimited) state.rateLimited++
    else state.served++
    const millis = now - call.sentAt
    const { durationWeight } = constants
    state.callMillis = state.callMillis === 0
      ? millis
      : state.callMillis * (1 - durationWeight) + millis * durationWeight
    if (pause !== undefined) state.pausedUntil = Math.max(state.pausedUntil, now + pause)
    const limit = reading.limit ?? state.limit
    if (limit === undefined) return this.settleWithoutHeaders(call, reading, now)
    const ahead = Math.max(0, untilFull ?? 0)
    const left = remaining === undefined ? undefined : Math.min(limit - 1, remaining)
    if (state.limit === undefined) this.begin(limit, left ?? 0, overlap, ahead, now)
    state.limit = limit
    this.take(0, now)
    if (left !== undefined && untilFull !== undefined) {
      const reset = untilFull + (date ?? Math.floor(now / second))
      FixedWindow.note(state.window, { reset, ahead, limit, left }, isRateLimited, now)
    }
    if (isRateLimited) this.refuse(call)
    else if (left !== undefined) this.resync(call, limit, left, left - overlap, ahead, now)
    state.lastSentAt = call.sentAt
  }

  /** Allows one call first, and one more in flight for each that is served; a refusal pauses and halves that. */
  private settleWithoutHeaders(call: Reservation, reading: RateLimitReading, now: number): void {
    const state = this.current
    if (reading.isRateLimited && call.sentAt > state.loweredAt) {
      state.maxInFlight = Math.max(1, Math.floor((state.started - state.ended + 1) / 2))
      state.pausedUntil = Math.max(state.pausedUntil, now + second * 2 ** Math.min(6, state.refusalsInRow++))
      state.loweredAt = now
    } else if (!reading.isRateLimited && reading.isServed) {
      state.maxInFlight++
      state.refusalsInRow = 0
    }
  }

  /** Begins with the first headers: as much comes back until the reset as is missing. */
  private begin(limit: number, left: number, overlap: number, ahead: number, now: number): void {
    const state = this.current
    const { firstRateShare, minFillSeconds, minRate } = constants
    state.level = left - overlap
    state.levelAt = state.lastSentAt = state.reportedAt = now
    state.provenRate = Math.max(minRate, (limit - left) / (ahead + 1) / second)
    state.netRate = Math.max(state.provenRate, (limit - left) / Math.max(minFillSeconds, ahead - 1) / second)
    state.isShared = left < limit - 1
    if (state.isShared) state.netRate *= firstRateShare
  }

  /** Learns from a refusal: nothing is left, and other clients take more than expected. */
  private refuse(call: Reservation): void {
    const state = this.current
    state.level = Math.min(constants.levelAfterRefusal, state.level + 1)
    state.reported = Math.min(0, state.reported)
    state.fullResponses = 0
    state.isRecovering = true
    if (state.window.isFound) {
      FixedWindow.refuse(state.window, state.levelAt)
      state.level = 0
      return
    }
    // The calls that were in flight together count as one refusal.
    if (call.sentAt > state.loweredAt) {
      const { minNetRateShare, minRate, netRateAfterFirstRefusal, netRateAfterRefusal, provenRateAfterRefusal } =
        constants
      if (state.isShared) {
        // The proof may be wrong: responses of another bucket, or a limit that was higher then.
        state.provenRate = Math.max(minRate, state.provenRate * provenRateAfterRefusal)
        state.samples = []
      }
      const remains = state.isShared ? netRateAfterRefusal : netRateAfterFirstRefusal
      state.netRate = Math.max(state.provenRate * minNetRateShare, state.netRate * remains)
      state.loweredAt = state.levelAt
    }
    state.isShared = true
  }

  /** Brings the level within the bounds that a response sets, and learns from the difference; `low` is the lower bound. */
  private resync(call: Reservation, limit: number, left: number, low: number, ahead: number, now: number): void {
    const state = this.current
    const { fullResponsesWhenAlone, rateIncrease, sampleGap } = constants
    const isFull = left >= limit - 1
    state.reported = low
    state.reportedAt = now
    if (state.window.isFound) {
      state.level = Math.min(left, Math.max(low, state.window.isNew ? left : state.level))
      return
    }
    state.provenRate = Math.max(state.provenRate, (limit - left) / (ahead + 1) / second)
    const high = left + (isFull ? 0 : 1) + state.netRate * (now - call.sentAt)
    const since = Math.max(sampleGap, call.sentAt - state.lastSentAt)
    if (state.level > high) this.expectLess(state.level - high, low, high, since)
    else if (state.level < low) this.expectMore(call, isFull, low, since)
    if (call.waited) state.fullResponses = isFull && !state.isRecovering ? state.fullResponses + 1 : 0
    if (state.isShared && state.fullResponses >= fullResponsesWhenAlone) {
      state.isShared = false
      state.netRate = state.provenRate
    }
    // Calls wait and still find the bucket full: the rate is too low. A limit of 1 is always reported as full.
    if (!state.isShared && limit > 1 && state.fullResponses > fullResponsesWhenAlone) state.netRate *= rateIncrease
    state.isRecovering = false
    this.measure(call, left, isFull, now)
  }

  /** Other clients have taken calls. */
  private expectLess(excess: number, low: number, high: number, since: number): void {
    const state = this.current
    const { dropAfterSurprise, lastingChange, maxRateLoss, minNetRateShare } = constants
    const less = Math.min(state.netRate * maxRateLoss, lastingChange * excess / since)
    state.netRate = Math.max(state.provenRate * minNetRateShare, state.netRate - less)
    state.level = Math.max(low, high - dropAfterSurprise)
    state.isShared = true
  }

  /** More is left than expected. */
  private expectMore(call: Reservation, isFull: boolean, low: number, since: number): void {
    const state = this.current
    const { lastingChange, surplusSpent } = constants
    const more = low - state.level
    if (call.waited && !isFull) state.netRate += Math.min(state.netRate, lastingChange * more / since)
    state.level = state.isShared && isFull && call.waited ? state.level + more * surplusSpent : low
  }

  /**
   * Raises the proven rate to the rate between two own calls. The second was sent after the first had ended: otherwise calls
   * that another client took in between would look like refill. The level of a full bucket is exact.
   */
  private measure(call: Reservation, left: number, isFull: boolean, now: number): void {
    const state = this.current
    const { maxSamples, sampleGap } = constants
    const sample = {
      sentAt: call.sentAt,
      endedAt: now,
      low: left + Math.min(state.served, call.endedBefore + 1 - state.rateLimited),
      high: left + (isFull ? 0 : 1) + state.started - state.rateLimited
    }
    for (const { endedAt, high, sentAt } of state.samples) {
      const span = now - sentAt
      if (call.sentAt >= endedAt && span > sampleGap) {
        state.provenRate = Math.max(state.provenRate, (sample.low - high) / span)
      }
    }
    if (!state.isShared) state.netRate = Math.max(state.netRate, state.provenRate)
    if (now - (state.samples.at(-1)?.endedAt ?? -Infinity) < sampleGap) return
    state.samples = [...state.samples, sample].slice(-maxSamples)
  }
}
