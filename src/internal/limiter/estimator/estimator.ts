/**
 * Estimates a bucket from the rate-limit headers of responses: the calls left, how fast they come back, and whether other
 * clients take some. Times are milliseconds by the clock of the strategy, rates calls per millisecond.
 */
import type { BucketReading } from "../bucketReading.js"
import { type BucketStatus, reserved, rounding, waitFor } from "../strategy.js"
import { constants, second } from "./constants.js"
import * as FixedWindow from "./fixedWindow.js"
import { EstimatorState, type Reservation } from "./state.js"

const copyOf = (state: EstimatorState): EstimatorState => ({ ...state, window: { ...state.window } })

/** A bucket that is known from responses alone: what is known of it, and how it learns. */
export class Estimator extends EstimatorState {
  /** The milliseconds by which the store's clock was set back so far; no part of the state. */
  #setBack = 0
  /** The rate that is known beforehand; no part of the state. */
  #priorRate = 0

  /** A copy of all that is known, as plain data. */
  get state(): EstimatorState {
    return copyOf(this)
  }

  /** Replaces all that is known; `inFlight` calls are in flight. Calls that were started before may still settle. */
  restore(state: EstimatorState, inFlight: number): void {
    Object.assign(this, copyOf(state), { ended: state.started - inFlight })
  }

  /** Begins with a full bucket that is known beforehand; the first headers are more exact. */
  assume(limit: number, rate: number): void {
    this.isPrior = true
    this.limit = this.level = this.reported = limit
    this.netRate = this.provenRate = this.#priorRate = rate
  }

  /** Replaces the prior of a restored state. No calls come back by that, and a rate that refusals lowered stays as low. */
  replacePrior(limit: number, rate: number): void {
    const most = this.loweredAt > -Infinity ? Math.min(this.netRate, rate) : rate
    this.limit = limit
    this.level = Math.min(this.level, limit)
    this.reported = Math.min(this.reported, limit)
    this.#priorRate = rate
    this.netRate = this.provenRate = most
  }

  /** Lowers the estimate to at most `calls`. */
  cap(calls: number, now: number): void {
    this.take(0, now)
    this.level = Math.min(this.level, calls)
    this.reported = Math.min(this.reported, calls)
  }

  /** The calls in flight. */
  get inFlight(): number {
    return this.started - this.ended
  }

  /** True while the service's pause delays calls. */
  /** The rest of a pause that a response asked for, in milliseconds. */
  pausedFor(now: number): number {
    return Math.max(0, this.pausedUntil - now)
  }

  isPaused(now: number): boolean {
    return now < this.pausedUntil || this.isProbing
  }

