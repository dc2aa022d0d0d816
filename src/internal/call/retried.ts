/** Retried: a call is attempted until it has a final result, its policy allows no more, or the next wait would exceed its total time. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ResponseHeaders from "../http/responseHeaders.js"
import { backoff } from "../runtime/backoff.js"
import { type AuthorizedResponse, now, type RunningCall, type Stage, timeLeft } from "./call.js"
import type { RetryBudget } from "./retryBudget.js"
import { type AttemptFailure, canRetryFailure, canRetryResponse, isRateLimited } from "./retryPolicy.js"
import { wait } from "./wait.js"

type Result = Effect.Effect<AuthorizedResponse, AttemptFailure>

const wasNotSent = (error: AttemptFailure): boolean => error._tag !== "TransportError" || error.outcome === "not-sent"

const isLast = ({ attempt, policy }: RunningCall): boolean => !(attempt < policy.attempts) // also if that is not a number

export const retried = (budget: RetryBudget | undefined): Stage<RunningCall, AuthorizedResponse> => (next) => {
  /**
   * `uncertain` is the result of the last attempt that the service may have carried out. It remains the result of the call if all later
   * attempts were not sent, or were refused with 429: their results would say that nothing was carried out. To read twice does no
   * harm: a GET that was refused last keeps the refusal, with the time to wait.
   */
  const attempt = (call: RunningCall, uncertain?: Result): Result =>
    Effect.matchEffect(next(call), {
      onFailure: (error) => {
        const failed = Effect.fail(error)
        const result = wasNotSent(error) ? uncertain ?? failed : failed
        if (isLast(call) || !canRetryFailure(call.endpoint, error)) return result
        return retry(call, result, wasNotSent(error) ? uncertain : failed)
      },
      onSuccess: (response) => {
        const { clock, endpoint, operation, policy } = call
        const succeeded = Effect.succeed(response)
        const isRefused = isRateLimited(response)
        const result = isRefused && endpoint.method !== "GET" ? uncertain ?? succeeded : succeeded
        if (isLast(call) || !canRetryResponse(endpoint, response)) return result
        const retryAfter = ResponseHeaders.retryAfter(response.headers, clock.unsafeCurrentTimeMillis())
        const isGivenUp = isRefused &&
          policy.retryRateLimited?.({ operation, attempt: call.attempt, retryAfter }) === false
        return isGivenUp ? result : retry(call, result, isRefused ? uncertain : succeeded, retryAfter)
      }
    })

  /** Waits and makes the next attempt, or gives the last result if the wait would take too long, or no retry is left. */
  const retry = (call: RunningCall, last: Result, uncertain?: Result, retryAfter?: Duration.Duration): Result =>
    Effect.flatMap(backoff(call.policy, call.attempt, retryAfter), (millis) => {
      const { telemetry } = call
      if (millis >= timeLeft(call)) return last
      if (budget?.take(now(call)) === false) {
        telemetry.retrySkipped(budget.shouldWarn(now(call)))
        return last
      }
      // If the client closes meanwhile, the call ends as it does when its next attempt is not sent.
      return Effect.matchEffect(telemetry.backoff(millis, wait(call, Effect.sleep(millis))), {
        onFailure: (closed) => uncertain ?? Effect.fail(closed),
        onSuccess: () => attempt({ ...call, attempt: call.attempt + 1 }, uncertain)
      })
    })

  return (call) => {
    budget?.callStarted()
    return attempt(call)
  }
}
