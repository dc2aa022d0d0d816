/** The failures of a run of a job: final ones, and those after which it is tried again. */
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import type * as Redelivery from "../Redelivery.js"

/** The job has failed. `resume` goes on with it. */
export class Failed extends Data.TaggedError("Failed")<{ readonly error: Redelivery.Reason }> {}

/** The run cannot go on now; a later one may. */
export class Passing extends Data.TaggedError("Passing")<{ readonly message: string }> {}

export type RunFailure = Failed | Passing

/** Tag and message of an error, as far as it has them. Errors of this library contain no secrets. */
export const reasonOf = (error: unknown): Redelivery.Reason => ({
  tag: Predicate.hasProperty(error, "_tag") ? String(error._tag) : "Error",
  message: Predicate.hasProperty(error, "message") ? String(error.message) : "unknown failure"
})

export const failed = (error: unknown): Failed => new Failed({ error: reasonOf(error) })

export const passing = ({ message }: { readonly message: string }): Passing => new Passing({ message })
