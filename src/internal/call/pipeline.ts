/** The steps of one attempt, each around the next: a token, the limiter's leave, an exchange with the service. */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type RateLimited, TokenError, TransportError } from "../../Errors.js"
import type { Call, RateLimiter } from "../../RateLimiter.js"
import type { TokenProvider } from "../../TokenProvider.js"
import * as Http from "../http/exchange.js"
import * as Admission from "../limiter/admission.js"
import type { Restore } from "../runtime/fiber.js"
import type { Timeouts } from "../runtime/timeouts.js"
import * as OAuth from "../token/clientCredentials.js"
import type { AttemptContext } from "./retry.js"

/** An answer, and the token of the call that it is for. */
export interface Answered extends Http.RawResponse {
  readonly token: Redacted.Redacted
}

/** The header of each token that a header can carry, made once. */
const authorizations = new WeakMap<Redacted.Redacted, string>()

const authorizationOf = (token: Redacted.Redacted): string | undefined => {
  const text = Redacted.value(token) // it throws if the token has been wiped
  const known = authorizations.get(token)
  if (known !== undefined || !OAuth.isToken(text)) return known
  const authorization = `Bearer ${text}`
  authorizations.set(token, authorization)
  return authorization
}

const withToken = <A, E>(
  tokens: Context.Tag.Service<TokenProvider>,
  operation: string,
  turn: AttemptContext,
  use: (token: Redacted.Redacted, authorization: string) => Effect.Effect<A, E>
): Effect.Effect<A, E | TokenError> =>
  Effect.matchEffect(turn.restore(tokens.get), {
    onFailure: (error) => new TokenError({ ...error, operation, message: error.message }),
    onSuccess: (token): Effect.Effect<A, E | TokenError> => {
      const authorization = authorizationOf(token)
      return authorization === undefined
        ? new TokenError({ operation, message: "the token holds characters that no header can carry" })
        : use(token, authorization)
    }
  })

const answered = (
  { body, completeness, headers, redirected, status }: Http.RawResponse,
  token: Redacted.Redacted
) => Effect.succeed<Answered>({ status, headers, body, completeness, redirected, token })

/** Makes a call with a token. Refused, it was not carried out: if there is another token, it is made once more. */
export const authorized = <E>(
  tokens: Context.Tag.Service<TokenProvider>,
  operation: string,
  turn: AttemptContext,
  send: (authorization: string) => Effect.Effect<Http.RawResponse, E>
): Effect.Effect<Answered, E | TokenError> =>
  withToken(tokens, operation, turn, (token, authorization) =>
    Effect.flatMap(
      send(authorization),
      (answer): Effect.Effect<Answered, E | TokenError> =>
        answer.status !== 401 ? answered(answer, token) : Effect.zipRight(
          turn.restore(tokens.invalidate(token)),
          withToken(tokens, operation, turn, (fresh, authorization) => {
            if (Redacted.value(fresh) === Redacted.value(token)) return answered(answer, token)
            turn.watch.replays()
            return Effect.flatMap(send(authorization), (answer) => answered(answer, fresh))
          })
        )
    ))

/**
 * Makes a call when the limiter gives leave, and then tells it of the answer, or that none came. The wait is not counted. It
 * can be interrupted where it waits, and must not be elsewhere.
 */
export const permitted = <E>(
  limiter: Context.Tag.Service<RateLimiter>,
  call: Call,
  turn: AttemptContext,
  send: (trace: Readonly<Record<string, string>> | undefined) => Effect.Effect<Http.RawResponse, E>
): Effect.Effect<Http.RawResponse, E | RateLimited> => {
  // A limiter of somebody's own may throw, and then nobody waits.
  const leave = Admission.acquire(limiter, call, turn.fiber, turn.restore)
  turn.pause()
  return Effect.matchCauseEffect(leave, {
    onFailure: (cause) => {
      turn.resume()
      return Effect.failCause(cause)
    },
    onSuccess: () => {
      turn.resume()
      return Effect.matchCauseEffect(turn.watch.attempt(send), {
        onFailure: (cause) => Effect.zipRight(limiter.observe(call, undefined), Effect.failCause(cause)),
        onSuccess: (answer) => {
          turn.watch.answered(answer)
          return Effect.as(limiter.observe(call, answer), answer)
        }
      })
    }
  })
}

/** Sends a request, once, and reads the answer. The time limit (in milliseconds) covers both. */
export const exchange = (
  http: HttpClient.HttpClient,
  operation: string,
  request: Http.RawRequest,
  options: {
    readonly bodyLimit: (status: number) => number
    readonly timeouts: Timeouts
    readonly millis: number
    readonly restore: Restore
  }
): Effect.Effect<Http.RawResponse, TransportError> =>
  Effect.catchAllCause(
    options.millis <= 0
      ? new Http.NoResponse({ outcome: "not-sent", code: "TIMEOUT" })
      : Http.exchange(http, request, options.bodyLimit, options),
    (cause) => Effect.failCause(Cause.map(cause, ({ code, outcome }) => transportError(operation, outcome, code)))
  )

/** The failure of a call that got no answer. */
export const transportError = (
  operation: string,
  outcome: TransportError["outcome"],
  code: string | undefined
): TransportError =>
  new TransportError({
    operation,
    outcome,
    message: `${outcome === "not-sent" ? "the service could not be reached" : "the service gave no answer"}${
      code === undefined ? "" : ` (${code})`
    }`,
    ...(code !== undefined && { code })
  })
