/** One call, sent again as its policy has it. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Any } from "../Endpoint.js"
import type { RateLimited, TokenError, TransportError } from "../Errors.js"
import type { Policy } from "../Retry.js"
import { backoff } from "./backoff.js"
import * as Headers from "./headers.js"
import type * as Http from "./http.js"
import * as Response from "./response.js"

/** What an attempt knows of the call that it is for. */
export interface Turn {
  /** How long the attempt may take, in milliseconds, if it may take so many by itself. */
  readonly limit: (millis: number) => number
  /** From here to `resume` the time is not counted. */
  readonly pause: () => void
  readonly resume: () => void
}

/** Whether an answer allows to send the call again. */
const allows = (endpoint: Any, { end, redirected, status }: Http.Received): boolean =>
  status === 429 || (endpoint.repeat === "safe" && !redirected && (
    status === 408 || status >= 500 || (Response.isDecoded(endpoint, status) && end === "broken")
  ))

/** Whether a failure allows to send the call again. Tokens and the limiter have policies of their own. */
const permits = (endpoint: Any, error: TokenError | TransportError | RateLimited): boolean =>
  error._tag === "TransportError" && error.code !== "CLOSED" &&
  (error.outcome === "not-sent" || endpoint.repeat === "safe")

/** Makes attempts until one settles the call, none is left, or the wait would take longer than what is left of the time. */
export const around = <A extends Http.Received, E extends TokenError | TransportError | RateLimited, R>(
  endpoint: Any,
  policy: Policy,
  clock: Clock.Clock,
  attempt: (turn: Turn) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const now = () => clock.unsafeCurrentTimeMillis()
    let notBefore = now() // when the call would have begun without its pauses
    let pausedAt = notBefore
    const left = () => Duration.toMillis(policy.totalTime) - (now() - notBefore)

    const turn = (nth: number): Turn => ({
      limit: (millis) => nth === 1 ? millis : Math.min(millis, left()),
      pause: () => {
        pausedAt = now()
      },
      resume: () => {
        notBefore += now() - pausedAt
      }
    })

    const again = (nth: number, result: Effect.Effect<A, E>, retryAfter?: Duration.Duration) =>
      Effect.flatMap(backoff(policy, nth, retryAfter), (wait) =>
        wait >= left() ? result : Effect.zipRight(Effect.sleep(wait), loop(nth + 1)))

    // What the last attempt came to that the service may have carried out. One that sent nothing does not undo it.
    let doubtful: Effect.Effect<A, E> | undefined
    const sentNothing = (error: E) =>
      error._tag !== "TransportError" || error.outcome === "not-sent"

    const loop = (nth: number): Effect.Effect<A, E, R> =>
      Effect.matchEffect(attempt(turn(nth)), {
        onFailure: (error) => {
          const result = sentNothing(error) && doubtful !== undefined ? doubtful : Effect.fail(error)
          if (!sentNothing(error)) {
            doubtful = result
          }
          return nth < policy.attempts && permits(endpoint, error) ? again(nth, result) : result
        },
        onSuccess: (answer) => {
          const result = Effect.succeed(answer)
          if (answer.status !== 429) {
            doubtful = result
          }
          return nth < policy.attempts && allows(endpoint, answer)
            ? again(nth, result, Headers.retryAfter(answer.headers, now()))
            : result
        }
      })

    return loop(1)
  })
