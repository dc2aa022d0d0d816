/** Jobs as users see them: what is to be done, how far it is, and why something about it failed. */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { InvalidInput } from "../Errors.js"
import { integerIssues } from "../internal/schema/issues.js"
import type * as Redelivery from "../Redelivery.js"
import type { Failure } from "./failures.js"

/** The kinds of jobs. @since 0.1.0 @category models */
export type Kind = "redelivery" | "export"

/** All states of a job. @since 0.1.0 @category constants */
export const states = ["loading", "waiting", "running", "done", "failed", "cancelled"] as const

/**
 * The state of a job.
 *
 * - `loading`: its list of events is not complete. Submit it again to go on.
 * - `waiting`: it has not started yet.
 * - `running`: it has started. It goes on elsewhere if its process ends.
 * - `done`: each of its events has an outcome, or its export has a file.
 * - `failed`: it has ended before that; its `error` tells the reason. `resume` goes on with it.
 * - `cancelled`: it has been cancelled. `resume` goes on with it.
 * @since 0.1.0 @category models
 */
export type State = typeof states[number]

/** The states in which nothing happens any more. */
export const endStates: ReadonlyArray<State> = ["done", "failed", "cancelled"]

/** The states in which a job runs, or is about to. */
export const activeStates: ReadonlyArray<State> = ["waiting", "running"]

/** The number of events of a job by outcome. @since 0.1.0 @category models */
export interface Counts {
  /** The number of events of the job that are known so far. */
  readonly total: number
  /** The number of events without an outcome. */
  readonly left: number
  /** The number of events by their outcomes. */
  readonly outcomes: Readonly<Record<JobOutcome, number>>
}

/** The outcomes of the events of a job. @since 0.1.0 @category models */
export type JobOutcome = Exclude<Redelivery.Outcome, "due" | "invalid">

/** A job at a moment. @since 0.1.0 @category models */
export interface Status {
  /** The id that `submit` gave. */
  readonly id: string
  readonly kind: Kind
  /** The tenant, by the name that `Tenants` knows. */
  readonly tenant: string
  /** The key that the job was submitted with. */
  readonly key: string
  readonly state: State
  /** The events of a redelivery. An export has none. */
  readonly events: Counts
  /** The id of an export's job in the service, once it is known. */
  readonly exportJob?: string
  /** The reason why the job has failed. */
  readonly error?: Failure
  /** The time at which the job was submitted, in milliseconds since 1970. */
  readonly submittedAt: number
  /** The time at which the job ended, in milliseconds since 1970. */
  readonly endedAt?: number
}

/** Selects jobs. All given fields have to match. @since 0.1.0 @category models */
export interface ListFilter {
  readonly tenant?: string | undefined
  readonly kind?: Kind | undefined
  /** At least one state (default: all). */
  readonly states?: ReadonlyArray<State> | undefined
}

/** There is no job with this id. @since 0.1.0 @category errors */
export class JobNotFound extends Data.TaggedError("JobNotFound")<{
  readonly id: string
  readonly message: string
}> {}

/** A job has not ended in the time that `awaitEnd` waits. It goes on by itself. @since 0.1.0 @category errors */
export class JobTimeout extends Data.TaggedError("JobTimeout")<{
  readonly id: string
  /** The last state that was seen, unless the storage could not be used. */
  readonly state?: State
  readonly message: string
}> {}

/** The tenant has another job with this key: another stream, filter or input. @since 0.1.0 @category errors */
export class JobConflict extends Data.TaggedError("JobConflict")<{
  readonly id: string
  readonly message: string
}> {}

/** The store of the jobs cannot be used. Nothing is sent meanwhile. @since 0.1.0 @category errors */
export class JobStoreError extends Data.TaggedError("JobStoreError")<{ readonly message: string }> {}

/** A job has no rows: it is no export, has no file, or its tenant has no client. @since 0.1.0 @category errors */
export class RowsUnavailable extends Data.TaggedError("RowsUnavailable")<{
  readonly id: string
  readonly message: string
}> {}

/** The settings of the runs of all jobs. @since 0.1.0 @category models */
export interface RunOptions {
  /** The number of events of one job that are processed at the same time (default 10). */
  readonly concurrency?: number | undefined
  /** The time without a sign of life after which a job is taken over from a process that died (default 15 s, 100 ms to 1 h). */
  readonly lockExpiry?: Duration.DurationInput | undefined
  /**
   * The time that running calls get when a job is cancelled or its process ends (default 5 s, at most 1 h). After that they are `unknown`. In a
   * cluster it must be less than `entityTerminationTimeout`, which is 15 s by default.
   */
  readonly grace?: Duration.DurationInput | undefined
  /** The time for which a job waits for a service that is unavailable, before it fails (default 1 day). */
  readonly giveUpAfter?: Duration.DurationInput | undefined
  /**
   * The time from the creation of an export's job in the service until its end, after which the export fails with an `ExportError`, and
   * `resume` starts another (default 9 hours: the service fails an export that takes longer than eight).
   */
  readonly exportTimeout?: Duration.DurationInput | undefined
  /** The failures of one run of a job, of events that were certainly not accepted, after which it fails (default 50; `Infinity`: never). */
  readonly stopAfter?: number | undefined
  /** The time between two looks at whether a job has ended or was cancelled (default 2 s, 10 ms to 1 min). */
  readonly pollInterval?: Duration.DurationInput | undefined
}

const durationIssue = (
  path: string,
  value: Duration.DurationInput,
  minimum: Duration.DurationInput,
  maximum: Duration.DurationInput
) =>
  Duration.between(value, { minimum, maximum })
    ? []
    : [{ path, message: `expected a duration from ${Duration.format(minimum)} to ${Duration.format(maximum)}` }]

/** Fails with `InvalidInput` that names the settings that are not valid. */
export const validateRunOptions = (operation: string, options: RunOptions): Effect.Effect<void, InvalidInput> => {
  const { concurrency = 1, grace = 0, lockExpiry = "1 second", pollInterval = "1 second", stopAfter = 1 } = options
  const issues = [
    ...integerIssues("concurrency", concurrency, 1),
    ...(stopAfter === Infinity ? [] : integerIssues("stopAfter", stopAfter, 1)),
    ...durationIssue("lockExpiry", lockExpiry, "100 millis", "1 hour"),
    ...durationIssue("grace", grace, 0, "1 hour"),
    ...durationIssue("pollInterval", pollInterval, "10 millis", "1 minute")
  ]
  return issues.length === 0 ? Effect.void : new InvalidInput({ operation, issues })
}
