/** Runs a job of the store in this process, until it has ended: also after failures that pass. */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { IdentityClient } from "../IdentityClient.js"
import { clockOf, runUntil, withFiber } from "../internal/runtime/fiber.js"
import { monotonicMillis } from "../internal/runtime/monotonicClock.js"
import * as Metrics from "../internal/telemetry/metrics.js"
import { runExport } from "./exportRun.js"
import { Failed, foreignReason, passing, type RunFailure } from "./failures.js"
import { activeStates, endStates, type Kind, type RunOptions, type State } from "./model.js"
import { runRedelivery } from "./redeliveryRun.js"
import type { JobRecord, JobStore } from "./store.js"
import type { TenantFailure, Tenants } from "./tenants.js"

/** The waits between the runs of a job that cannot go on now, in milliseconds: the first, doubled each time, and the longest. */
const [firstWait, longestWait] = [1000, 30_000]

/** A run that took longer than this, in milliseconds, shows that the service was available in between. */
const longRun = 600_000

/** Counts a job as running while an effect runs. */
const whileRunning = <A, E, R>(kind: Kind, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  withFiber((fiber) => {
    const add = (difference: number) =>
      Effect.sync(() => Metrics.add(Metrics.jobsOf(kind), difference, Metrics.labelsOf(fiber)))
    return Effect.acquireUseRelease(add(1), () => self, () => add(-1))
  })

const noClient = ({ error }: TenantFailure) =>
  new Failed({ error: foreignReason(error, "there is no client for the tenant: its layer has failed") })

/** A defect of one job, such as a tenant's own layer may have, is a failure of that job. */
const defective = (defect: unknown) =>
  Effect.zipRight(
    Effect.logError("a job failed unexpectedly", Cause.die(defect)),
    new Failed({ error: foreignReason(defect, "the job failed unexpectedly: the log of its process says more") })
  )

export interface RunnerOptions extends RunOptions {
  readonly store: JobStore
  readonly tenants: Context.Tag.Service<Tenants>
}

/** Makes the function that runs a job. Interrupted, it lets running calls end, and leaves the job for another run. */
export const makeRunner = (options: RunnerOptions): (id: string) => Effect.Effect<void> => {
  const { giveUpAfter = "1 day", pollInterval = "2 seconds", store, tenants } = options

  /** Ends a job, unless it was resumed or removed since this run began. */
  const end = (job: JobRecord, state: State, error?: Failed["error"]) =>
    withFiber((fiber) =>
      store.update(job, activeStates, { state, error, endedAt: clockOf(fiber).unsafeCurrentTimeMillis() }).pipe(
        Effect.mapError(passing),
        Effect.asVoid
      )
    )

  /** Ends once the job has ended, or was removed or resumed. */
  const awaitCancellation = ({ id, resumed, submittedAt }: JobRecord): Effect.Effect<void> =>
    Effect.delay(store.get(id), pollInterval).pipe(
      Effect.map(Option.match({
        onNone: () => true,
        onSome: (now) => endStates.includes(now.state) || now.resumed !== resumed || now.submittedAt !== submittedAt
      })),
      Effect.orElseSucceed(() => false), // the run itself notices that the store is unavailable
      Effect.repeat({ until: (isOver) => isOver }),
      Effect.asVoid
    )

  const work = (job: JobRecord): Effect.Effect<void, RunFailure> =>
    Effect.scoped(
      Effect.flatMap(
        Effect.mapError(tenants.client(job.tenant), noClient),
        (client) =>
          Effect.provideService(
            job.kind === "redelivery" ? runRedelivery(store, job, options) : runExport(store, job),
            IdentityClient,
            client
          )
      )
    ).pipe(Effect.catchAllDefect(defective))

  const runOnce = (job: JobRecord): Effect.Effect<boolean, RunFailure> =>
    runUntil(Effect.zipRight(whileRunning(job.kind, work(job)), end(job, "done")), awaitCancellation(job))

  /** Finds the job, if it is to run. */
  const find = (id: string) =>
    Effect.mapError(store.get(id), passing).pipe(
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

  /** `unavailableSince`: the time of the first of the last failures, if they are all of the service. */
  const runUntilEnd = (id: string, wait: number, unavailableSince: number | undefined): Effect.Effect<void> =>
    withFiber((fiber) => {
      const now = () => monotonicMillis(clockOf(fiber))
      const startedAt = now()
      /** The time since when the service is unavailable, if the run ends now because it is. */
      const since = () => now() - startedAt > longRun ? now() : unavailableSince ?? now()
      return Effect.flatMap(
        find(id),
        Option.match({
          onNone: () => Effect.void,
          onSome: (job) =>
            Effect.catchAll(runOnce(job), (failure) => {
              const isOver = failure._tag === "Failed" ||
                (failure.isService && now() - since() >= Duration.toMillis(giveUpAfter))
              return isOver ? end(job, "failed", failure.error) : failure
            })
        })
      ).pipe(
        Effect.catchTag("Passing", ({ error, isService }) => {
          const next = isService ? since() : undefined
          return Effect.logWarning(`a job cannot go on now, and is tried again: ${error.message}`).pipe(
            Effect.zipRight(Effect.sleep(wait)),
            Effect.zipRight(Effect.suspend(() => runUntilEnd(id, Math.min(2 * wait, longestWait), next)))
          )
        })
      )
    })

  return (id) => Effect.annotateLogs(runUntilEnd(id, firstWait, undefined), { job: id })
}
