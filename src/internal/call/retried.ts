/** Retried: a call is attempted until it has a final result, its policy allows no more, or the next wait would exceed its total time. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { TransportError } from "../../Errors.js"
import * as ResponseHeaders from "../http/responseHeaders.js"
import { backoff } from "../runtime/backoff.js"
import { type AuthorizedResponse, now, type RunningCall, type Stage, timeLeft } from "./call.js"
import { queueOf } from "./guarded.js"
import type { RetryBudget } from "./retryBudget.js"
import { canRetryFailure, canRetryResponse, isRateLimited, type AttemptFailure } from "./retryPolicy.js"

type Result = Effect.Effect<AuthorizedResponse, AttemptFailure>

const wasNotSent = (error: AttemptFailure): boolean => error._tag !== "TransportError" || error.outcome === "not-sent"

export const retried =
  (budget: RetryBudget | undefined): Stage<RunningCall, AuthorizedResponse> => (next) => (call) => {
    const { clock, endpoint, notes, policy, telemetry, wait } = call
    budget?.callStarted()
    const isLast = (nth: number): boolean => !(nth < policy.attempts) // also if that is not a number
    /**
     * The result of the last attempt that the service may have carried out. It remains the result of the call if all later
     * attempts were not sent, or were refused with 429: their results would say that nothing was carried out. To read twice does no
     * harm: a GET that was refused last keeps the refusal, with the time to wait.
     */
    let uncertain: Result | undefined

    const attempt = (nth: number): Result =>
      Effect.matchEffect(next(nth === 1 ? call : { ...call, attempt: nth }), {
        onFailure: (error) => {
          const notSent = wasNotSent(error)
          const result = notSent && uncertain !== undefined ? uncertain : Effect.fail(error)
          if (!notSent) uncertain = result
          return isLast(nth) || !canRetryFailure(endpoint, error) ? result : retry(nth, result)
        },
        onSuccess: (response) => {
          const isRefused = isRateLimited(response)
          const earlier = isRefused && endpoint.method !== "GET" ? uncertain : undefined
          const result = earlier ?? Effect.succeed(response)
          if (!isRefused) uncertain = result
          if (isLast(nth) || !canRetryResponse(endpoint, response)) return result
          const retryAfter = ResponseHeaders.retryAfter(response.headers, clock.unsafeCurrentTimeMillis())
          const refusal = { operation: endpoint.name, attempt: nth, retryAfter }
          const isGivenUp = isRefused && policy.retryRateLimited?.(refusal) === false
          return isGivenUp ? result : retry(nth, result, retryAfter)
        }
      })

    /** Waits and makes the next attempt, or gives the last result if the wait would take too long. */
    const retry = (
      nth: number,
      last: Result,
      retryAfter?: Duration.Duration,
      took = now(call) - notes.sentAt
    ): Result =>
      Effect.flatMap(backoff(policy, nth, retryAfter), (millis) => {
        if (millis >= timeLeft(call)) return last
        const pause = wait(Effect.sleep(millis))
        return budget === undefined || budget.take()
          ? after(telemetry.backoff(millis, pause), () => attempt(nth + 1))
          : after(
            telemetry.retryDeferred(budget.shouldWarn(), pause),
            () => retryBeyond(budget, nth + 1, last, retryAfter, took)
          )
      })

    /**
     * Waits for the budget and makes the next attempt, or skips it if it would be in vain. An attempt that is skipped counts as one that
     * took as long as the one before it, and had the same result. All this does not count towards the total time.
     */
    const retryBeyond = (
      budget: RetryBudget,
      nth: number,
      last: Result,
      retryAfter: Duration.Duration | undefined,
      took: number
    ): Result => {
      const since = now(call)
      return after(wait(budget.wait(queueOf(call), Math.min(notes.timeout, timeLeft(call)))), (isAllowed) => {
        const waited = now(call) - since
        notes.startedAt += waited
        if (isAllowed) {
          telemetry.retryAllowed(waited)
          return attempt(nth)
        }
        telemetry.retrySkipped()
        if (isLast(nth)) return last
        const rest = Math.max(0, took - waited)
        notes.startedAt += rest
        return after(wait(Effect.sleep(rest)), () => retry(nth, last, retryAfter, took))
      })
    }

    /** Continues after a wait. If the client closes meanwhile, the call ends as it does when its next attempt is not sent. */
    const after = <B>(pause: Effect.Effect<B, TransportError>, then: (result: B) => Result): Result =>
      Effect.matchEffect(pause, {
        onFailure: (closed) => uncertain ?? Effect.fail(closed),
        onSuccess: then
      })

    return attempt(1)
  }
