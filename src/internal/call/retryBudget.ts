/**
 * Keeps the retries of a client below a share of its calls while the service is unavailable. A retry beyond that waits for an attempt
 * that shows what would become of it, so that in an outage no call fails that a retry would have saved.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Timer from "../runtime/timer.js"
import { warningInterval } from "../runtime/warnings.js"

/** Retries that a client may always make: this number at once, and one more in each `interval`, in milliseconds. */
const least = { retries: 10, interval: 1000 }

/**
 * Attempts of all operations that fail in a row, after which the service counts as unavailable. If half of all requests fail, that
 * happens once in 10^15 of them.
 */
const failuresOfOutage = 50

/** A retry that waits. */
interface Waiter {
  readonly queue: string
  readonly since: number
  readonly timeLimit: number
  readonly resume: (isAllowed: Effect.Effect<boolean>) => void
}

export interface RetryBudget {
  /** Counts a call. */
  readonly callStarted: () => void
  /** Counts an attempt, before it waits for a permit, and gives its number. Attempts of one queue are sent in this order. */
  readonly attemptStarted: () => number
  /** Learns that the service did not respond to an attempt, or cannot; `timeLimit`: the time that it had, if that was up. */
  readonly attemptFailed: (queue: string, nth: number, timeLimit?: number) => void
  /** Ends the outage: the service has responded to an attempt. No retry waits any longer. */
  readonly endOutage: () => void
  /** Takes a retry. Returns `false` if none is left in an outage. */
  readonly take: () => boolean
  /**
   * Waits until a retry with this time limit may be made: the outage has ended, or a retry is left. Returns `false` when it would be in
   * vain: an attempt of its queue that began later has failed, and had no less time.
   */
  readonly wait: (queue: string, timeLimit: number) => Effect.Effect<boolean>
  /** True once in an outage, but at most once a minute: time for a warning. */
  readonly shouldWarn: () => boolean
}

/** Makes a budget of this share of the calls. When the scope closes, no retry waits any longer. */
export const make = (share: number): Effect.Effect<RetryBudget, never, Scope.Scope> =>
  Effect.gen(function*() {
    const waiters = new Set<Waiter>()
    let left = least.retries
    let refilledAt = -Infinity
    let attempts = 0
    let failuresInRow = 0
    let [hasWarned, nextWarningAt] = [false, -Infinity]

    const resume = (waiter: Waiter, isAllowed: boolean): void => {
      waiters.delete(waiter)
      waiter.resume(Effect.succeed(isAllowed))
    }

    /** Adds retries, and gives them to those that wait, first come, first served. */
    const add = (retries: number): void => {
      left = Math.min(least.retries, left + retries)
      for (const waiter of waiters) {
        if (left < 1) return timer.set(refilledAt + Math.ceil((1 - left) * least.interval)) // else it might be no later
        left--
        resume(waiter, true)
      }
    }

    const refill = (): void => {
      const now = timer.now()
      const retries = (now - refilledAt) / least.interval
      refilledAt = now
      add(retries)
    }

    const take = (): boolean => {
      refill()
      if (left < 1) return failuresInRow < failuresOfOutage
      left--
      return true
    }

    const endOutage = (): void => {
      failuresInRow = 0
      hasWarned = false
      for (const waiter of waiters) resume(waiter, true)
    }

    const timer = yield* Timer.make(Effect.sync(refill))
    yield* Effect.addFinalizer(() => Effect.sync(endOutage))

    return {
      callStarted: () => add(share),
      attemptStarted: () => ++attempts,
      attemptFailed: (queue, nth, timeLimit = Infinity) => {
        failuresInRow++
        for (const waiter of waiters) {
          if (waiter.queue === queue && waiter.since < nth && waiter.timeLimit <= timeLimit) resume(waiter, false)
        }
      },
      endOutage,
      take,
      wait: (queue, timeLimit) =>
        Effect.async((resume) => {
          if (take()) return resume(Effect.succeed(true))
          const waiter = { queue, since: attempts, timeLimit, resume }
          waiters.add(waiter)
          add(0) // sets the timer
          return Effect.sync(() => void waiters.delete(waiter))
        }),
      shouldWarn: () => {
        const now = timer.now()
        if (hasWarned || now < nextWarningAt) return false
        hasWarned = true
        nextWarningAt = now + warningInterval
        return true
      }
    }
  })
