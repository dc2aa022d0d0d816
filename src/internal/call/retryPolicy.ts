/**
 * Decides which attempts may be retried, and how often: the retry policy of a call. Changes around the call win over those of its
 * client, and both over the default. The loop is in `retried.ts`, the pauses are computed in `runtime/backoff.ts`.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { Any } from "../../Endpoint.js"
import type { RateLimited, TokenError, TransportError } from "../../Errors.js"
import type { RawResponse } from "../http/rawExchange.js"
import { isDecoded } from "../http/responseDecoder.js"
import { openCode } from "../http/transportError.js"
import { defined } from "../runtime/defined.js"
import { isTemporaryStatus, transportVerdict, unclaimedCode } from "../runtime/failures.js"
import * as FiberAccess from "../runtime/fiber.js"

/**
 * The limits of retries.
 *
 * A call that was certainly not carried out is always retried: the service refused it (429), or nothing was sent
 * (`outcome: "not-sent"`). After 408, 5xx, a broken connection or a time-out only idempotent calls are retried
 * (`idempotent: true` in the operation's declaration). A 401 does not depend on the policy: the call is retried once if
 * there is another token.
 * @since 0.1.0 @category models
 */
export interface Policy {
  /** The number of attempts, the first one included. Default: 4. */
  readonly attempts: number
  /** The upper bound of the first wait, which doubles with each further one; the wait itself is random. Default: 250 ms. */
  readonly delay: Duration.DurationInput
  /** The upper bound of all waits. A longer `Retry-After` is still waited for. Default: 10 s. */
  readonly maxDelay: Duration.DurationInput
  /**
   * The time for all attempts and the waits between them; waits for the rate limiter do not count. A call
   * fails at once with its last failure if its next wait would exceed it. It does not limit the first attempt. Default: 2 minutes.
   */
  readonly totalTime: Duration.DurationInput
  /**
   * Decides for each 429 whether the call is retried, as far as the other settings allow. Without it, it is. A call that is not
   * retried fails with `RateLimited`, unless an earlier attempt may have been carried out: then like that.
   */
  readonly retryRateLimited?: ((refusal: Refusal) => boolean) | undefined
}

/** A 429 that an attempt received. @since 0.1.0 @category models */
export interface Refusal {
  readonly operation: string
  /** The number of the attempt; the first is 1. */
  readonly attempt: number
  /** The time for which the service asks to wait. */
  readonly retryAfter: Duration.Duration | undefined
}

/** The settings of a policy to change. The others stay as they are. @since 0.1.0 @category models */
export type Changes = { readonly [Name in keyof Policy]?: Policy[Name] | undefined }

/** Four attempts in two minutes, with random waits of up to 250 ms, 500 ms and 1 s. @since 0.1.0 @category constants */
export const defaultPolicy: Policy = {
  attempts: 4,
  delay: "250 millis",
  maxDelay: "10 seconds",
  totalTime: "2 minutes"
}

const noChanges: Partial<Policy> = {}

const changesAroundCalls = /* @__PURE__ */ FiberAccess.makeSetting("Retry/overrides", () => noChanges)

export const change = <A, E, R>(self: Effect.Effect<A, E, R>, changes: Changes): Effect.Effect<A, E, R> =>
  FiberAccess.withSetting(self, changesAroundCalls, (outer) => ({ ...outer, ...defined(changes) }))

/** Gives the policies of a client's calls, by the fiber that makes the call. */
export const policiesOf = (client: Changes = {}): (fiber: FiberAccess.AnyFiber) => Policy => {
  const policy = { ...defaultPolicy, ...defined(client) }
  return (fiber) => {
    const changes = FiberAccess.settingOf(fiber, changesAroundCalls)
    return changes === noChanges ? policy : { ...policy, ...changes }
  }
}

/** The failures of an attempt that got no response. @since 0.1.0 @category models */
export type AttemptFailure = TokenError | TransportError | RateLimited

/** Finds what a failed attempt says; nothing if none was made, because a token, the limiter, a circuit or a claim prevented it. */
const verdictOf = (error: AttemptFailure) =>
  error._tag === "TransportError" && error.code !== openCode && error.code !== unclaimedCode
    ? transportVerdict(error)
    : []

/** Checks what a failed attempt says of the service: `true` if it is unavailable, `undefined` if nothing. */
export const failureShowsOutage = (error: AttemptFailure): true | undefined =>
  verdictOf(error)[2] === "service" ? true : undefined

/** Checks that a response shows that the service is unavailable, or cannot respond. */
export const responseShowsOutage = ({ completeness, redirected, status }: RawResponse): boolean =>
  !redirected && (isTemporaryStatus(status) || completeness === "interrupted")

/** Checks that the service refused the request. A redirected response is another host's: it does not say that. */
export const isRateLimited = ({ redirected, status }: RawResponse): boolean => !redirected && status === 429

export const canRetryResponse = (endpoint: Any, response: RawResponse): boolean => {
  const { completeness, redirected, status } = response
  return isRateLimited(response) || (!redirected && endpoint.idempotent && (
    isTemporaryStatus(status) || (isDecoded(endpoint, status) && completeness === "interrupted")
  ))
}

/** The token provider and the limiter have retries and waits of their own. */
export const canRetryFailure = (endpoint: Any, error: AttemptFailure): boolean => {
  const [outcome, isTransient = false] = verdictOf(error)
  return isTransient && (outcome === "not-done" || endpoint.idempotent)
}