  /** Checks that the bucket may explain a 429 without headers: the last ones showed no call left, or it is not sure. */
  get mayRefuse(): boolean {
    return this.isPrior || (this.limit !== undefined && this.reported < 1)
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
   * The milliseconds until one call may test an estimate that rests on no response of the last `maxPause`: those before may have lied. A
   * test without a response is followed by the next.
   */
  untilTest(now: number, maxPause: number): number {
    return this.inFlight > 0 || this.isPrior || this.limit === undefined
      ? Infinity
      : Math.max(this.lastSentAt + maxPause - now, this.pausedFor(now))
  }

  /**
   * The milliseconds until a call may start that leaves `share` of the limit, and comes after `ahead` others; 0: now; `Infinity`: not
   * before a call ends.
   */
  wait(now: number, share: number, ahead: number): number {
    this.keepUp(now)
    const { inFlight, limit } = this
    if (now < this.pausedUntil) return this.pausedUntil - now
    if (this.isProbing) return inFlight === 0 ? 0 : Infinity
    if (limit === undefined) return inFlight < this.maxInFlight ? 0 : Infinity
    return Math.max(this.waitInFlight(now), this.waitForLevel(limit, now, reserved(share, limit), ahead))
  }

  /**
   * The wait until one more call may be in flight: until one ends or, because calls may hang, until more calls have come
   * back. Other clients of a shared bucket are assumed to have as many in flight.
   */
  private waitInFlight(now: number): number {
    const { inFlight, isShared, netRate, provenRate, reported, reportedAt } = this
    const left = reported + (isShared ? 0 : inFlight) + Math.max(0, now - reportedAt) * Math.min(netRate, provenRate)
    const most = Math.max(1, left * constants.inFlightShare)
    return inFlight + 1 <= most ? 0 : constants.recheckMillis
  }

  private waitForLevel(limit: number, now: number, reserve: number, ahead: number): number {
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
  private levelNow(limit: number, now: number): number {
    const { level, levelAt, netRate, window } = this
    return window.isFound ? level : Math.min(limit, level + Math.max(0, now - levelAt) * netRate)
  }

  /** Counts a call that starts now, or was sent before; `waited`: this bucket made it wait; `isTest`: it still would. */
  start(now: number, waited: boolean, sentAt = now, isTest = false): Reservation {
    this.keepUp(now)
    // No call was in flight: refill since the last response is a guess, so it counts from now.
    if (this.started === this.ended) this.reportedAt = now
    this.started++
    this.take(1, now)
    return { sentAt, setBack: this.#setBack, endedBefore: this.ended, waited, isTest }
  }

  /** Gives a call back that was not sent. */
  giveBack(now: number): void {
    this.ended++
    this.take(-1, now)
  }

  private take(calls: number, now: number): void {
    if (this.limit === undefined) return
    this.level = this.levelNow(this.limit, now) - calls
    this.levelAt = Math.max(this.levelAt, now)
    this.reported -= calls
  }

  /** Moves all times back when the store's clock was set back. */
  private keepUp(now: number): void {
    const back = this.latest - now
    this.latest = now
    if (back <= 0 || back === Infinity) return
    this.levelAt -= back
    this.reportedAt -= back
    this.pausedUntil -= back
    this.lastSentAt -= back
    this.loweredAt -= back
    this.#setBack += back
    // Nobody knows how much time has passed meanwhile, so calls before and after prove no rate.
    this.samples = []
    FixedWindow.shift(this.window, back)
  }

  /** Ends a call; `undefined`: no response came. `isPaced`: another limit than the bucket's refused it. */
  settle(started: Reservation, reading: BucketReading | undefined, now: number, isPaced = false): void {
    this.keepUp(now)
    // A process of a fleet may learn only after it sent a call that its clock was ahead of the store's.
    const call = { ...started, sentAt: Math.min(now, started.sentAt + started.setBack - this.#setBack) }
    // Other calls that the server may have counted before or after this one.
    const overlap = Math.max(0, this.started - call.endedBefore - 1)
    this.ended++
    if (reading === undefined) return
    const { date, isPauseCut, isRateLimited, pause, remaining, untilFull } = reading
    if (call.sentAt >= this.pausedUntil) this.isProbing = false
    if (isRateLimited) this.rateLimited++
    else this.served++
    if (pause !== undefined) this.pausedUntil = Math.max(this.pausedUntil, now + pause)
    if (isPauseCut) this.isProbing = true
    const limit = reading.limit ?? this.limit
    if (limit === undefined) return this.settleWithoutHeaders(call, reading, now)
    if (isPaced) return this.take(-1, now) // it took none of the bucket's calls
    const ahead = Math.max(0, untilFull ?? 0)
    const left = remaining === undefined ? undefined : Math.min(limit - 1, remaining)
    const isDoubted = this.isPrior || (call.isTest && !isRateLimited)
    if (this.limit === undefined || (isDoubted && reading.limit !== undefined)) {
      this.begin(limit, left ?? 0, overlap, ahead, now)
    }
    this.limit = limit
    this.take(0, now)
    if (left !== undefined && untilFull !== undefined) {
      FixedWindow.note(this.window, { reset: date + untilFull, ahead, limit, left }, isRateLimited, now)
    }
    if (isRateLimited) this.refuse(call)
    else if (left !== undefined) this.resync(call, limit, left, left - overlap, ahead, now)
    else if (this.isPrior) this.confirmPrior(call, reading)
    this.lastSentAt = call.sentAt
  }

  /** Allows one call first, and one more in flight for each that is served; a refusal halves that. */
  private settleWithoutHeaders(call: Reservation, reading: BucketReading, now: number): void {
    if (reading.isRateLimited && call.sentAt > this.loweredAt) {
      this.maxInFlight = Math.max(1, Math.floor((this.inFlight + 1) / 2))
      this.loweredAt = now
    } else if (!reading.isRateLimited && reading.isServed) this.maxInFlight++
  }

  /** Without headers the prior is all that is known: after a refusal each call that is served brings the rate nearer to it again. */
  private confirmPrior(call: Reservation, { isServed }: BucketReading): void {
    this.reported = this.level
    if (!isServed || call.sentAt <= this.loweredAt || this.netRate >= this.#priorRate) return
    this.netRate = Math.min(this.#priorRate, this.netRate * constants.rateIncreaseToPrior)
    this.provenRate = Math.max(this.provenRate, this.netRate)
    if (this.netRate === this.#priorRate) this.isShared = false
  }

  /** Begins with the first headers: as much comes back until the reset as is missing. */
  private begin(limit: number, left: number, overlap: number, ahead: number, now: number): void {
    const { firstRateShare, minRate } = constants
    this.isPrior = false
    this.window = new FixedWindow.FixedWindowState()
    this.samples = []
    this.level = left - overlap
    this.levelAt = this.lastSentAt = this.reportedAt = now
    this.provenRate = Math.max(minRate, (limit - left) / (ahead + 1) / second)
    this.netRate = Math.max(this.provenRate, (limit - left) / Math.max(1, ahead - 1) / second) // the headers count whole seconds
    this.isShared = left + overlap < limit - 1
    if (this.isShared) this.netRate *= firstRateShare
  }

  /** Learns from a refusal: nothing is left, and other clients take more than expected. */
  private refuse(call: Reservation): void {
    this.level = Math.min(constants.levelAfterRefusal, this.level + 1)
    this.reported = Math.min(0, this.reported)
    this.fullResponses = 0
    if (this.window.isFound) {
      this.level = 0
      return FixedWindow.refuse(this.window, this.levelAt)
    }
    const wasShared = this.isShared
    this.isShared = true
    // The calls that were in flight together count as one refusal.
    if (call.sentAt <= this.loweredAt) return
    const { minNetRateShare, minRate, netRateAfterFirstRefusal, netRateAfterRefusal, provenRateAfterRefusal } =
      constants
    if (wasShared) {
      // The proof may be wrong: responses of another bucket, or a limit that was higher then.
      this.provenRate = Math.max(minRate, this.provenRate * provenRateAfterRefusal)
      this.samples = []
    }
    const remains = wasShared ? netRateAfterRefusal : netRateAfterFirstRefusal
    this.netRate = Math.max(this.provenRate * minNetRateShare, this.netRate * remains)
    this.loweredAt = this.levelAt
  }

  /** Brings the level within the bounds that a response sets, and learns from the difference; `low` is the lower bound. */
  private resync(call: Reservation, limit: number, left: number, low: number, ahead: number, now: number): void {
    const isFull = left >= limit - 1
    this.reported = low
    this.reportedAt = now
    if (this.window.isFound) {
      this.level = Math.min(left, Math.max(low, this.level))
      return
    }
    this.provenRate = Math.max(this.provenRate, (limit - left) / (ahead + 1) / second)
    const high = left + (isFull ? 0 : 1) + this.netRate * (now - call.sentAt)
    const since = Math.max(constants.sampleGap, call.sentAt - this.lastSentAt)
    if (this.level > high) {
      // Other clients have taken calls.
      const { dropAfterSurprise, maxRateLoss, minNetRateShare } = constants
      const less = Math.min(this.netRate * maxRateLoss, (this.level - high) / since)
      this.netRate = Math.max(this.provenRate * minNetRateShare, this.netRate - less)
      this.isShared = true
      this.level = Math.max(low, high - dropAfterSurprise)
    } else if (this.level < low) {
      const more = low - this.level
      if (call.waited && !isFull) this.netRate += Math.min(this.netRate, more / since)
      this.level = this.isShared && isFull && call.waited ? this.level + more * constants.surplusSpent : low
    }
    if (call.waited) this.fullResponses = isFull ? this.fullResponses + 1 : 0
    if (this.isShared && this.fullResponses >= constants.fullResponsesWhenAlone) {
      this.isShared = false
      this.netRate = this.provenRate
    }
    if (call.setBack === this.#setBack) this.measure(call, left, isFull, now)
  }

  /**
   * Raises the proven rate to the rate between two own calls. The second was sent after the first had ended: otherwise calls
   * that another client took in between would look like refill. The level of a full bucket is exact.
   */
  private measure(call: Reservation, left: number, isFull: boolean, now: number): void {
    const { maxSamples, sampleGap } = constants
    const sample = {
      sentAt: call.sentAt,
      endedAt: now,
      low: left + Math.min(this.served, call.endedBefore + 1 - this.rateLimited),
      high: left + (isFull ? 0 : 1) + this.started - this.rateLimited
    }
    for (const { endedAt, high, sentAt } of this.samples) {
      const span = now - sentAt
      if (call.sentAt >= endedAt && span > sampleGap) {
        this.provenRate = Math.max(this.provenRate, (sample.low - high) / span)
      }
    }
    if (!this.isShared) this.netRate = Math.max(this.netRate, this.provenRate)
    if (now - (this.samples.at(-1)?.endedAt ?? -Infinity) < sampleGap) return
    this.samples = [...this.samples, sample].slice(-maxSamples)
  }
}
