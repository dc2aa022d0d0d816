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
import { isResponding } from "./cluster/database.js"
import { migrate, migrateAll } from "./cluster/migrations.js"
import { requireSessions } from "./cluster/sessions.js"
import { makeSharedBackend } from "./cluster/sharedStore.js"
import {
  layerService,
  layerStore as layerJobStore,
  layerSweep,
  layerWorkflow,
  RunningJobs
} from "./cluster/workflow.js"
import type { InvalidInput } from "./Errors.js"
import type { Jobs } from "./jobs/jobs.js"
import { type JobStoreError, type RunOptions, validateRunOptions } from "./jobs/model.js"
import type { Tenants } from "./jobs/tenants.js"
import * as SharedStore from "./SharedStore.js"

export { RunningJobs }

/** The settings of the jobs of a cluster. @since 0.1.0 @category models */
export interface Options extends RunOptions {
  /** The time after their end after which jobs are removed, with their lists and results (default 30 days). */
  readonly pruneAfter?: Duration.DurationInput | undefined
}

/**
 * Creates all tables, of the jobs, of the shared store and of the engine (`cluster_*`), or brings them up to date. Any number of processes may
 * run it at the same time. Run it before the layers of the engine (`NodeClusterSocket.layer`) are built, as
 * `Layer.effectDiscard(Cluster.migrations)` below them does: they create their tables too, but two runners that do so at the same time on an
 * empty database fail. It uses three connections at a time, and fails if its pool does not have them free within 5 seconds. Over a pooler in
 * transaction or statement mode, which loses the engine's locks, it fails too.
 * @since 0.1.0 @category constructors
 */
export const migrations: Effect.Effect<void, JobStoreError, SqlClient.SqlClient> = migrateAll

/**
 * Runs jobs on a cluster: `Sharding` and `MessageStorage` are those of `NodeClusterSocket.layer`. With `clientOnly` there, a process
 * submits and watches jobs, and runs none.
 *
 * Each job runs on one runner at a time. If that dies, another goes on once its shards are free and the lock of the job has expired
 * (`lockExpiry`). Each event is claimed in the database before it is sent, so no event is sent twice, even if a runner comes back that
 * still takes the job for its own: an event that was claimed and has no outcome is `unknown`. While
 * the database is unavailable, nothing is sent.
 *
 * A claim holds as long as the database keeps what it has committed: `synchronous_commit` must be `on`, its default. A failover to a replica
 * that is asynchronous may lose the last claims, whose events are then sent twice. Over a pooler in transaction or statement mode the layer fails.
 * @since 0.1.0 @category layers
 */
export const layerJobsWith = (
  options: Options
): Layer.Layer<
  Jobs | RunningJobs,
  InvalidInput | JobStoreError,
  MessageStorage.MessageStorage | Sharding.Sharding | SqlClient.SqlClient | Tenants
> =>
  layerService(options).pipe(
    Layer.merge(layerWorkflow(options)),
    Layer.merge(layerSweep(options.pruneAfter ?? "30 days")),
    Layer.provide(layerJobStore),
    Layer.provide(
      Layer.merge(ClusterWorkflowEngine.layer, Layer.effectDiscard(Effect.zipRight(requireSessions, migrate)))
    ),
    Layer.provide(Layer.effectDiscard(validateRunOptions("Cluster.layerJobsWith", options)))
  )

/** `layerJobsWith` with its defaults. @since 0.1.0 @category layers */
export const layerJobs: ReturnType<typeof layerJobsWith> = /* @__PURE__ */ layerJobsWith({})

/**
 * A `SharedStore` in PostgreSQL, for `Fleet`: its clock is that of the database. A fleet with Redis at hand loads the database less with
 * that.
 * @since 0.1.0 @category layers
 */
export const layerStoreWith = (
  options: SharedStore.Options
): Layer.Layer<SharedStore.SharedStore, InvalidInput | JobStoreError, SqlClient.SqlClient> =>
  SharedStore.layer(Effect.zipRight(migrate, makeSharedBackend), options)

/** `layerStoreWith` with its defaults. @since 0.1.0 @category layers */
export const layerStore: ReturnType<typeof layerStoreWith> = /* @__PURE__ */ layerStoreWith({})

/** The health of a process of the cluster. @since 0.1.0 @category models */
export interface Health {
  /** The process has not begun to shut down, and the database responds within 2 s. */
  readonly isReady: boolean
  /** The number of jobs that this process runs. */
  readonly jobs: number
}

/** Tells the health of a process of the cluster, for a probe of an orchestrator. @since 0.1.0 @category constructors */
export const health: Effect.Effect<Health, never, RunningJobs | Sharding.Sharding | SqlClient.SqlClient> = Effect.gen(
  function*() {
    const { isShutdown } = yield* Sharding.Sharding
    const { count } = yield* RunningJobs
    const isReady = !(yield* isShutdown) && (yield* isResponding)
    return { isReady, jobs: yield* count }
  }
)
