/** Tells which failures of a call concern its event, and which all events; and the error of a run that ends before its ids do. */
import * as Data from "effect/Data"
import { isTemporaryTokenError } from "../runtime/failures.js"
import { TaggedError } from "../runtime/taggedError.js"
import { type CallFailure, outcomeOf, type Reason } from "./outcome.js"

/**
 * The run ended before its ids did, because no event had a chance. Events that it leaves out have no result, and their entries in the
 * journal are as before: run the same ids again once the cause is gone.
 * @since 0.1.0 @category errors
 */
export class RunError extends TaggedError("RunError")<{
  /**
   * `streamNotFound`: there is no event stream with this id. `refused`: the service accepts no call of this client: no token, 401, or
   * 403 for a missing scope or another reason. `unavailable`: it gave no usable response for as long as `giveUpAfter`.
   */
  readonly reason: "streamNotFound" | "refused" | "unavailable"
  readonly message: string
  /** The failure that ended the run: of the last call to end. */
  readonly error: Reason
}> {}

/** Drops an event that waits while the service is unavailable, after the run has stopped. Never leaves the run. */
export class Stopped extends Data.TaggedError("Stopped") {}

/** A failure of a call, or another error, which says nothing about the service or the run. */
type Failure = CallFailure | { readonly _tag: "BadRequest" | "InvalidInput" | "ExportError" }

/**
 * Finds the subject of a failure. `event`: this event alone, or whatever else the call was for. `service`: the service is unavailable,
 * or refuses calls for now. `run`: no call of the run can succeed.
 */
export const subjectOf = (error: Failure): "event" | "service" | "run" => {
  switch (error._tag) {
    case "Unauthorized":
    case "InsufficientScope":
    case "Forbidden": // the calls of a run differ only in the event's id, to which no 403 is known to refer
      return "run"
    case "TokenError":
      return isTemporaryTokenError(error) ? "service" : "run"
    case "TransportError":
      return error.code === "CLOSED" ? "run" : "service" // the program closes the client itself
    case "RateLimited":
      return "service"
    case "UnexpectedResponse":
      return outcomeOf(error) === "unknown" ? "service" : "event"
    default:
      return "event"
  }
}
