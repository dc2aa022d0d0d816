/**
 * Refuses calls while the service is unavailable, so that they fail at once. It knows each attempt and its outcome, which a layer around
 * an `HttpClient` does not. Times are milliseconds of the monotonic clock.
 */
import * as Duration from "effect/Duration"

/** Settings of a circuit. @since 0.1.0 @category models */
export interface CircuitOptions {
  /** The attempts in a row without a response, or with 5xx or 408, after which it opens. Default: 10. */
  readonly failures?: number | undefined
  /** The time until it lets one attempt through. It doubles each time that attempt fails. Default: 1 s. */
  readonly delay?: Duration.DurationInput | undefined
  /** The upper bound of that time. Default: 30 s. */
  readonly maxDelay?: Duration.DurationInput | undefined
}

export class Circuit {
  readonly failures: number
  private readonly delay: number
  private readonly maxDelay: number
  private failed = 0
  /** The times that it opened since it was closed; 0: it is closed. */
  private openings = 0
  /** The time of the next attempt that is let through. */
  private nextAt = 0
  /** All times that it opened. An attempt that began before the last says nothing about the time after. */
  private generation = 0

  constructor({ delay = "1 second", failures = 10, maxDelay = "30 seconds" }: CircuitOptions) {
    this.failures = failures
    this.delay = Duration.toMillis(delay)
    this.maxDelay = Duration.toMillis(maxDelay)
  }

  get isOpen(): boolean {
    return this.openings > 0
  }

  /**
   * Lets an attempt begin, and gives its number; `undefined`: it is refused. With the number that it has already, it checks again
   * after a wait: if the circuit has opened meanwhile, the attempt may be the next one that is let through.
   */
  enter(now: number, entered?: number): number | undefined {
    if (!this.isOpen || entered === this.generation) return this.generation
    if (now < this.nextAt) return undefined
    this.nextAt = now + this.wait // then lets another through: this attempt may never end
    return this.generation
  }

  /** Learns from the end of an attempt. Returns `true` if it has opened or closed the circuit. */
  attemptEnded(entered: number, isDown: boolean, now: number): boolean {
    const wasOpen = this.isOpen
    if (wasOpen && entered !== this.generation) return false
    if (!isDown) {
      this.failed = this.openings = 0
      return wasOpen
    }
    this.failed++
    if (!wasOpen && this.failed < this.failures) return false
    this.openings++
    this.generation++
    this.nextAt = now + this.wait
    return !wasOpen
  }

  private get wait(): number {
    return Math.min(this.maxDelay, this.delay * 2 ** (this.openings - 1))
  }
}
