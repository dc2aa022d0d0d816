/** Retries a call as its retry policy allows. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Any } from "../../Endpoint.js"
import type { TransportError } from "../../Errors.js"
import type { RawResponse } from "../http/rawExchange.js"
import * as ResponseHeaders from "../http/responseHeaders.js"
import { isBackgroundWork } from "../limiter/backgroundWork.js"
import { backoff } from "../runtime/backoff.js"
import * as FiberAccess from "../runtime/fiber.js"
import { monotonicMillis } from "../runtime/monotonicClock.js"
import type { CallTelemetry } from "../telemetry/callTelemetry.js"
import { openCode } from "./circuit.js"
import { currentClaim } from "./claim.js"
import type { Guards } from "./guards.js"
import type { RetryBudget } from "./retryBudget.js"
import {
  type AttemptFailure,
  canRetryFailure,
  canRetryResponse,
  failureShowsOutage,
  isRateLimited,
  type Policy,
  responseShowsOutage
} from "./retryPolicy.js"
import type { Wait } from "./runningCalls.js"
import { transportError } from "./transportError.js"

/** The part of a call that its attempts use. */
export interface AttemptContext {
  readonly wait: Wait
  readonly telemetry: CallTelemetry
  /** Limits a time-out of the attempt to what is left of the total time, in milliseconds. */
  readonly limitTimeout: (millis: number) => number
  /** Stops the total time while the attempt waits for a permit. */
  readonly pause: () => void
  /** Returns the milliseconds that the attempt has waited. */
  readonly resume: () => number
  /** Checks that the attempt may be sent: while it waited the client's circuit may have opened. */
  readonly maySend: () => boolean
  /** The claim of the call, if it has one; it gives false if nothing may be sent. */
  readonly claim: Effect.Effect<boolean> | undefined
}

const wasNotSent = (error: AttemptFailure): boolean => error._tag !== "TransportError" || error.outcome === "not-sent"

/**
 * Makes attempts until one has a final result, the policy allows no more of them, or the next wait would exceed the total
 * time. Must run in an uninterruptible region; `wait` makes the waits interruptible.
 */
export class RetryLoop<A extends RawResponse, E extends AttemptFailure, R> implements AttemptContext {
  private readonly endpoint: Any
  private readonly policy: Policy
  private readonly fiber: FiberAccess.AnyFiber
  readonly wait: Wait
  readonly telemetry: CallTelemetry
  readonly claim: Effect.Effect<boolean> | undefined
  private readonly attempt: (context: AttemptContext) => Effect.Effect<A, E, R>
  private readonly clock: Clock.Clock
  private readonly guards: Guards
  private attempts = 1
  /** The numbers of the attempt in the retry budget and in the circuit. */
  private nth = 0
  private entered: number | undefined
  /** The start of the call, moved forward by its pauses. */
  private startedAt: number
  private pausedAt: number
  /** The time at which the attempt got its permit, and the time that it then had, which is the time-out or less. */
  private sentAt = 0
  private timeLimit = Infinity
  private timeout = Infinity
  /**
   * The result of the last attempt that the service may have carried out. It remains the result of the call if all later
   * attempts were not sent, or were refused with 429: their results would say that nothing was carried out. To read twice does no
   * harm: a GET that was refused last keeps the refusal, with the time to wait.
   */
  private uncertain: Effect.Effect<A, E | TransportError> | undefined

  constructor(
    endpoint: Any,
    policy: Policy,
    fiber: FiberAccess.AnyFiber,
    wait: Wait,
    telemetry: CallTelemetry,
    guards: Guards,
    attempt: (context: AttemptContext) => Effect.Effect<A, E, R>
  ) {
    this.endpoint = endpoint
    this.policy = policy
    this.fiber = fiber
    this.wait = wait
    this.telemetry = telemetry
    this.attempt = attempt
    this.clock = FiberAccess.clockOf(fiber)
    this.claim = FiberAccess.settingOf(fiber, currentClaim)
    this.guards = guards
    this.startedAt = this.pausedAt = this.now()
    guards.budget?.callStarted()
  }

  limitTimeout(millis: number): number {
    this.timeout = millis
    this.timeLimit = this.attempts === 1 ? millis : Math.min(millis, this.timeLeft())
    return this.timeLimit
  }

  pause(): void {
    this.pausedAt = this.now()
    this.telemetry.waitStarted()
  }

  resume(): number {
    this.sentAt = this.now()
    const waited = this.sentAt - this.pausedAt
    this.startedAt += waited
    this.telemetry.waitEnded(waited)
    return waited
  }

  maySend(): boolean {
    const { circuit } = this.guards
    if (circuit === undefined) return true
    this.entered = circuit.enter(this.now(), this.entered)
    if (this.entered === undefined) this.telemetry.refusedByCircuit()
    return this.entered !== undefined
  }

