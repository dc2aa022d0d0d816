/** The outcome of a redelivery, as the response or its absence tells it. */
import {
  type BadRequest,
  type ClientError,
  type Conflict,
  type Failure,
  type Forbidden,
  type InsufficientScope,
  type NotFound,
  type RateLimited,
  TransportError,
  type Unauthorized
} from "../../Errors.js"
import { outcome as callOutcome } from "../runtime/failures.js"

/** All outcomes. @since 0.1.0 @category constants */
export const outcomes = ["accepted", "notFailed", "gone", "invalid", "unknown", "failed", "due"] as const

/**
 * The outcome for one id.
 *
 * - `accepted`: the service will deliver the event again.
 * - `notFailed` (409): the event has not failed, or no longer counts as failed.
 * - `gone` (404): the event does not exist.
 * - `invalid`: the id cannot be an event's id. Nothing was sent.
 * - `unknown`: the service may have accepted the event. It is retried only if the options say so.
 * - `failed`: the service has not accepted the event; the result's `error` tells the reason.
 * - `due`: the event would be sent if this were not a dry run.
 * @since 0.1.0 @category models
 */
export type Outcome = typeof outcomes[number]

/** The result for one id. @since 0.1.0 @category models */
export interface Result {
  readonly id: string
  readonly outcome: Outcome
  /** True if nothing was sent for this id now: the journal had its result, or the same id came earlier in the run. */
  readonly recalled: boolean
  /** The failure of the call. For `unknown` it may be absent. One that the journal recalls has no `raw`. */
  readonly error?: Failure
}

/** The failures of a redelivery call. */
export type CallFailure =
  | BadRequest
  | ClientError
  | Unauthorized
  | InsufficientScope
  | Forbidden
  | NotFound
  | Conflict
  | RateLimited

/** The outcome of a request that was sent, or was about to be sent. */
export interface SendResult {
  readonly outcome: "accepted" | "notFailed" | "gone" | "unknown" | "failed"
  readonly error?: Failure
}

/** Makes the result for an event that was being sent when the run was cut off. */
export const interrupted = (): SendResult => ({
  outcome: "unknown",
  error: new TransportError({
    operation: "redeliverEvent",
    message: "the run ended before the response arrived",
    outcome: "unknown",
    code: "interrupted"
  })
})

/** The outcome of an event whose call failed. */
export const outcomeOf = (error: CallFailure): SendResult["outcome"] => {
  if (error._tag === "Conflict") return "notFailed"
  if (error._tag === "NotFound") return "gone"
  const outcome = callOutcome(error)
  return outcome === "done" ? "accepted" : outcome === "not-done" ? "failed" : "unknown"
}
