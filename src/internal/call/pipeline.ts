/** The steps of one attempt, each around the next: a token, a permit of the rate limiter, an exchange with the service. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import { type RateLimited, TokenError, type TransportError } from "../../Errors.js"
import type { Exchange } from "../http/exchange.js"
import { type BodyLimit, NoResponse, type RawRequest, type RawResponse } from "../http/rawExchange.js"
import type { Call, Limiter } from "../limiter/limiter.js"
import type { TimeLimit } from "../runtime/timeouts.js"
import type { Tokens } from "../token/cache.js"
import type { AccessToken } from "../token/issuedToken.js"
import { isValidToken } from "../token/tokenResponse.js"
import { openCode } from "./circuit.js"
import { unclaimedCode } from "./claim.js"
import type { AttemptContext } from "./retryLoop.js"
import { transportError } from "./transportError.js"

/** A response, and the token of its request, which errors must not repeat. */
export interface AuthorizedResponse extends RawResponse {
  readonly token: Redacted.Redacted
}

/** Headers by token: to validate and join a token of 1 kB costs 0.4 of the 10 µs of a call (`npm run bench:telemetry`, no network). */
const authorizations = new WeakMap<Redacted.Redacted, string>()

/** The value of the header `authorization`, unless it cannot carry the token. */
const authorizationOf = (operation: string, token: AccessToken): Effect.Effect<string, TokenError> => {
  const text = Redacted.value(token) // throws if the token has been wiped
  const known = authorizations.get(token)
  if (known !== undefined) return Effect.succeed(known)
  const message = "the token is empty or contains characters that a header cannot contain"
  if (!isValidToken(text)) return new TokenError({ operation, message })
  const authorization = `${token.scheme ?? "Bearer"} ${text}`
  authorizations.set(token, authorization)
  return Effect.succeed(authorization)
}

/** Gives the header with a token to `use`, after a wait of this number of milliseconds. */
export type WithToken = <E>(
  waited: number,
  use: (authorization: string) => Effect.Effect<RawResponse, E>
) => Effect.Effect<AuthorizedResponse, E | TokenError | TransportError>

/** The number of times that a call is sent at most because the service refuses its token. */
const mostTokens = 3

/** After a longer wait, in milliseconds, the token is read again: it may have expired in a limiter's queue. */
const longWait = 1000

/**
 * Sends a request with a token. It is read before the wait for a permit, because calls that have their permits and wait for a token would
 * all be sent at once when it comes; and again after a long wait. If the service refuses it, which carries nothing out, sends the request
 * again with another token; a third time only if the second was no longer the provider's own by then.
 */
export const authorized = <E>(
  tokens: Tokens,
  operation: string,
  attempt: AttemptContext,
  send: (withToken: WithToken) => Effect.Effect<AuthorizedResponse, E>
): Effect.Effect<AuthorizedResponse, E | TokenError | TransportError> => {
  const get = Effect.mapError(
    attempt.wait(tokens.get),
    (error) => error._tag === "TokenError" ? new TokenError({ ...error, operation, message: error.message }) : error
  )
  const using = (first: AccessToken): WithToken => (waited, use) =>
    Effect.flatMap(
      waited < longWait ? Effect.succeed(first) : get,
      // Field by field: `{ ...response, token }` costs 2 of the 50 µs of a call (`npm run bench`).
      (token) =>
        Effect.flatMap(authorizationOf(operation, token), (authorization) =>
          Effect.map(use(authorization), ({ body, completeness, headers, redirected, status }) => ({
            status,
            headers,
            body,
            completeness,
            redirected,
            token
          })))
    )
  const sendNth = (
    nth: number,
    token: AccessToken
  ): Effect.Effect<AuthorizedResponse, E | TokenError | TransportError> =>
    Effect.flatMap(send(using(token)), (response) => {
      if (response.status !== 401 || response.redirected || nth === mostTokens) return Effect.succeed(response)
      const invalidated = nth === 1 ? attempt.wait(tokens.invalidate(response.token)) : Effect.void
      return Effect.flatMap(Effect.zipRight(invalidated, get), (other) => {
        if (Redacted.value(other) === Redacted.value(response.token)) return Effect.succeed(response)
        attempt.telemetry.tokenReplaced()
        return sendNth(nth + 1, other)
      })
    })
  return Effect.flatMap(get, (token) => Effect.zipRight(authorizationOf(operation, token), sendNth(1, token)))
}

