/** Runs a job of the store in this process, until it has ended: also after failures that pass. */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { IdentityClient } from "../IdentityClient.js"
import { metricLabelsOf, withFiber } from "../internal/runtime/fiber.js"
import * as Metrics from "../internal/telemetry/metrics.js"
import { runExport } from "./exportRun.js"
import { type Failed, failed, passing, type RunFailure } from "./failures.js"
import { activeStates, endStates, type Kind, type RunOptions, type State } from "./model.js"
import { runRedelivery } from "./redeliveryRun.js"
import type { JobRecord, JobStore } from "./store.js"
import type { Tenants } from "./tenants.js"

/** The waits between the runs of a job that cannot go on now: 1 s, doubled each time, up to 30 s. */
const waits = Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("30 seconds"))

/** Counts a job as running while an effect runs. */
const whileRunning = <A, E, R>(kind: Kind, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  withFiber((fiber) => {
    const add = (difference: number) =>
      Effect.sync(() => Metrics.add(Metrics.jobsOf(kind), difference, metricLabelsOf(fiber)))
    return Effect.acquireUseRelease(add(1), () => self, () => add(-1))
  })

export interface RunnerOptions extends RunOptions {
  readonly store: JobStore
  readonly tenants: Context.Tag.Service<Tenants>
}

/** Makes the function that runs a job. Interrupted, it lets running calls end, and leaves the job for another run. */
export const makeRunner = (options: RunnerOptions): (id: string) => Effect.Effect<void> => {
  const { pollInterval = "2 seconds", store, tenants } = options

  const end = (id: string, state: State, error?: Failed["error"]) =>
    Effect.flatMap(
      Effect.clock,
      (clock) =>
        store.update(id, activeStates, { state, error, endedAt: clock.unsafeCurrentTimeMillis() }).pipe(
          Effect.mapError(passing)
        )
    )

  /** Ends once the job has ended, or was removed. */
  const awaitCancellation = (id: string): Effect.Effect<void> =>
    Effect.delay(store.get(id), pollInterval).pipe(
      Effect.map(Option.match({ onNone: () => true, onSome: ({ state }) => endStates.includes(state) })),
      Effect.orElseSucceed(() => false), // the run itself notices that the store is unavailable
      Effect.repeat({ until: (isOver) => isOver }),
      Effect.asVoid
    )

  const work = (record: JobRecord): Effect.Effect<void, RunFailure> =>
    Effect.scoped(
      Effect.flatMap(
        Effect.mapError(tenants.client(record.tenant), ({ error }) => failed(error)),
        (client) =>
          Effect.provideService(
            record.kind === "redelivery" ? runRedelivery(store, record, options) : runExport(store, record),
            IdentityClient,
            client
          )
      )
    ).pipe(
      // A defect of one job, such as a tenant's own layer may have, is a failure of that job.
      Effect.catchAllDefect((defect) =>
        Effect.zipRight(Effect.logError("a job failed unexpectedly", Cause.die(defect)), failed(defect))
      )
    )

  const runOnce = (id: string): Effect.Effect<void, RunFailure> =>
    Effect.gen(function*() {
      yield* Effect.mapError(store.update(id, ["waiting"], { state: "running" }), passing)
      const record = yield* Effect.mapError(store.get(id), passing)
      if (Option.isNone(record) || record.value.state !== "running") return
      yield* Effect.matchEffect(
        Effect.raceFirst(
          Effect.as(whileRunning(record.value.kind, work(record.value)), true),
          Effect.as(awaitCancellation(id), false)
        ),
        {
          onFailure: (error) => error._tag === "Failed" ? end(id, "failed", error.error) : error,
          onSuccess: (isDone) => isDone ? end(id, "done") : Effect.void
        }
      )
    })

  return (id) =>
    runOnce(id).pipe(
      Effect.tapError(({ message }) => Effect.logWarning(`a job cannot go on now, and is tried again: ${message}`)),
      Effect.retry(waits),
      Effect.orDie, // never: it is retried without end
      Effect.annotateLogs({ job: id })
    )
}
