/** The steps of one attempt, each around the next: a token, a permit of the rate limiter, an exchange with the service. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
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

/** The value of the header `authorization`; `undefined` if it cannot carry the token. */
const authorizationOf = (token: AccessToken): string | undefined => {
  const text = Redacted.value(token) // throws if the token has been wiped
  const known = authorizations.get(token)
  if (known !== undefined || !isValidToken(text)) return known
  const authorization = `${token.scheme ?? "Bearer"} ${text}`
  authorizations.set(token, authorization)
  return authorization
}

const withToken = <A, E>(
  tokens: Tokens,
  operation: string,
  attempt: AttemptContext,
  use: (token: Redacted.Redacted, authorization: string) => Effect.Effect<A, E>
): Effect.Effect<A, E | TokenError> =>
  Effect.matchEffect(attempt.restore(tokens.get), {
    onFailure: (error) => new TokenError({ ...error, operation, message: error.message }),
    onSuccess: (token): Effect.Effect<A, E | TokenError> => {
      const authorization = authorizationOf(token)
      return authorization === undefined
        ? new TokenError({
          operation,
          message: "the token is empty or contains characters that a header cannot contain"
        })
        : use(token, authorization)
    }
  })

/** Sends a request with a token. If the service refuses it, which carries nothing out, retries once with another token. */
export const authorized = <E>(
  tokens: Tokens,
  operation: string,
  attempt: AttemptContext,
  send: (authorization: string) => Effect.Effect<RawResponse, E>
): Effect.Effect<AuthorizedResponse, E | TokenError> => {
  // Field by field: `{ ...response, token }` costs 2 of the 50 µs of a call (`npm run bench`).
  const succeed = ({ body, completeness, headers, redirected, status }: RawResponse, token: Redacted.Redacted) =>
    Effect.succeed<AuthorizedResponse>({ status, headers, body, completeness, redirected, token })
  return withToken(tokens, operation, attempt, (token, authorization) =>
    Effect.flatMap(
      send(authorization),
      (response): Effect.Effect<AuthorizedResponse, E | TokenError> =>
        response.status !== 401 || response.redirected ? succeed(response, token) : Effect.zipRight(
          attempt.restore(tokens.invalidate(token)),
          withToken(tokens, operation, attempt, (other, authorization) => {
            if (Redacted.value(other) === Redacted.value(token)) return succeed(response, token)
            attempt.telemetry.tokenReplaced()
            return Effect.flatMap(send(authorization), (second) => succeed(second, other))
          })
        )
    ))
}

/**
 * Waits for a permit, carries the claim of the call out, sends the request, and settles the permit with the response, or with `undefined`
 * if none came. If the claim fails, or the circuit has opened meanwhile, gives the permit back instead. The wait for the permit does not
 * count towards the total time. Must run in an uninterruptible region; only the waits can be interrupted.
 */
export const permitted = <E>(
  limiter: Limiter,
  call: Call,
  attempt: AttemptContext,
  send: (traceHeaders: Readonly<Record<string, string>> | undefined) => Effect.Effect<RawResponse, E>
): Effect.Effect<RawResponse, E | RateLimited | TransportError> => {
  // Called before `pause()`: if a user's limiter throws, the waiting gauge must not stay raised.
  const acquire = attempt.restore(limiter.acquire(call))
  attempt.pause()
  return Effect.matchCauseEffect(acquire, {
    onFailure: (cause) => {
      attempt.resume()
      return Effect.failCause(cause)
    },
    onSuccess: (permit) => {
      let withoutResponse = permit.giveBack ?? permit.settle(undefined)
      const notSent = (code: string) => transportError(call.operation, call.tenant, "not-sent", code)
      const begin = (): Effect.Effect<RawResponse, E | TransportError> => {
        if (!attempt.maySend()) return notSent(openCode)
        withoutResponse = permit.settle(undefined)
        return attempt.telemetry.attempt(send)
      }
      // Suspended, so that the permit is settled even if a tracer throws.
      const sent = Effect.suspend(() => {
        attempt.resume()
        return attempt.claim === undefined
          ? begin()
          : Effect.flatMap(attempt.restore(attempt.claim), (mayGoOn) => mayGoOn ? begin() : notSent(unclaimedCode))
      })
      return Effect.matchCauseEffect(sent, {
        onFailure: (cause) => Effect.zipRight(withoutResponse, Effect.failCause(cause)),
        onSuccess: (response) =>
          // After a redirect, status and headers may be those of another service.
          Effect.map(permit.settle(response.redirected ? undefined : response), () => {
            if (!response.redirected) attempt.telemetry.responseReceived(response)
            return response
          })
      })
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
