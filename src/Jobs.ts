/**
 * Subpath /Jobs: redeliveries and exports as jobs with an id. A job is submitted once, runs by itself, and tells how far it is; it can be
 * cancelled and resumed. The same program runs over memory (tests), files (`/Node`), or many machines (`/Cluster`): only the layer differs.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { InvalidInput } from "./Errors.js"
import type { ExportJob, RedeliveryJob } from "./jobs/definition.js"
import { Jobs } from "./jobs/jobs.js"
import { make } from "./jobs/local.js"
import { keepNothing } from "./jobs/memoryStore.js"
import { type RunOptions, validateRunOptions } from "./jobs/model.js"
import type { Tenants } from "./jobs/tenants.js"

export type { ExportJob, Identity, Job, RedeliveryJob } from "./jobs/definition.js"
export { type AwaitOptions, Jobs } from "./jobs/jobs.js"
export {
  type Counts,
  JobConflict,
  JobNotFound,
  type JobOutcome,
  JobStoreError,
  JobTimeout,
  type Kind,
  type ListFilter,
  RowsUnavailable,
  type RunOptions,
  type State,
  states,
  type Status
} from "./jobs/model.js"
export { Failure } from "./jobs/failures.js"
export { layerTenants, TenantFailure, Tenants } from "./jobs/tenants.js"

/** Makes a redelivery to submit. @since 0.1.0 @category constructors @example `Jobs.redelivery({ tenant, key: "night", stream, events })` */
export const redelivery = <E = never, R = never>(
  options: Omit<RedeliveryJob<E, R>, "kind">
): RedeliveryJob<E, R> => ({ ...options, kind: "redelivery" })

/** Makes an export of users to submit. @since 0.1.0 @category constructors @example `Jobs.export({ tenant, key: "monday", input: {} })` */
const usersExport = (options: Omit<ExportJob, "kind">): ExportJob => ({ ...options, kind: "export" })

export { usersExport as export }

/**
 * Runs jobs in this process, and keeps them in memory: for tests, and for programs that start anew anyway. When the layer closes, running
 * jobs end as those of a process that dies, but with the `grace` for running calls.
 * @since 0.1.0 @category layers
 */
export const layerMemoryWith = (options: RunOptions): Layer.Layer<Jobs, InvalidInput, Tenants> =>
  Layer.scoped(
    Jobs,
    Effect.zipRight(
      validateRunOptions("Jobs.layerMemoryWith", options),
      Effect.flatMap(keepNothing, (keeper) => Effect.orDie(make(keeper, options)))
    )
  )

/** `layerMemoryWith` with its defaults. @since 0.1.0 @category layers */
export const layerMemory: Layer.Layer<Jobs, never, Tenants> = /* @__PURE__ */ Layer.orDie(
  /* @__PURE__ */ layerMemoryWith({})
)
