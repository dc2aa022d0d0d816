/** The failures of a run of a job: final ones, and those after which it is tried again. */
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Errors from "../Errors.js"
import { ExportError, exportReasons } from "../internal/exports/exportError.js"
import { RunError } from "../internal/redelivery/ending.js"
import { JournalError } from "../internal/redelivery/journal.js"
import { ofClasses, omittable } from "../internal/schema/errorSchema.js"

/** The error that a job has failed with: of a call, a run or an export. @since 0.1.0 @category models */
export type Failure = Errors.Failure | RunError | ExportError | JournalError

/** Writes the error of a job as JSON, and reads it, as `Errors.Failure` does with that of a call. @since 0.1.0 @category schemas */
export const Failure: Schema.Schema<Failure, Errors.EncodedError> = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Union(
    ofClasses({ RunError }, {
      reason: Schema.Literal("streamNotFound", "refused", "unavailable", "tooManyFailures"),
      error: Errors.Failure
    }),
    ofClasses({ ExportError }, {
      reason: Schema.Literal(...exportReasons),
      job: omittable(Schema.String),
      status: omittable(Schema.Number),
      code: omittable(Schema.String)
    }),
    ofClasses({ JournalError }, { reason: Schema.Literal("locked", "foreign", "store") }),
    Errors.Failure
  )
)

/** The job has failed. `resume` goes on with it. */
export class Failed extends Data.TaggedError("Failed")<{ readonly error: Failure }> {}

/** The run cannot go on now; a later one may. */
export class Passing extends Data.TaggedError("Passing")<{
  readonly error: Failure
  /** The service is unavailable. Otherwise the storage is, or another process runs the job: that passes by itself. */
  readonly isService: boolean
}> {}

export type RunFailure = Failed | Passing

/** Names an error of a user's own by its tag: its message might contain secrets, and a job is stored. */
export const foreign = (error: unknown, message: string): Failed =>
  failed(new Errors.OtherError({ tag: Predicate.hasProperty(error, "_tag") ? String(error._tag) : "Error", message }))

export const failed = (error: Failure): Failed => new Failed({ error })

/** The service is unavailable. */
export const unavailable = (error: Failure): Passing => new Passing({ error, isService: true })

/** The storage is unavailable, or another process runs the job. */
export const passing = ({ _tag: tag, message }: { readonly _tag: string; readonly message: string }): Passing =>
  new Passing({ error: new Errors.OtherError({ tag, message }), isService: false })
