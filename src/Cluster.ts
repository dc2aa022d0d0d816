/**
 * Subpath /Cluster: jobs that outlive their machine. They are kept in PostgreSQL, and run on the runners of a cluster of
 * `@effect/cluster`: if one dies, another goes on. PostgreSQL can also be the store that a fleet shares (`layerStore`).
 */
import * as ClusterWorkflowEngine from "@effect/cluster/ClusterWorkflowEngine"
import type * as MessageStorage from "@effect/cluster/MessageStorage"
import * as Sharding from "@effect/cluster/Sharding"
import type * as SqlClient from "@effect/sql/SqlClient"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeJobStore } from "./cluster/jobStore.js"
import { migrate } from "./cluster/migrations.js"
import { makeSharedBackend } from "./cluster/sharedStore.js"
import { layerService, layerSweep, layerWorkflow, Store } from "./cluster/workflow.js"
import type { Jobs } from "./jobs/jobs.js"
import type { JobStoreError, RunOptions } from "./jobs/model.js"
import type { Tenants } from "./jobs/tenants.js"
import * as SharedStore from "./SharedStore.js"

/** The settings of the jobs of a cluster. @since 0.1.0 @category models */
export interface Options extends RunOptions {
  /** The time after their end after which jobs are removed, with their lists and results (default 30 days). */
  readonly pruneAfter?: Duration.DurationInput | undefined
}

/**
 * Creates the tables of the jobs and of the shared store, or brings them up to date. The layers below do that themselves; run it apart if
 * their database user may not. Any number of processes may run it at the same time.
 * @since 0.1.0 @category constructors
 */
export const migrations: Effect.Effect<void, JobStoreError, SqlClient.SqlClient> = migrate

/**
 * Runs jobs on a cluster: `Sharding` and `MessageStorage` are those of `NodeClusterSocket.layer`. With `clientOnly` there, a process
 * submits and watches jobs, and runs none.
 *
 * Each job runs on one runner at a time. If that dies, another goes on once its shards are free and the lock of the job has expired
 * (`lockExpiry`). Each event is claimed in the database before it is sent, so no event is sent twice, even if a runner comes back that
 * still takes the job for its own: an event that was claimed and has no outcome is `unknown`. While
 * the database is unavailable, nothing is sent.
 * @since 0.1.0 @category layers
 */
export const layerJobs = (
  options: Options = {}
): Layer.Layer<
  Jobs,
  JobStoreError,
  MessageStorage.MessageStorage | Sharding.Sharding | SqlClient.SqlClient | Tenants
> =>
  layerService(options).pipe(
    Layer.merge(layerWorkflow(options)),
    Layer.merge(layerSweep(options.pruneAfter ?? "30 days")),
    Layer.provide(ClusterWorkflowEngine.layer),
    Layer.provide(Layer.scoped(Store, Effect.zipRight(migrate, makeJobStore)))
  )

/**
 * A `SharedStore` in PostgreSQL, for `Fleet`: its clock is that of the database. A fleet with Redis at hand loads the database less with
 * that.
 * @since 0.1.0 @category layers
 */
export const layerStore = (
  options?: SharedStore.Options
): Layer.Layer<SharedStore.SharedStore, JobStoreError, SqlClient.SqlClient> =>
  SharedStore.layer(Effect.zipRight(migrate, makeSharedBackend), options)

/**
 * The health of a process of the cluster: `isReady` while it can run jobs, which it cannot after it has begun to shut down. For a probe
 * of an orchestrator.
 * @since 0.1.0 @category constructors
 */
export const health = Effect.flatMap(Sharding.Sharding, (sharding) =>
  Effect.map(
    Effect.all([sharding.isShutdown, sharding.activeEntityCount]),
    ([isShutdown, jobs]) => ({ isReady: !isShutdown, jobs })
  ))
