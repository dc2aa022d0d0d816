/** Runs jobs on the runners of a cluster: one workflow for each job, that another runner goes on with if its own one dies. */
import { EntityId } from "@effect/cluster/EntityId"
import { Sharding } from "@effect/cluster/Sharding"
import * as Singleton from "@effect/cluster/Singleton"
import * as Workflow from "@effect/workflow/Workflow"
import { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Jobs } from "../jobs/jobs.js"
import { JobStoreError, type RunOptions } from "../jobs/model.js"
import { makeRunner } from "../jobs/runner.js"
import { makeService } from "../jobs/service.js"
import type { JobRecord, JobStore } from "../jobs/store.js"
import { Tenants } from "../jobs/tenants.js"

/** The storage of the jobs of a cluster. */
export class Store extends Context.Tag("effect-identity-client/Cluster/Store")<Store, JobStore>() {}

/** One run of a job. `run` differs after the job is resumed, or removed and submitted anew. */
const JobWorkflow = Workflow.make({
  name: "effect-identity-client-job",
  payload: { id: Schema.String, run: Schema.String },
  idempotencyKey: ({ id, run }) => `${id}/${run}`
})

const payloadOf = ({ id, resumed, submittedAt }: JobRecord) => ({ id, run: `${submittedAt}-${resumed}` })

/** Executes the workflow of a job. It may have been executed before: then nothing happens. */
const makeStart = Effect.map(
  WorkflowEngine,
  (engine) => (record: JobRecord): Effect.Effect<void, JobStoreError> =>
    JobWorkflow.execute(payloadOf(record), { discard: true }).pipe(
      Effect.provideService(WorkflowEngine, engine),
      Effect.catchAllDefect(() => new JobStoreError({ message: "the cluster's database cannot be used" })),
      Effect.asVoid
    )
)

/** The jobs of a cluster, as each of its processes sees them. */
export const layerService = (options: RunOptions) =>
  Layer.effect(
    Jobs,
    Effect.gen(function*() {
      const store = yield* Store
      const tenants = yield* Tenants
      const start = yield* makeStart
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
    /** A run has a fiber of its own: on interruption, those that it races would otherwise outlive it. */
    awaited: <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.suspend(() => ++runs === 1 ? isIdle.close : Effect.void).pipe(
          Effect.zipRight(Effect.forkDaemon(Effect.interruptible(run)))
        ),
        Fiber.join,
        (fiber) =>
          Effect.zipRight(Fiber.interrupt(fiber), Effect.suspend(() => --runs === 0 ? isIdle.open : Effect.void))
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
    const { awaited, isClosing } = yield* makeAwaited

    const untilMoved = (executionId: string) => {
      const shard = sharding.getShardId(EntityId.make(executionId), "default")
      return Effect.sleep(lookInterval).pipe(
        Effect.repeat({ while: () => !isClosing() && sharding.hasShardId(shard) }),
        Effect.zipRight(Effect.interrupt)
      )
    }
    return JobWorkflow.toLayer(({ id }, executionId) => Effect.raceFirst(awaited(run(id)), untilMoved(executionId)))
  }))

const sweepInterval = Duration.seconds(30)

/** Starts jobs whose submitter died before it could, and removes old ones. One runner of the cluster does it. */
export const layerSweep = (pruneAfter: Duration.DurationInput) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const store = yield* Store
    const start = yield* makeStart
    const sweep = Effect.gen(function*() {
      const now = yield* Effect.map(Effect.clock, (clock) => clock.unsafeCurrentTimeMillis())
      yield* store.prune(now - Duration.toMillis(pruneAfter))
      const waiting = yield* store.list({ states: ["waiting"] }, { after: undefined, limit: 1000 })
      yield* Effect.forEach(waiting, start, { discard: true })
    })
    return Singleton.make(
      "effect-identity-client-sweep",
      sweep.pipe(
        Effect.catchAll(({ message }) => Effect.logWarning(`could not look after the jobs: ${message}`)),
        Effect.delay(sweepInterval),
        Effect.forever
      )
    )
  }))
