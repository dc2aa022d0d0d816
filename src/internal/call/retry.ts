/** Retries a call as its retry policy allows. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Any } from "../../Endpoint.js"
import type { TransportError } from "../../Errors.js"
import type { RawResponse } from "../http/rawExchange.js"
import * as ResponseHeaders from "../http/responseHeaders.js"
import { backoff } from "../runtime/backoff.js"
import type { Restore } from "../runtime/fiber.js"
import { monotonicMillis } from "../runtime/monotonicClock.js"
import type { CallTelemetry } from "../telemetry/callTelemetry.js"
import { openCode } from "./circuit.js"
import type { Guards } from "./guards.js"
import {
  type AttemptFailure,
  canRetryFailure,
  canRetryResponse,
  failureShowsOutage,
  type Policy,
  responseShowsOutage
} from "./retryPolicy.js"
import { transportError } from "./transportError.js"

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
  /** Checks that the attempt may be sent: while it waited the client's circuit may have opened. */
  readonly maySend: () => boolean
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
  private readonly guards: Guards
  private attempts = 1
  /** The start of the last attempt, its duration, and its number in the circuit. */
  private beganAt = 0
  private took = 0
  private entered: number | undefined
  /** The start of the call, moved forward by its pauses. */
  private startedAt: number
  private pausedAt: number
  /**
   * The result of the last attempt that the service may have carried out. It remains the result of the call if all later
   * attempts were not sent.
   */
  private uncertain: Effect.Effect<A, E | TransportError> | undefined

  constructor(
    endpoint: Any,
    policy: Policy,
    clock: Clock.Clock,
    restore: Restore,
    telemetry: CallTelemetry,
    guards: Guards,
    attempt: (context: AttemptContext) => Effect.Effect<A, E, R>
  ) {
    this.endpoint = endpoint
    this.policy = policy
    this.restore = restore
    this.telemetry = telemetry
    this.attempt = attempt
    this.clock = clock
    this.guards = guards
    this.startedAt = this.pausedAt = this.now()
    guards.budget?.callStarted()
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

  maySend(): boolean {
    return this.entered === undefined || this.guards.circuit?.allows(this.entered) !== false
  }

  run(): Effect.Effect<A, E | TransportError, R> {
    // Suspended, so that a waiting attempt does not retain how it obtained its token.
    return Effect.matchEffect(Effect.suspend(() => this.begin()), {
      onFailure: (error) => {
        this.attemptEnded(failureShowsOutage(error))
        const notSent = wasNotSent(error)
        const result = notSent && this.uncertain !== undefined ? this.uncertain : Effect.fail(error)
        if (!notSent) this.uncertain = result
        return this.isLast || !canRetryFailure(this.endpoint, error) ? result : this.retry(result)
      },
      onSuccess: (response) => {
        this.attemptEnded(responseShowsOutage(response))
        const result = Effect.succeed(response)
        if (response.status !== 429) this.uncertain = result
        if (this.isLast || !canRetryResponse(this.endpoint, response)) return result
        const retryAfter = ResponseHeaders.retryAfter(response.headers, this.clock.unsafeCurrentTimeMillis())
        if (response.status !== 429) return this.retry(result, retryAfter)
        const refusal = { operation: this.endpoint.name, attempt: this.attempts, retryAfter }
        return this.policy.retryRateLimited?.(refusal) === false ? result : this.retry(result, retryAfter, true)
      }
    })
  }

  private begin(): Effect.Effect<A, E | TransportError, R> {
    const { circuit } = this.guards
    if (circuit !== undefined || this.guards.budget !== undefined) this.beganAt = this.now()
    this.entered = circuit?.enter(this.beganAt)
    return circuit !== undefined && this.entered === undefined
      ? transportError(this.endpoint.name, this.guards.tenant, "not-sent", openCode)
      : this.attempt(this)
  }

  /** Reports the end of an attempt to the client's other calls. */
  private attemptEnded(isDown: boolean | undefined): void {
    this.took = this.now() - this.beganAt
    if (isDown === undefined) return
    const { budget, circuit } = this.guards
    budget?.attemptEnded(this.endpoint.name, this.beganAt, isDown)
    if (this.entered !== undefined) circuit?.attemptEnded(this.entered, isDown, this.now())
  }

  /** Waits and makes the next attempt, or gives the last result if the wait would take too long. */
  private retry(
    lastResult: Effect.Effect<A, E | TransportError>,
    retryAfter?: Duration.Duration,
    isFree = false,
    skipped = 0
  ): Effect.Effect<A, E | TransportError, R> {
    return Effect.flatMap(backoff(this.policy, this.attempts, retryAfter), (wait) => {
      const millis = wait + skipped
      if (millis >= this.timeLeft()) return lastResult
      this.attempts++
      return Effect.flatMap(
        this.telemetry.backoff(millis, this.restore(Effect.sleep(millis))),
        () => isFree ? this.run() : this.runWithinBudget(lastResult)
      )
    })
  }

  /** Makes the next attempt if the budget has a retry left. Otherwise skips it; only the last one waits. */
  private runWithinBudget(lastResult: Effect.Effect<A, E | TransportError>): Effect.Effect<A, E | TransportError, R> {
    const { budget } = this.guards
    if (budget === undefined || budget.take(this.now())) return this.run()
    // A skipped attempt counts, and adds the duration of the attempt before it to the wait. Otherwise the last attempt would be made
    // earlier than without a budget.
    if (!this.isLast) return this.retry(lastResult, undefined, false, this.took)
    const verdict = budget.verdict(this.endpoint.name, () => this.now(), this.now() + this.timeLeft())
    return Effect.flatMap(this.restore(verdict), (isAllowed) => isAllowed ? this.run() : lastResult)
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
