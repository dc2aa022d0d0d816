/** The failures of a run of a job: final ones, and those after which it is tried again. */
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import type * as Redelivery from "../Redelivery.js"

/** The job has failed. `resume` goes on with it. */
export class Failed extends Data.TaggedError("Failed")<{ readonly error: Redelivery.Reason }> {}

/** The run cannot go on now; a later one may. */
export class Passing extends Data.TaggedError("Passing")<{
  readonly error: Redelivery.Reason
  /** The service is unavailable. Otherwise the storage is, or another process runs the job: that passes by itself. */
  readonly isService: boolean
}> {}

export type RunFailure = Failed | Passing

/** An error of this library: its message contains no secrets. */
interface OwnError {
  readonly _tag: string
  readonly message: string
}

const reasonOf = ({ _tag: tag, message }: OwnError): Redelivery.Reason => ({ tag, message })

/** The reason of an error of a user's own: its message might contain secrets, and a job is stored. */
export const foreignReason = (error: unknown, message: string): Redelivery.Reason => ({
  tag: Predicate.hasProperty(error, "_tag") ? String(error._tag) : "Error",
  message
})

export const failed = (error: OwnError): Failed => new Failed({ error: reasonOf(error) })

/** The service is unavailable. */
export const unavailable = (error: OwnError): Passing => new Passing({ error: reasonOf(error), isService: true })

/** The storage is unavailable, or another process runs the job. */
export const passing = (error: OwnError): Passing => new Passing({ error: reasonOf(error), isService: false })
