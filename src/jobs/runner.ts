/** Runs a job of the store in this process, until it has ended: also after failures that pass. */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { IdentityClient } from "../IdentityClient.js"
import { failureName } from "../internal/runtime/failures.js"
import { clockOf, runUntil, withFiber } from "../internal/runtime/fiber.js"
import { monotonicMillis } from "../internal/runtime/monotonicClock.js"
import * as Metrics from "../internal/telemetry/metrics.js"
import { runExport } from "./exportRun.js"
import { type Failure, foreign, passing, type RunFailure } from "./failures.js"
import { activeStates, endStates, type Kind, type RunOptions, type State } from "./model.js"
import { runRedelivery } from "./redeliveryRun.js"
import type { JobRecord, JobStore } from "./store.js"
import type { TenantFailure, Tenants } from "./tenants.js"

/** The waits between the runs of a job that cannot go on now, in milliseconds: the first, doubled each time, and the longest. */
const [firstWait, longestWait] = [1000, 30_000]

/** Counts a job as running while an effect runs. */
const whileRunning = <A, E, R>(kind: Kind, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  withFiber((fiber) => {
    const add = (difference: number) =>
      Effect.sync(() => Metrics.add(Metrics.jobsOf(kind), difference, Metrics.labelsOf(fiber)))
    return Effect.acquireUseRelease(add(1), () => self, () => add(-1))
  })

const noClient = ({ error }: TenantFailure) => foreign(error, "there is no client for the tenant: its layer has failed")

/** A defect of one job, such as a tenant's own layer may have, is a failure of that job. */
const defective = (defect: unknown) =>
  Effect.zipRight(
    Effect.logError("a job failed unexpectedly", Cause.die(defect)),
    foreign(defect, "the job failed unexpectedly: the log of its process says more")
  )

/** Checks that a job was not removed or resumed since it was seen. */
const isSame = (seen: JobRecord, now: JobRecord): boolean =>
  now.resumed === seen.resumed && now.submittedAt === seen.submittedAt

/** A run of a job, which is tried again while it cannot go on. */
interface Run {
  readonly id: string
  /** The job as the run has found it first. */
  readonly first: JobRecord | undefined
  /** The wait before the next attempt, in milliseconds. */
  readonly wait: number
  /** The time since when there was no response of the service, if it is unavailable. */
  readonly unavailableSince: number | undefined
}

export interface RunnerOptions extends RunOptions {
  readonly store: JobStore
  readonly tenants: Context.Tag.Service<Tenants>
}

/** Makes the function that runs a job. Interrupted, it lets running calls end, and leaves the job for another run. */
export const makeRunner = (options: RunnerOptions): (id: string) => Effect.Effect<void> => {
  const { giveUpAfter = "1 day", pollInterval = "2 seconds", store, tenants } = options

  /** Ends a job, unless it was resumed or removed since this run began. */
  const end = (job: JobRecord, state: State, error?: Failure) =>
    withFiber((fiber) =>
      store.update(job, activeStates, { state, error, endedAt: clockOf(fiber).unsafeCurrentTimeMillis() }).pipe(
        Effect.mapError(passing),
        Effect.asVoid
      )
    )

  /** Ends once the job has ended, or was removed or resumed. */
  const awaitCancellation = (job: JobRecord): Effect.Effect<void> =>
    Effect.delay(store.get(job.id), pollInterval).pipe(
      Effect.map(Option.match({
        onNone: () => true,
        onSome: (now) => endStates.includes(now.state) || !isSame(job, now)
      })),
      Effect.orElseSucceed(() => false), // the run itself notices that the store is unavailable
      Effect.repeat({ until: (isOver) => isOver }),
      Effect.asVoid
    )

  const work = (job: JobRecord, onResponse: Effect.Effect<void>): Effect.Effect<void, RunFailure> =>
    Effect.scoped(
      Effect.flatMap(
        Effect.mapError(tenants.client(job.tenant), noClient),
        (client) =>
          Effect.provideService(
            job.kind === "redelivery"
              ? runRedelivery(store, job, options, onResponse)
              : runExport(store, job, options, onResponse),
            IdentityClient,
            client
          )
      )
    ).pipe(Effect.catchAllDefect(defective))

  const runOnce = (job: JobRecord, onResponse: Effect.Effect<void>): Effect.Effect<boolean, RunFailure> =>
    runUntil(Effect.zipRight(whileRunning(job.kind, work(job, onResponse)), end(job, "done")), awaitCancellation(job))

  /** Finds the job, if it is to run. One that was removed or resumed since this run began has a run of its own. */
  const find = ({ first, id }: Run) =>
    Effect.mapError(store.get(id), passing).pipe(
      Effect.map(Option.filter((job) => isSame(first ?? job, job))),
      Effect.flatMap(Option.match({
        onNone: () => Effect.succeedNone,
        onSome: (job) =>
          job.state === "waiting"
            ? Effect.as(
              Effect.mapError(store.update(job, ["waiting"], { state: "running" }), passing),
              Option.some(job)
            )
            : Effect.succeed(job.state === "running" ? Option.some(job) : Option.none<JobRecord>())
      }))
    )

  const runUntilEnd = (run: Run): Effect.Effect<void> =>
    withFiber((fiber) => {
      const now = () => monotonicMillis(clockOf(fiber))
      let { first, unavailableSince = now() } = run
      const onResponse = Effect.sync(() => void (unavailableSince = now()))
      return Effect.flatMap(
        find(run),
        Option.match({
          onNone: () => Effect.void,
          onSome: (job) => {
            first ??= job
            return Effect.catchAll(runOnce(job, onResponse), (failure) => {
              const isOver = failure._tag === "Failed" ||
                (failure.isService && now() - unavailableSince >= Duration.toMillis(giveUpAfter))
              return isOver ? end(job, "failed", failure.error) : failure
            })
          }
        })
      ).pipe(
        Effect.catchTag("Passing", ({ error, isService }) =>
          // The message of a failed call may hold text of the service.
          Effect.logWarning(
            `a job cannot go on now, and is tried again: ${isService ? failureName(error) : error.message}`
          )
            .pipe(
              Effect.zipRight(Effect.sleep(run.wait)),
              Effect.zipRight(Effect.suspend(() =>
                runUntilEnd({
                  ...run,
                  first,
                  wait: Math.min(2 * run.wait, longestWait),
                  unavailableSince: isService ? unavailableSince : undefined
                })
              ))
            ))
      )
    })

  return (id) =>
    Effect.annotateLogs(
      runUntilEnd({ id, first: undefined, wait: firstWait, unavailableSince: undefined }),
      { job: id }
    )
}
