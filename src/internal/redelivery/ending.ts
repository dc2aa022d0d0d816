/** The error of a run that ends before its ids do, and which failures of a call end it. */
import * as Data from "effect/Data"
import type { Failure } from "../../Errors.js"
import { concerns, passesWithTime } from "../runtime/failures.js"
import type { CallFailure } from "./outcome.js"

/**
 * The run ended before its ids did, because no event had a chance. Events that it leaves out have no result, and their entries in the
 * journal are as before: run the same ids again once the cause is gone.
 * @since 0.1.0 @category errors
 */
export class RunError extends Data.TaggedError("RunError")<{
  /**
   * `streamNotFound`: there is no event stream with this id. `refused`: the service accepts no call of this client: no token, 401, or
   * 403 for a missing scope or another reason. `unavailable`: it gave no usable response for as long as `giveUpAfter`. `tooManyFailures`: a job had
   * as many failures as its `stopAfter` allows.
   */
  readonly reason: "streamNotFound" | "refused" | "unavailable" | "tooManyFailures"
  readonly message: string
  /** The failure that ended the run: of the last call to end. */
  readonly error: Failure
}> {}

/** Drops an event that waits while the service is unavailable, after the run has stopped. Never leaves the run. */
export class Stopped extends Data.TaggedError("Stopped") {}

/**
 * Finds the subject of a failed call. `event`: this event alone. `service`: the service is unavailable, or refuses calls for now. `run`: no call
 * of the run can succeed, because they differ only in the event's id.
 */
export const subjectOf = (error: CallFailure): "event" | "service" | "run" =>
  passesWithTime(error) ? "service" : concerns(error) === "client" ? "run" : "event"
