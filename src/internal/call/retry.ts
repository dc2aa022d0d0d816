/** One call, sent again as its policy has it. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Any } from "../../Endpoint.js"
import type { RateLimited, TokenError, TransportError } from "../../Errors.js"
import type { Policy } from "../../Retry.js"
import type * as Http from "../http/exchange.js"
import * as Headers from "../http/headers.js"
import * as Response from "../http/responseDecoder.js"
import { backoff } from "../runtime/backoff.js"
import { type AnyFiber, clockOf, type Restore } from "../runtime/fiber.js"
import type { CallTelemetry } from "../telemetry/callTelemetry.js"

/** What an attempt knows of the call that it is for. */
export interface AttemptContext {
  /** The fiber that makes the call. */
  readonly fiber: AnyFiber
  /** Where the attempt waits it can be interrupted. */
  readonly restore: Restore
  /** Who is told how it goes. */
  readonly watch: CallTelemetry
  /** How long the attempt may take, in milliseconds, if it may take so many by itself. */
  readonly limit: (millis: number) => number
  /** From here to `resume` it waits for the limiter, and the time is not counted. */
  readonly pause: () => void
  readonly resume: () => void
}

/** Whether an answer allows to send the call again. */
const allows = (endpoint: Any, { completeness, redirected, status }: Http.RawResponse): boolean =>
  status === 429 || (endpoint.idempotent && !redirected && (
    status === 408 || status >= 500 || (Response.isDecoded(endpoint, status) && completeness === "interrupted")
  ))

/** Whether a failure allows to send the call again. Tokens and the limiter have policies of their own. */
const permits = (endpoint: Any, error: Failure): boolean =>
  error._tag === "TransportError" && error.code !== "CLOSED" &&
  (error.outcome === "not-sent" || endpoint.idempotent)

type Failure = TokenError | TransportError | RateLimited

const sentNothing = (error: Failure): boolean => error._tag !== "TransportError" || error.outcome === "not-sent"

/** A call on its way: the attempts that it makes, one after the other. */
class RetryLoop<A extends Http.RawResponse, E extends Failure, R> implements AttemptContext {
  readonly endpoint: Any
  readonly policy: Policy
  readonly fiber: AnyFiber
  readonly restore: Restore
  readonly watch: CallTelemetry
  readonly attempt: (turn: AttemptContext) => Effect.Effect<A, E, R>
  private readonly clock: Clock.Clock
  private nth = 1
  /** When the call would have begun without its pauses. */
  private notBefore: number
  private pausedAt: number
  /** What the last attempt came to that the service may have carried out. One that sent nothing does not undo it. */
  private doubtful: Effect.Effect<A, E> | undefined

  constructor(
    endpoint: Any,
    policy: Policy,
    fiber: AnyFiber,
    restore: Restore,
    watch: CallTelemetry,
    attempt: (turn: AttemptContext) => Effect.Effect<A, E, R>
  ) {
    this.endpoint = endpoint
    this.policy = policy
    this.fiber = fiber
    this.restore = restore
    this.watch = watch
    this.attempt = attempt
    this.clock = clockOf(fiber)
    this.notBefore = this.pausedAt = this.now()
  }

  limit(millis: number): number {
    return this.nth === 1 ? millis : Math.min(millis, this.left())
  }

  pause(): void {
    this.pausedAt = this.now()
    this.watch.waits()
  }

  resume(): void {
    const waited = this.now() - this.pausedAt
    this.notBefore += waited
    this.watch.waited(waited)
  }

  run(): Effect.Effect<A, E, R> {
    // Put off: while the attempt waits, nothing is kept of how it has got its token.
    return Effect.matchEffect(Effect.suspend(() => this.attempt(this)), {
      onFailure: (error) => {
        const isNothing = sentNothing(error)
        const result = isNothing && this.doubtful !== undefined ? this.doubtful : Effect.fail(error)
        if (!isNothing) this.doubtful = result
        return this.isLast || !permits(this.endpoint, error) ? result : this.again(result)
      },
      onSuccess: (answer) => {
        const result = Effect.succeed(answer)
        if (answer.status !== 429) this.doubtful = result
        return this.isLast || !allows(this.endpoint, answer)
          ? result
          : this.again(result, Headers.retryAfter(answer.headers, this.now()))
      }
    })
  }

  private again(result: Effect.Effect<A, E>, retryAfter?: Duration.Duration): Effect.Effect<A, E, R> {
    return Effect.flatMap(backoff(this.policy, this.nth, retryAfter), (wait) => {
      if (wait >= this.left()) return result
      this.nth++
      return Effect.flatMap(this.watch.backsOff(wait, this.restore(Effect.sleep(wait))), () => this.run())
    })
  }

  private get isLast(): boolean {
    return this.nth >= this.policy.attempts
  }

  private left(): number {
    return Duration.toMillis(this.policy.totalTime) - (this.now() - this.notBefore)
  }

  private now(): number {
    return this.clock.unsafeCurrentTimeMillis()
  }
}

/**
 * Makes attempts until one settles the call, none is left, or the wait would take longer than what is left of the time.
 * The call and its attempts can be interrupted where they wait.
 */
export const around = <A extends Http.RawResponse, E extends Failure, R>(
  endpoint: Any,
  policy: Policy,
  fiber: AnyFiber,
  restore: Restore,
  watch: CallTelemetry,
  attempt: (turn: AttemptContext) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => new RetryLoop(endpoint, policy, fiber, restore, watch, attempt).run()
