/** Runs an export: starts its job in the service once, and waits until the file is there. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { outcome } from "../Errors.js"
import type * as Exports from "../Exports.js"
import { IdentityClient } from "../IdentityClient.js"
import { ExportError } from "../internal/exports/exportError.js"
import * as Job from "../internal/exports/job.js"
import { claimed } from "../internal/redelivery/claim.js"
import { passesWithTime } from "../internal/runtime/failures.js"
import { createUsersExport } from "../operations/createUsersExport.js"
import { getJob } from "../operations/getJob.js"
import { decodeExport } from "./definition.js"
import { failed, passing, type RunFailure, unavailable } from "./failures.js"
import { endStates, type JobStoreError, type RunOptions } from "./model.js"
import { type JobRecord, type JobStore, starting } from "./store.js"

const unknownStart = () =>
  failed(
    new ExportError({
      reason: "unknown-start",
      message:
        "it is not known whether the service has started a job: `resume` starts another, unless its id is known by then"
    })
  )

/** An export that failed by itself, such as one that takes too long, is not tried again. */
const toRunFailure = (error: Exports.Failure): RunFailure =>
  error._tag !== "ExportError" && passesWithTime(error) ? unavailable(error) : failed(error)

/** The id of a job is noted again while the storage is unavailable, but not for long: it cannot be interrupted. */
const noteAgain = Schedule.spaced("1 second").pipe(Schedule.upTo("5 seconds"))

/** Starts the job in the service, unless another run does: notes that it is being started, right before the request, and then its id. */
const start = (store: JobStore, record: JobRecord) =>
  Effect.gen(function*() {
    const client = yield* IdentityClient
    const orNotRunning = (change: Effect.Effect<boolean, JobStoreError>) =>
      Effect.filterOrFail(
        Effect.mapError(change, passing),
        (isChanged) => isChanged,
        () => passing({ _tag: "NotRunning", message: "the job does not run any more, or another run starts it" })
      )
    // Even if the job has ended meanwhile, so that `resume` goes on with it.
    const note = (exportJob: string | undefined) => store.update(record, ["running", ...endStates], { exportJob })
    let isNoted = false
    const claim = Effect.tap(orNotRunning(store.claimExport(record)), () => Effect.sync(() => void (isNoted = true)))
    const create = client.execute(createUsersExport.endpoint, decodeExport(record.definition)).pipe(
      Effect.catchAll((error) =>
        outcome(error) === "not-done"
          ? Effect.zipRight(isNoted ? orNotRunning(note(undefined)) : Effect.void, Effect.fail(toRunFailure(error)))
          : Effect.fail(unknownStart())
      )
    )
    return (yield* Job.start(claimed(client, create, claim), (id) => orNotRunning(Effect.retry(note(id), noteAgain))))
      .id
  })

/**
 * Runs a job until its file is there. Goes on with the job in the service that an earlier run has started. `onResponse` is run after a start,
 * and after each look at the job.
 */
export const runExport = (
  store: JobStore,
  record: JobRecord,
  { exportTimeout }: RunOptions,
  onResponse: Effect.Effect<void>
): Effect.Effect<void, RunFailure, IdentityClient> =>
  Effect.gen(function*() {
    if (record.exportJob === starting) return yield* unknownStart()
    const id = record.exportJob ?? (yield* Effect.zipLeft(start(store, record), onResponse))
    const client = yield* IdentityClient
    const look = Effect.zipLeft(client.execute(getJob.endpoint, { id }), onResponse)
    const job = yield* Effect.mapError(
      Job.awaitEnd(look, {
        isPassing: passesWithTime,
        track: () => Effect.void,
        timeout: exportTimeout,
        // The run that has started the job needs no clock that agrees with the service's.
        countFrom: record.exportJob === undefined ? "wait" : "creation"
      }),
      toRunFailure
    )
    yield* Effect.mapError(Job.linkOf(job), failed)
  })
