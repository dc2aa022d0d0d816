/** Retries a call as its retry policy allows. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Any } from "../../Endpoint.js"
import type { RawResponse } from "../http/rawExchange.js"
import * as ResponseHeaders from "../http/responseHeaders.js"
import { backoff } from "../runtime/backoff.js"
import type { Restore } from "../runtime/fiber.js"
import { monotonicMillis } from "../runtime/monotonicClock.js"
import type { CallTelemetry } from "../telemetry/callTelemetry.js"
import { type AttemptFailure, canRetryFailure, canRetryResponse, type Policy } from "./retryPolicy.js"

/** The part of a call that its attempts use. */
export interface AttemptContext {
  /** Makes the waits of an attempt interruptible; all else is uninterruptible. */
  readonly restore: Restore
  readonly telemetry: CallTelemetry
  /** Limits a time-out of the attempt to what is left of the total time, in milliseconds. */
  readonly limitTimeout: (millis: number) => number
  /** Stops the total time while the attempt waits for a permit. */
  readonly pause: () => void
  readonly resume: () => void
}

const wasNotSent = (error: AttemptFailure): boolean => error._tag !== "TransportError" || error.outcome === "not-sent"

/**
 * Makes attempts until one has a final result, the policy allows no more of them, or the next wait would exceed the total
 * time. Must run in an uninterruptible region; `restore` makes the waits interruptible.
 */
export class RetryLoop<A extends RawResponse, E extends AttemptFailure, R> implements AttemptContext {
  private readonly endpoint: Any
  private readonly policy: Policy
  readonly restore: Restore
  readonly telemetry: CallTelemetry
  private readonly attempt: (context: AttemptContext) => Effect.Effect<A, E, R>
  private readonly clock: Clock.Clock
  private attempts = 1
  /** The start of the call, moved forward by its pauses. */
  private startedAt: number
  private pausedAt: number
  /**
   * The result of the last attempt that the service may have carried out. It remains the result of the call if all later
   * attempts were not sent.
   */
  private uncertain: Effect.Effect<A, E> | undefined

  constructor(
    endpoint: Any,
    policy: Policy,
    clock: Clock.Clock,
    restore: Restore,
    telemetry: CallTelemetry,
    attempt: (context: AttemptContext) => Effect.Effect<A, E, R>
  ) {
    this.endpoint = endpoint
    this.policy = policy
    this.restore = restore
    this.telemetry = telemetry
    this.attempt = attempt
    this.clock = clock
    this.startedAt = this.pausedAt = this.now()
  }

  limitTimeout(millis: number): number {
    return this.attempts === 1 ? millis : Math.min(millis, this.timeLeft())
  }

  pause(): void {
    this.pausedAt = this.now()
    this.telemetry.waitStarted()
  }

  resume(): void {
    const waited = this.now() - this.pausedAt
    this.startedAt += waited
    this.telemetry.waitEnded(waited)
  }

  run(): Effect.Effect<A, E, R> {
    // Suspended, so that a waiting attempt does not retain how it obtained its token.
    return Effect.matchEffect(Effect.suspend(() => this.attempt(this)), {
      onFailure: (error) => {
        const notSent = wasNotSent(error)
        const result = notSent && this.uncertain !== undefined ? this.uncertain : Effect.fail(error)
        if (!notSent) this.uncertain = result
        return this.isLast || !canRetryFailure(this.endpoint, error) ? result : this.retry(result)
      },
      onSuccess: (response) => {
        const result = Effect.succeed(response)
        if (response.status !== 429) this.uncertain = result
        return this.isLast || !canRetryResponse(this.endpoint, response)
          ? result
          : this.retry(result, ResponseHeaders.retryAfter(response.headers, this.clock.unsafeCurrentTimeMillis()))
      }
    })
  }

  /** Waits and makes the next attempt, or gives the last result if the wait would take too long. */
  private retry(lastResult: Effect.Effect<A, E>, retryAfter?: Duration.Duration): Effect.Effect<A, E, R> {
    return Effect.flatMap(backoff(this.policy, this.attempts, retryAfter), (millis) => {
      if (millis >= this.timeLeft()) return lastResult
      this.attempts++
      return Effect.flatMap(this.telemetry.backoff(millis, this.restore(Effect.sleep(millis))), () => this.run())
    })
  }

  private get isLast(): boolean {
    return this.attempts >= this.policy.attempts
  }

  private timeLeft(): number {
    return Duration.toMillis(this.policy.totalTime) - (this.now() - this.startedAt)
  }

  private now(): number {
    return monotonicMillis(this.clock) // the time of day may be set back meanwhile
  }
}