  run(): Effect.Effect<A, E | TransportError, R> {
    // Suspended, so that a waiting attempt does not retain how it obtained its token.
    return Effect.matchEffect(Effect.suspend(() => this.begin()), {
      onFailure: (error) => {
        this.attemptEnded(failureShowsOutage(error), "code" in error && error.code === "TIMEOUT")
        const notSent = wasNotSent(error)
        const result = notSent && this.uncertain !== undefined ? this.uncertain : Effect.fail(error)
        if (!notSent) this.uncertain = result
        return this.isLast || !canRetryFailure(this.endpoint, error) ? result : this.retry(result)
      },
      onSuccess: (response) => {
        this.attemptEnded(responseShowsOutage(response))
        const isRefused = isRateLimited(response)
        const earlier = isRefused && this.endpoint.method !== "GET" ? this.uncertain : undefined
        const result = earlier ?? Effect.succeed(response)
        if (!isRefused) this.uncertain = result
        if (this.isLast || !canRetryResponse(this.endpoint, response)) return result
        const retryAfter = ResponseHeaders.retryAfter(response.headers, this.clock.unsafeCurrentTimeMillis())
        const refusal = { operation: this.endpoint.name, attempt: this.attempts, retryAfter }
        const isGivenUp = isRefused && this.policy.retryRateLimited?.(refusal) === false
        return isGivenUp ? result : this.retry(result, retryAfter)
      }
    })
  }

  private begin(): Effect.Effect<A, E | TransportError, R> {
    this.nth = this.guards.budget?.attemptStarted() ?? 0
    this.entered = undefined
    return this.maySend()
      ? this.attempt(this)
      : transportError(this.endpoint.name, this.guards.tenant, "not-sent", openCode)
  }

  /** Reports the end of an attempt to the client's other calls; `isTimeout`: its own time was up. */
  private attemptEnded(isDown: boolean | undefined, isTimeout = false): void {
    if (isDown === undefined) return
    const { budget, circuit } = this.guards
    if (isDown) budget?.attemptFailed(this.queue, this.nth, isTimeout ? this.timeLimit : undefined)
    else budget?.endOutage()
    if (this.entered === undefined || circuit?.attemptEnded(this.entered, isDown, this.now()) !== true) return
    if (!isDown) return this.telemetry.circuitClosed()
    budget?.endOutage() // retries that wait fail at once, as all calls do now
    this.telemetry.circuitOpened(circuit.failures)
  }

  /** Waits and makes the next attempt, or gives the last result if the wait would take too long. */
  private retry(
    lastResult: Effect.Effect<A, E | TransportError>,
    retryAfter?: Duration.Duration,
    took = this.now() - this.sentAt
  ): Effect.Effect<A, E | TransportError, R> {
    return Effect.flatMap(backoff(this.policy, this.attempts, retryAfter), (millis) => {
      if (millis >= this.timeLeft()) return lastResult
      this.attempts++
      const { budget } = this.guards
      const wait = this.wait(Effect.sleep(millis))
      if (budget === undefined || budget.take()) {
        return this.after(this.telemetry.backoff(millis, wait), () => this.run())
      }
      return this.after(
        this.telemetry.retryDeferred(budget.shouldWarn(), wait),
        () => this.retryBeyond(budget, lastResult, retryAfter, took)
      )
    })
  }

  /**
   * Waits for the budget and makes the next attempt, or skips it if it would be in vain. An attempt that is skipped counts as one that
   * took as long as the one before it, and had the same result. All this does not count towards the total time.
   */
  private retryBeyond(
    budget: RetryBudget,
    lastResult: Effect.Effect<A, E | TransportError>,
    retryAfter: Duration.Duration | undefined,
    took: number
  ): Effect.Effect<A, E | TransportError, R> {
    const since = this.now()
    const timeLimit = Math.min(this.timeout, this.timeLeft())
    return this.after(this.wait(budget.wait(this.queue, timeLimit)), (isAllowed) => {
      const waited = this.now() - since
      this.startedAt += waited
      if (isAllowed) {
        this.telemetry.retryAllowed(waited)
        return this.run()
      }
      this.telemetry.retrySkipped()
      if (this.isLast) return lastResult
      const rest = Math.max(0, took - waited)
      this.startedAt += rest
      return this.after(this.wait(Effect.sleep(rest)), () => this.retry(lastResult, retryAfter, took))
    })
  }

  /** Continues after a wait. If the client closes meanwhile, the call ends as it does when its next attempt is not sent. */
  private after<B>(
    wait: Effect.Effect<B, TransportError>,
    next: (result: B) => Effect.Effect<A, E | TransportError, R>
  ): Effect.Effect<A, E | TransportError, R> {
    return Effect.matchEffect(wait, {
      onFailure: (closed) => this.uncertain ?? Effect.fail(closed),
      onSuccess: next
    })
  }

  /** The limiter's queue of this call: its attempts get their permits in the order of their numbers. */
  private get queue(): string {
    return `${this.endpoint.name}${FiberAccess.settingOf(this.fiber, isBackgroundWork) ? " (background)" : ""}`
  }

  private get isLast(): boolean {
    return !(this.attempts < this.policy.attempts) // also if that is not a number
  }

  private timeLeft(): number {
    return Duration.toMillis(this.policy.totalTime) - (this.now() - this.startedAt)
  }

  private now(): number {
    return monotonicMillis(this.clock) // the time of day may be set back meanwhile
  }
}
