/**
 * Subpath /Jobs: redeliveries and exports as jobs with an id. A job is submitted once, runs by itself, and tells how far it is; it can be
 * cancelled and resumed. The same program runs over memory (tests), files (`/Node`), or many machines (`/Cluster`): only the layer differs.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import type { InvalidInput } from "./Errors.js"
import type * as Exports from "./Exports.js"
import type { ExportJob, Job, RedeliveryJob } from "./jobs/definition.js"
import { make } from "./jobs/local.js"
import { keepNothing } from "./jobs/memoryStore.js"
import type {
  JobConflict,
  JobFailed,
  JobNotFound,
  JobStoreError,
  ListFilter,
  RunOptions,
  Status
} from "./jobs/model.js"
import type { Tenants } from "./jobs/tenants.js"
import type * as Redelivery from "./Redelivery.js"

export type { ExportJob, Identity, Job, RedeliveryJob } from "./jobs/definition.js"
export {
  type Counts,
  JobConflict,
  JobFailed,
  JobNotFound,
  type JobOutcome,
  JobStoreError,
  type Kind,
  type ListFilter,
  type RunOptions,
  type State,
  states,
  type Status
} from "./jobs/model.js"
export { layerTenants, Tenants } from "./jobs/tenants.js"

/** The service that runs jobs. @since 0.1.0 @category tags */
export class Jobs extends Context.Tag("effect-identity-client/Jobs")<Jobs, {
  /**
   * Submits a job, and returns its id once its list of events is stored. It then runs by itself. A job with the same kind, tenant and key
   * is the same job: it starts once, however often it is submitted, and goes on where an interrupted `submit` has left its list.
   *
   * Fails with `InvalidInput` that names an invalid field, with `JobConflict` if the key is that of a job with another stream, filter or
   * input, and with the failure of the ids. Ids of a job whose list is complete are not read.
   */
  readonly submit: <E = never, R = never>(
    job: Job<E, R>
  ) => Effect.Effect<string, E | InvalidInput | JobConflict | JobStoreError, R>
  /** Returns a job as it is now. */
  readonly status: (id: string) => Effect.Effect<Status, JobNotFound | JobStoreError>
  /** Waits until a job has ended: is `done`, has failed or was cancelled. */
  readonly awaitEnd: (id: string) => Effect.Effect<Status, JobNotFound | JobStoreError>
  /** Streams the results that a redelivery has now, in the order of its list. An export has none. */
  readonly results: (id: string) => Stream.Stream<Redelivery.Result, JobNotFound | JobStoreError>
  /** Streams the rows of an export that is `done`, as `Exports.run` does. The service keeps its file for 24 hours. */
  readonly rows: <A = Exports.Row, I = unknown>(
    id: string,
    options?: Omit<Exports.Options<A, I>, "job" | "onJob">
  ) => Stream.Stream<
    Either.Either<A, Exports.UndecodableRow>,
    Exports.Failure | JobFailed | JobNotFound | JobStoreError,
    HttpClient.HttpClient
  >
  /**
   * Cancels a job, wherever it runs. Running calls may end, for the `grace` of its run. Returns false if the job has ended already.
   */
  readonly cancel: (id: string) => Effect.Effect<boolean, JobNotFound | JobStoreError>
  /**
   * Goes on with a job that has ended: events that were never sent or certainly not accepted are sent, those that may have been are not.
   * An export whose job in the service has failed, or is not known, starts another one. Returns false if the job has not ended.
   */
  readonly resume: (id: string) => Effect.Effect<boolean, JobNotFound | JobStoreError>
  /** Streams jobs in the order of their submission. */
  readonly list: (filter?: ListFilter) => Stream.Stream<Status, JobStoreError>
  /** Removes jobs that ended longer ago than this, with their results. Returns their number. Their keys are free again. */
  readonly prune: (age: Duration.DurationInput) => Effect.Effect<number, JobStoreError>
}>() {}

/** Makes a redelivery to submit. @since 0.1.0 @category constructors @example `Jobs.redelivery({ tenant, key: "night", stream, events })` */
export const redelivery = <E = never, R = never>(
  options: Omit<RedeliveryJob<E, R>, "kind">
): RedeliveryJob<E, R> => ({ ...options, kind: "redelivery" })

const usersExport = (options: Omit<ExportJob, "kind">): ExportJob => ({ ...options, kind: "export" })

export {
  /** Makes an export of users to submit. @since 0.1.0 @category constructors @example `Jobs.export({ tenant, key: "monday", input: {} })` */
  usersExport as export
}

/**
 * Runs jobs in this process, and keeps them in memory: for tests, and for programs that start anew anyway. When the layer closes, running
 * jobs end as those of a process that dies, but with the `grace` for running calls.
 * @since 0.1.0 @category layers
 */
export const layerMemory = (options: RunOptions = {}): Layer.Layer<Jobs, never, Tenants> =>
  Layer.scoped(Jobs, Effect.flatMap(keepNothing, (keeper) => Effect.orDie(make(keeper, options))))
