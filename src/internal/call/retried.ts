/** Retried: a call is attempted until it has a final result, its policy allows no more, or the next wait would exceed its total time. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ResponseHeaders from "../http/responseHeaders.js"
import { backoff } from "../runtime/backoff.js"
import { type AuthorizedResponse, now, type RunningCall, type Stage, timeLeft } from "./call.js"
import type { RetryBudget } from "./retryBudget.js"
import { type AttemptFailure, canRetryFailure, canRetryResponse, isRateLimited } from "./retryPolicy.js"

type Result = Effect.Effect<AuthorizedResponse, AttemptFailure>

const wasNotSent = (error: AttemptFailure): boolean => error._tag !== "TransportError" || error.outcome === "not-sent"

export const retried =
  (budget: RetryBudget | undefined): Stage<RunningCall, AuthorizedResponse> => (next) => (call) => {
    const { clock, endpoint, policy, telemetry, wait } = call
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

    /** Waits and makes the next attempt, or gives the last result if the wait would take too long, or no retry is left. */
    const retry = (nth: number, last: Result, retryAfter?: Duration.Duration): Result =>
      Effect.flatMap(backoff(policy, nth, retryAfter), (millis) => {
        if (millis >= timeLeft(call)) return last
        if (budget?.take(now(call)) === false) {
          telemetry.retrySkipped(budget.shouldWarn(now(call)))
          return last
        }
        // If the client closes meanwhile, the call ends as it does when its next attempt is not sent.
        return Effect.matchEffect(telemetry.backoff(millis, wait(Effect.sleep(millis))), {
          onFailure: (closed) => uncertain ?? Effect.fail(closed),
          onSuccess: () => attempt(nth + 1)
        })
      })

    return attempt(1)
  }