/** Sends the request of an attempt, unless its claim fails or the circuit is open. `send` receives the headers of its trace. */
export type Begin = <E>(
  send: (traceHeaders: Readonly<Record<string, string>> | undefined) => Effect.Effect<RawResponse, E>
) => Effect.Effect<RawResponse, E | TransportError>

/**
 * Waits for the limiter, tells `send` for how many milliseconds, and lets the limiter learn from how it ends. The wait does not count
 * towards the total time. Must run in an uninterruptible region.
 */
export const permitted = <A extends RawResponse, E>(
  limiter: Limiter,
  call: Call,
  attempt: AttemptContext,
  send: (begin: Begin, waited: number) => Effect.Effect<A, E>
): Effect.Effect<A, E | RateLimited | TransportError> => {
  attempt.pause()
  let [isWaiting, hasBegun] = [true, false]
  let ended: Exit.Exit<A, E> | undefined
  const notSent = (code: string) => transportError(call.operation, call.tenant, "not-sent", code)
  const begin: Begin = <E>(request: Parameters<typeof attempt.telemetry.attempt<RawResponse, E>>[0]) => {
    const unlessOpen = (): Effect.Effect<RawResponse, E | TransportError> => {
      if (!attempt.maySend()) return notSent(openCode)
      hasBegun = true
      return attempt.telemetry.attempt(request)
    }
    return attempt.claim === undefined
      ? unlessOpen()
      : Effect.flatMap(attempt.wait(attempt.claim), (mayGoOn) => mayGoOn ? unlessOpen() : notSent(unclaimedCode))
  }
  // Suspended, so that the limiter learns of it even if a tracer throws.
  const sent = Effect.suspend(() => {
    isWaiting = false
    return send(begin, attempt.resume())
  })
  const limited = Effect.suspend(() =>
    limiter.limit(call)(Effect.uninterruptible(Effect.matchCauseEffect(sent, {
      onFailure: (cause): Effect.Effect<never, E | TransportError> => {
        ended = Exit.failCause(cause)
        // An interruption would not tell the limiter that nothing was sent.
        return hasBegun || Cause.isDie(cause) ? Effect.failCause(cause) : notSent("INTERRUPTED")
      },
      onSuccess: (response) => ended = Exit.succeed(response)
    })))
  )
  return Effect.matchCauseEffect(attempt.wait(limited, () => ended), {
    onFailure: (cause) => {
      if (isWaiting) attempt.resume()
      return ended !== undefined && Exit.isFailure(ended) ? ended : Effect.failCause(cause)
    },
    onSuccess: (response) => {
      // After a redirect, status and headers may be those of another service.
      if (!response.redirected) attempt.telemetry.responseReceived(response)
      return Effect.succeed(response)
    }
  })
}

/** Sends one request and reads the response. The time-out, in milliseconds, covers both. */
export const exchange = (
  send: Exchange,
  { operation, tenant }: Call,
  request: RawRequest,
  bodyLimit: BodyLimit,
  time: TimeLimit
): Effect.Effect<RawResponse, TransportError> =>
  Effect.catchAllCause(
    time.millis <= 0
      ? new NoResponse({ outcome: "not-sent", code: "TIMEOUT" })
      : send(request, bodyLimit, time),
    (cause) =>
      Effect.failCause(Cause.map(cause, ({ code, outcome }) => transportError(operation, tenant, outcome, code)))
  )
