/**
 * Bounds the retries of a client to a share of its calls while the service is unavailable: a token bucket that counts only in an outage.
 * Times are milliseconds of the monotonic clock.
 */
import { warningInterval } from "../runtime/warnings.js"

/** Retries that a client may always make: this number at once, and one more in each `interval`. */
const least = { retries: 10, interval: 1000 }

/**
 * Attempts of all operations that fail in a row, after which the service counts as unavailable. If half of all requests fail, that
 * happens once in 10^15 of them.
 */
const failuresOfOutage = 50

export class RetryBudget {
  private readonly share: number
  private left = least.retries
  private refilledAt = -Infinity
  private failuresInRow = 0
  private hasWarned = false
  private nextWarningAt = -Infinity

  constructor(share: number) {
    this.share = share
  }

  callStarted(): void {
    this.left = Math.min(least.retries, this.left + this.share)
  }

  /** Learns from the end of an attempt; `isDown`: the service did not respond, or cannot. */
  attemptEnded(isDown: boolean): void {
    this.failuresInRow = isDown ? this.failuresInRow + 1 : 0
    if (!isDown) this.hasWarned = false
  }

  /** Takes a retry. Returns `false` if none is left in an outage. */
  take(now: number): boolean {
    this.left = Math.min(least.retries, this.left + (now - this.refilledAt) / least.interval)
    this.refilledAt = now
    if (this.left < 1) return this.failuresInRow < failuresOfOutage
    this.left--
    return true
  }

  /** True once in an outage, but at most once a minute: time for a warning. */
  shouldWarn(now: number): boolean {
    if (this.hasWarned || now < this.nextWarningAt) return false
    this.hasWarned = true
    this.nextWarningAt = now + warningInterval
    return true
  }
}
