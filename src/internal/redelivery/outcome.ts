/** What the answer to a redelivery, or the want of one, says of the event. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type {
  ClientError,
  Conflict,
  Forbidden,
  InsufficientScope,
  NotFound,
  RateLimited,
  Unauthorized
} from "../../Errors.js"

/** All outcomes. */
export const outcomes = ["accepted", "notFailed", "gone", "invalid", "unknown", "failed", "due"] as const

/**
 * What became of an event. `accepted`: the service will deliver it again. `notFailed` (409): it has not failed, or not any
 * more. `gone` (404): there is no such event, or no such stream. `invalid`: it is no id of an event, nothing was sent.
 * `unknown`: it may have been accepted; nobody can tell, so it is not repeated by itself. `failed`: it was not accepted, the
 * error says why. `due`: it would be sent, were this no dry run.
 */
export type Outcome = typeof outcomes[number]

/** The tag and the message of a failure; nothing of it is secret. */
export interface Reason {
  readonly tag: string
  readonly message: string
}

/** What became of one id. */
export interface Result {
  readonly id: string
  readonly outcome: Outcome
  /** Whether it is not of this sending: it stood in the journal, or the id came before. */
  readonly recalled: boolean
  /** Why it was not accepted; for `unknown`, if that is known. */
  readonly error?: Reason
}

/** What a redelivery may fail with. */
export type Failure = ClientError | Unauthorized | InsufficientScope | Forbidden | NotFound | Conflict | RateLimited

/** An outcome of a sending and, if there is one, its reason. */
export interface Verdict {
  readonly outcome: "accepted" | "notFailed" | "gone" | "unknown" | "failed"
  readonly error?: Reason
}

/** The verdict on what was being sent when a run came to its end by force. */
export const lost: Verdict = {
  outcome: "unknown",
  error: { tag: "Interrupted", message: "the run ended before the answer came" }
}

export const reason = ({ _tag, message }: Failure): Reason => ({ tag: _tag, message })

/** Whether the service may have accepted the event all the same. */
const isDoubtful = (error: Failure): boolean => {
  switch (error._tag) {
    case "TransportError":
      return error.outcome === "unknown"
    case "UnexpectedResponse":
      return error.status === 408 || error.status < 400 || error.status >= 500
    default:
      return false
  }
}

const outcomeOf = (error: Failure): Verdict["outcome"] => {
  switch (error._tag) {
    case "Conflict":
      return "notFailed"
    case "NotFound":
      return "gone"
    default:
      return isDoubtful(error) ? "unknown" : "failed"
  }
}

/** The verdict on a call that has ended. One that was cut off may have been accepted; a defect stays one. */
export const of = (exit: Exit.Exit<void, Failure>): Effect.Effect<Verdict> => {
  if (Exit.isSuccess(exit)) return Effect.succeed({ outcome: "accepted" })
  const { cause } = exit
  const error = Cause.failureOption(cause)
  if (Option.isSome(error)) return Effect.succeed({ outcome: outcomeOf(error.value), error: reason(error.value) })
  return Cause.isInterruptedOnly(cause) ? Effect.succeed(lost) : Effect.failCause(cause as Cause.Cause<never>) // sound: it holds no failure
}
