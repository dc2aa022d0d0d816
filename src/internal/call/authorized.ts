/**
 * Authorized: each request has a token, read before the call waits, and again after a long wait. If the service refuses it, which carries
 * nothing out, the request is sent again with another token, and waits like any request.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { TokenError, type TransportError } from "../../Errors.js"
import type { RawResponse } from "../http/rawExchange.js"
import type { Tokens } from "../token/cache.js"
import type { AccessToken } from "../token/issuedToken.js"
import { isValidToken } from "../token/tokenResponse.js"
import type { AuthorizedResponse, Notes, RunningCall, Stage } from "./call.js"
import { wait } from "./wait.js"

/** The number of times that a call is sent at most because the service refuses its token. */
const mostTokens = 3

/** After a longer wait, in milliseconds, the token is read again: it may have expired in a limiter's queue. */
const longWait = 1000

/** Reads a token for a call, and notes its header. */
export type ReadToken = (call: RunningCall) => Effect.Effect<AccessToken, TokenError | TransportError>

export const readerOf = (tokens: Tokens): ReadToken => {
  let last: Pick<Notes, "authorization" | "token"> | undefined // to validate and join a token of 1 kB takes longer than a stage
  return (call) => {
    const { notes, operation } = call
    const use = (token: AccessToken): Effect.Effect<AccessToken, TokenError> => {
      const text = Redacted.value(token) // throws if the token has been wiped
      if (last?.token !== token) {
        const message = "the token is empty or contains characters that a header cannot contain"
        if (!isValidToken(text)) return new TokenError({ operation, message })
        last = { token, authorization: `${token.scheme ?? "Bearer"} ${text}` }
      }
      notes.token = last.token
      notes.authorization = last.authorization
      return Effect.succeed(token)
    }
    const token = tokens.get.peek?.()
    if (token !== undefined) return use(token)
    return Effect.matchEffect(wait(call, tokens.get), {
      onFailure: (error): Effect.Effect<never, TokenError | TransportError> =>
        error._tag === "TokenError"
          ? new TokenError({ ...error, operation, message: error.message })
          : Effect.fail(error),
      onSuccess: use
    })
  }
}

/** Sends a call with its token, or with the one that took its place during a long wait. */
export const withToken = (read: ReadToken): Stage<RunningCall, RawResponse, AuthorizedResponse> => (next) => (call) => {
  // Field by field: `{ ...response, token }` costs 2 of the 50 µs of a call (`npm run bench`).
  const send = (token: AccessToken) =>
    Effect.map(next(call), ({ body, completeness, events, headers, redirected, status }) => ({
      status,
      headers,
      body,
      completeness,
      redirected,
      events,
      token
    }))
  const { token, waited } = call.notes
  return token !== undefined && waited < longWait ? send(token) : Effect.flatMap(read(call), send)
}

/**
 * Waits for a token, before the call waits for anything else: calls that had waited for the limiter, and then for a token, would all be
 * sent at once when it comes. Sends the call again with another token if the service refuses it; a third time only if the second was no
 * longer the provider's own by then.
 */
export const authorized = (read: ReadToken, tokens: Tokens): Stage<RunningCall, AuthorizedResponse> => (next) => {
  const sendNth = (call: RunningCall, nth: number): ReturnType<typeof next> =>
    Effect.flatMap(next(call), (response) => {
      if (response.status !== 401 || response.redirected || nth === mostTokens) return Effect.succeed(response)
      const invalidated = nth === 1 ? wait(call, tokens.invalidate(response.token)) : Effect.void
      return Effect.flatMap(Effect.flatMap(invalidated, () => read(call)), (other) => {
        if (Redacted.value(other) === Redacted.value(response.token)) return Effect.succeed(response)
        call.telemetry.tokenReplaced()
        return sendNth(call, nth + 1)
      })
    })
  return (call) => Effect.flatMap(read(call), () => sendNth(call, 1))
}
