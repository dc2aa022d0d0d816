/** The service of jobs, as programs see it. */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Stream from "effect/Stream"
import type { InvalidInput } from "../Errors.js"
import type * as Exports from "../Exports.js"
import type * as Redelivery from "../Redelivery.js"
import type { Job } from "./definition.js"
import type {
  JobConflict,
  JobNotFound,
  JobStoreError,
  JobTimeout,
  ListFilter,
  RowsUnavailable,
  Status
} from "./model.js"

/** How long to wait for a job. @since 0.1.0 @category models */
export interface AwaitOptions {
  /**
   * The longest wait (default 2 days: by then an export has ended, also one whose service was unavailable for a day. A redelivery of many
   * events may take longer).
   */
  readonly timeout?: Duration.DurationInput | undefined
}

/** The service that runs jobs. @since 0.1.0 @category tags */
export class Jobs extends Context.Tag("effect-identity-client/Jobs")<Jobs, {
  /**
   * Submits a job, and returns its id once its list of events is stored. It then runs by itself. A job with the same kind, tenant and key
   * is the same job: it starts once, however often it is submitted, and goes on where an interrupted `submit` has left its list.
   *
   * `events` are read once. Fails with `InvalidInput` that names an invalid field or id: nothing is stored then. Fails with `JobConflict` if the
   * key is that of a job with another stream, filter or input, and with the failure of the ids: what was read by then is kept for the next
   * `submit`. Fails with `JobStoreError` if the storage cannot be used, or the job was removed meanwhile. The ids of a stream
   * are not looked at if the list of the job is complete, also if they are others.
   */
  readonly submit: <E = never, R = never>(
    job: Job<E, R>
  ) => Effect.Effect<string, E | InvalidInput | JobConflict | JobStoreError, R>
  /** Returns a job as it is now. */
  readonly status: (id: string) => Effect.Effect<Status, JobNotFound | JobStoreError>
  /**
   * Waits until a job has ended: is `done`, has failed or was cancelled. Also waits while the storage is unavailable, but no longer than
   * `timeout`: then it fails with `JobTimeout`, and the job goes on. Call it again to wait on.
   */
  readonly awaitEnd: (id: string, options?: AwaitOptions) => Effect.Effect<Status, JobNotFound | JobTimeout>
  /** Streams the results that a redelivery has now, in the order of its list. An export has none. */
  readonly results: (id: string) => Stream.Stream<Redelivery.Result, JobNotFound | JobStoreError>
  /** Streams the rows of an export that is `done`, as `Exports.run` does. The service keeps its file for 24 hours. */
  readonly rows: <A = Exports.Row, I = unknown>(
    id: string,
    options?: Omit<Exports.Options<A, I>, "job" | "onJob">
  ) => Stream.Stream<
    Either.Either<A, Exports.UndecodableRow>,
    Exports.Failure | JobNotFound | JobStoreError | RowsUnavailable,
    HttpClient.HttpClient
  >
  /**
   * Cancels a job, wherever it runs. No further event is begun; those in progress may end, for the `grace` of its run. Returns false if the job
   * has ended already.
   */
  readonly cancel: (id: string) => Effect.Effect<boolean, JobNotFound | JobStoreError>
  /**
   * Goes on with a job that has ended: events that were never sent or certainly not accepted are sent, those that may have been are not.
   * An export whose job in the service has failed, or is not known, starts another one. Returns false if the job has not ended, or its list is
   * not complete: submit that again.
   */
  readonly resume: (id: string) => Effect.Effect<boolean, JobNotFound | JobStoreError>
  /** Streams jobs in the order of their submission. */
  readonly list: (filter?: ListFilter) => Stream.Stream<Status, JobStoreError>
  /**
   * Removes jobs that ended longer ago than this, with their results, and those whose list was begun before that and is not complete. Returns
   * their number. Their keys are free again.
   */
  readonly prune: (age: Duration.DurationInput) => Effect.Effect<number, JobStoreError>
}>() {}
