/**
 * Keeps the retries of a client below a share of its calls while the service is down. 429s need none: the service is there, and
 * says when to come back. Times are milliseconds of the monotonic clock.
 */
import * as Effect from "effect/Effect"

/** Retries that a client may always make: this number at once, and one more in each `interval`, in milliseconds. */
const least = { retries: 10, interval: 1000 }

/** A call whose last retry waits. */
interface Waiter {
  readonly operation: string
  readonly since: number
  readonly resume: (isAllowed: Effect.Effect<boolean>) => void
}

export class RetryBudget {
  private readonly share: number
  private left = least.retries
  private at = -Infinity
  private readonly waiters = new Set<Waiter>()

  constructor(share: number) {
    this.share = share
  }

  /** Counts a call. */
  callStarted(): void {
    this.left = Math.min(least.retries, this.left + this.share)
  }

  /** Takes a retry, if one is left. */
  take(now: number): boolean {
    this.left = Math.min(least.retries, this.left + Math.max(0, now - this.at) / least.interval)
    this.at = now
    if (this.left < 1) return false
    this.left--
    return true
  }

  /** Learns from the end of an attempt that began at `began`; `isDown`: the service did not respond to it, or with 5xx. */
  attemptEnded(operation: string, began: number, isDown: boolean): void {
    for (const waiter of this.waiters) {
      if (isDown && (waiter.operation !== operation || began < waiter.since)) continue
      this.waiters.delete(waiter)
      waiter.resume(Effect.succeed(!isDown))
    }
  }

  /**
   * Waits until a call may make its last retry. Gives `false` when that would be in vain: an attempt of the same operation that
   * began later has failed, or `end` has come. So in an outage of the whole service no call fails that a retry would have saved.
   */
  verdict(operation: string, now: () => number, end: number, since = now()): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      if (this.take(now())) return Effect.succeed(true)
      const untilNext = (1 - this.left) * least.interval
      if (now() + untilNext >= end) return Effect.succeed(false)
      const ended = Effect.async<boolean>((resume) => {
        const waiter = { operation, since, resume }
        this.waiters.add(waiter)
        return Effect.sync(() => void this.waiters.delete(waiter))
      })
      return Effect.flatMap(
        Effect.timeoutOption(ended, Math.ceil(untilNext)),
        (known) => known._tag === "Some" ? Effect.succeed(known.value) : this.verdict(operation, now, end, since)
      )
    })
  }
}
