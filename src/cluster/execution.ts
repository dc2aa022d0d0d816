/** The executions of a job's workflow: one for each run of the job, and another one if that has completed without the job's end. */
import { EntityAddress } from "@effect/cluster/EntityAddress"
import { EntityId } from "@effect/cluster/EntityId"
import { EntityType } from "@effect/cluster/EntityType"
import { MessageStorage } from "@effect/cluster/MessageStorage"
import { Sharding } from "@effect/cluster/Sharding"
import * as Workflow from "@effect/workflow/Workflow"
import { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { activeStates, JobStoreError } from "../jobs/model.js"
import type { JobRecord, JobStore } from "../jobs/store.js"
import type { RemovedJob } from "./jobStore.js"

/** One execution for a job. `run` differs after the job is resumed, or removed and submitted anew. */
export const JobWorkflow = Workflow.make({
  name: "effect-identity-client-job",
  payload: { id: Schema.String, run: Schema.String },
  idempotencyKey: ({ id, run }) => `${id}/${run}`
})

/** More executions of one run than this are not tried. */
const mostAttempts = 100

type Run = Pick<JobRecord, "id" | "submittedAt" | "resumed">

const payloadOf = ({ id, resumed, submittedAt }: Run, attempt: number) => ({
  id,
  run: `${submittedAt}-${resumed}${attempt === 0 ? "" : `-${attempt}`}`
})

/** The engine reports failures of its storage as defects. */
const persistenceError = (cause: Cause.Cause<unknown>): Option.Option<JobStoreError> =>
  Chunk.findFirst(Cause.defects(cause), Predicate.isTagged("PersistenceError")).pipe(
    Option.map((defect) => new JobStoreError({ message: `the cluster's storage cannot be used: ${textOf(defect)}` }))
  )

const textOf = (error: unknown): string =>
  Predicate.hasProperty(error, "cause") && Predicate.hasProperty(error.cause, "message")
    ? String(error.cause.message)
    : "unknown failure"

const failPersistence = <A, R>(self: Effect.Effect<A, never, R>): Effect.Effect<A, JobStoreError, R> =>
  Effect.catchSomeCause(self, (cause) => Option.map(persistenceError(cause), (error) => Effect.fail(error)))

/** An execution has ended, in whatever way. */
const hasCompleted = (run: Run, attempt: number): Effect.Effect<boolean, JobStoreError, WorkflowEngine> =>
  JobWorkflow.executionId(payloadOf(run, attempt)).pipe(
    Effect.flatMap(JobWorkflow.poll),
    Effect.map((result) => result?._tag === "Complete"),
    failPersistence,
    // The execution itself has failed with a defect.
    Effect.catchAllCause((cause) =>
      Option.isSome(Cause.failureOption(cause)) ? Effect.failCause(cause) : Effect.succeed(true)
    )
  )

/** The job is still in the same run, and has not ended. */
const isActive = (store: Pick<JobStore, "get">, { id, resumed, submittedAt }: Run) =>
  Effect.map(
    store.get(id),
    Option.exists((job) =>
      job.submittedAt === submittedAt && job.resumed === resumed && activeStates.includes(job.state)
    )
  )

/**
 * Makes sure that a job is executed. Where its execution has completed though the job has not ended, such as one that failed unexpectedly,
 * another one begins.
 */
export const makeStart = (store: Pick<JobStore, "get">) =>
  Effect.map(WorkflowEngine, (engine) => {
    const start = (record: JobRecord, attempt: number): Effect.Effect<void, JobStoreError, WorkflowEngine> =>
      Effect.gen(function*() {
        if (yield* hasCompleted(record, attempt)) {
          if (!(yield* isActive(store, record))) return
          if (attempt < mostAttempts) return yield* start(record, attempt + 1)
          return yield* new JobStoreError({
            message: `the job ${record.id} does not end, however often it is executed`
          })
        }
        yield* failPersistence(JobWorkflow.execute(payloadOf(record, attempt), { discard: true }))
      })
    return (record: JobRecord): Effect.Effect<void, JobStoreError> =>
      Effect.provideService(start(record, 0), WorkflowEngine, engine)
  })

/** Makes the effect that removes what the engine has stored about the executions of a job that was removed. */
export const makeClear = Effect.gen(function*() {
  const engine = yield* WorkflowEngine
  const sharding = yield* Sharding
  const storage = yield* MessageStorage

  const clearRun = (run: Run, attempt: number): Effect.Effect<void, JobStoreError, WorkflowEngine> =>
    Effect.gen(function*() {
      const entityId = EntityId.make(yield* JobWorkflow.executionId(payloadOf(run, attempt)))
      const mayHaveNext = yield* hasCompleted(run, attempt)
      yield* failPersistence(Effect.orDie(storage.clearAddress(
        new EntityAddress({
          shardId: sharding.getShardId(entityId, "default"),
          entityType: EntityType.make(`Workflow/${JobWorkflow.name}`),
          entityId
        })
      )))
      if (mayHaveNext && attempt < mostAttempts) yield* clearRun(run, attempt + 1)
    })

  return ({ resumed, ...job }: RemovedJob): Effect.Effect<void> =>
    Effect.forEach(Array.from({ length: resumed + 1 }), (_, nth) => clearRun({ ...job, resumed: nth }, 0), {
      discard: true
    }).pipe(
      Effect.catchAll(({ message }) =>
        Effect.logWarning(`messages of the job ${job.id}, which was removed, are left: ${message}`)
      ),
      Effect.provideService(WorkflowEngine, engine)
    )
})
