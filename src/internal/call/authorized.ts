/**
 * Authorized: each request has a token, read when it is about to be sent. If the service refuses it, which carries nothing out, the
 * request is sent again with another token, and waits like any request.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { TokenError } from "../../Errors.js"
import type { RawResponse } from "../http/rawExchange.js"
import type { Tokens } from "../token/cache.js"
import type { AccessToken } from "../token/issuedToken.js"
import { isValidToken } from "../token/tokenResponse.js"
import type { AuthorizedResponse, RunningCall, Stage } from "./call.js"

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

/** The number of times that a call is sent at most because the service refuses its token. */
const mostTokens = 3

/** After a longer wait, in milliseconds, the token is read again: it may have expired in a limiter's queue. */
const longWait = 1000

const tokenOf = (tokens: Tokens, { operation, wait }: RunningCall) =>
  Effect.mapError(
    wait(tokens.get),
    (error) => error._tag === "TokenError" ? new TokenError({ ...error, operation, message: error.message }) : error
  )

/** Sends a call with its token, or with the one that took its place during a long wait. */
export const withToken = (tokens: Tokens): Stage<RunningCall, RawResponse, AuthorizedResponse> => (next) => (call) =>
  Effect.flatMap(
    call.token !== undefined && call.notes.waited < longWait ? Effect.succeed(call.token) : tokenOf(tokens, call),
    (token) =>
      Effect.flatMap(authorizationOf(call.operation, token), (authorization) =>
        // Field by field: `{ ...response, token }` costs 2 of the 50 µs of a call (`npm run bench`).
        Effect.map(next({ ...call, authorization }), ({ body, completeness, events, headers, redirected, status }) => ({
          status,
          headers,
          body,
          completeness,
          redirected,
          events,
          token
        })))
  )

/**
 * Waits for a token, before the call waits for anything else: calls that had waited for the limiter, and then for a token, would all be
 * sent at once when it comes. Sends the call again with another token if the service refuses it; a third time only if the second was no
 * longer the provider's own by then.
 */
export const authorized = (tokens: Tokens): Stage<RunningCall, AuthorizedResponse> => (next) => (call) => {
  const sendNth = (nth: number, token: AccessToken): ReturnType<typeof next> =>
    Effect.flatMap(next({ ...call, token }), (response) => {
      if (response.status !== 401 || response.redirected || nth === mostTokens) return Effect.succeed(response)
      const invalidated = nth === 1 ? call.wait(tokens.invalidate(response.token)) : Effect.void
      return Effect.flatMap(Effect.zipRight(invalidated, tokenOf(tokens, call)), (other) => {
        if (Redacted.value(other) === Redacted.value(response.token)) return Effect.succeed(response)
        call.telemetry.tokenReplaced()
        return sendNth(nth + 1, other)
      })
    })
  return Effect.flatMap(
    tokenOf(tokens, call),
    (token) => Effect.zipRight(authorizationOf(call.operation, token), sendNth(1, token))
  )
}
