/** Runs jobs on the runners of a cluster: one workflow for each job, that another runner goes on with if its own one dies. */
import { EntityId } from "@effect/cluster/EntityId"
import { Sharding } from "@effect/cluster/Sharding"
import * as Singleton from "@effect/cluster/Singleton"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { runUntil } from "../internal/runtime/fiber.js"
import { Jobs } from "../jobs/jobs.js"
import { activeStates, type JobStoreError, type RunOptions } from "../jobs/model.js"
import { makeRunner } from "../jobs/runner.js"
import { makeService } from "../jobs/service.js"
import type { JobRecord, JobStore } from "../jobs/store.js"
import { Tenants } from "../jobs/tenants.js"
import { JobWorkflow, makeClear, makeStart } from "./execution.js"
import { makeJobStoreWith } from "./jobStore.js"

/** The storage of the jobs of a cluster. */
export class Store extends Context.Tag("effect-identity-client/Cluster/Store")<Store, JobStore>() {}

/** Keeps the jobs in PostgreSQL. What the engine has stored about a job is removed with it. */
export const layerStore = Layer.scoped(Store, Effect.flatMap(makeClear, (onRemoved) => makeJobStoreWith({ onRemoved })))

/** The jobs that this process runs. @since 0.1.0 @category tags */
export class RunningJobs extends Context.Tag("effect-identity-client/Cluster/RunningJobs")<RunningJobs, {
  readonly count: Effect.Effect<number>
}>() {}

/** The jobs of a cluster, as each of its processes sees them. */
export const layerService = (options: RunOptions) =>
  Layer.effect(
    Jobs,
    Effect.gen(function*() {
      const store = yield* Store
      const tenants = yield* Tenants
      const start = yield* makeStart(store)
      return makeService({ store, tenants, start, pollInterval: options.pollInterval })
    })
  )

/** The time between two looks at whether this process is still the one that runs a workflow. */
const lookInterval = "200 millis"

/**
 * Keeps the scope open while runs go on. The engine does not wait for the runs of shards that it is giving up, for example because it has
 * lost their locks: if the process shuts down then, they would lose their storage before they can note the outcomes of running calls.
 */
const makeAwaited = Effect.gen(function*() {
  const isIdle = yield* Effect.makeLatch(true)
  let isClosing = false
  let runs = 0
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isClosing = true
      return isIdle.await
    })
  )
  return {
    isClosing: () => isClosing,
    /** The number of runs that go on. */
    count: Effect.sync(() => runs),
    awaited: <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.suspend(() => ++runs === 1 ? isIdle.close : Effect.void),
        () => run,
        () => Effect.suspend(() => --runs === 0 ? isIdle.open : Effect.void)
      )
  }
})

/**
 * Carries out the workflows that this process gets. The engine lets a workflow run on while its process shuts down or its shard moves to
 * another one, so it stops by itself: interrupted, it is left to that process.
 */
export const layerWorkflow = (options: RunOptions) =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const store = yield* Store
    const tenants = yield* Tenants
    const sharding = yield* Sharding
    const run = makeRunner({ ...options, store, tenants })
    const { awaited, count, isClosing } = yield* makeAwaited

    const untilMoved = (executionId: string) => {
      const shard = sharding.getShardId(EntityId.make(executionId), "default")
      return Effect.sleep(lookInterval).pipe(
        Effect.repeat({ while: () => !isClosing() && sharding.hasShardId(shard) })
      )
    }
    return Layer.merge(
      Layer.succeed(RunningJobs, { count }),
      JobWorkflow.toLayer(({ id }, executionId) =>
        Effect.flatMap(
          awaited(runUntil(run(id), untilMoved(executionId))),
          (isMoved) => isMoved ? Effect.interrupt : Effect.void
        )
      )
    )
  }))

const sweepInterval = Duration.seconds(30)

/**
 * Makes the effect that starts jobs whose submitter died before it could, or whose execution has completed without the job's end, and then
 * removes old ones. A job that cannot be started does not keep the others. `pageSize` is the number of jobs that are read at once.
 */
export const makeSweep = (pruneAfter: Duration.DurationInput, pageSize = 500) =>
  Effect.gen(function*() {
    const store = yield* Store
    const start = yield* makeStart(store)

    const startOne = (record: JobRecord) =>
      Effect.catchAllCause(start(record), (cause) => Effect.logWarning(`could not start the job ${record.id}`, cause))

    const startAll = (after: JobRecord | undefined): Effect.Effect<void, JobStoreError> =>
      Effect.gen(function*() {
        const active = yield* store.list({ states: activeStates }, { after, limit: pageSize })
        yield* Effect.forEach(active, startOne, { discard: true })
        if (active.length === pageSize) yield* startAll(active.at(-1))
      })

    return Effect.gen(function*() {
      yield* startAll(undefined)
      const now = yield* Effect.map(Effect.clock, (clock) => clock.unsafeCurrentTimeMillis())
      yield* store.prune(now - Duration.toMillis(pruneAfter))
    })
  })

/** Looks after the jobs now and then. One runner of the cluster does it. */
export const layerSweep = (pruneAfter: Duration.DurationInput) =>
  Layer.unwrapEffect(Effect.map(makeSweep(pruneAfter), (sweep) =>
    Singleton.make(
      "effect-identity-client-sweep",
      sweep.pipe(
        Effect.catchAll(({ message }) => Effect.logWarning(`could not look after the jobs: ${message}`)),
        Effect.delay(sweepInterval),
        Effect.forever
      )
    )))
