/** Runs an export: starts its job in the service once, and waits until the file is there. */
import * as Effect from "effect/Effect"
import { IdentityClient } from "../IdentityClient.js"
import { claimed } from "../internal/call/claim.js"
import { type CallFailure, ExportError, wasNotStarted } from "../internal/exports/exportError.js"
import * as Job from "../internal/exports/job.js"
import { subjectOf } from "../internal/redelivery/ending.js"
import { createUsersExport } from "../operations/createUsersExport.js"
import { getJob } from "../operations/getJob.js"
import { decodeExport } from "./definition.js"
import { failed, passing, type RunFailure, unavailable } from "./failures.js"
import type { State } from "./model.js"
import type { JobRecord, JobStore } from "./store.js"

/** The value of `exportJob` while the job is being started. If it stays, it is not known whether there is one. */
export const starting = ""

const isUnavailable = (error: CallFailure | ExportError): boolean =>
  error._tag !== "ExportError" && error._tag !== "BadRequest" && subjectOf(error) === "service"

const toRunFailure = (error: CallFailure | ExportError): RunFailure =>
  isUnavailable(error) ? unavailable(error) : failed(error)

const unknownStart = failed(
  new ExportError({
    reason: "unknown-start",
    message: "it is not known whether the service has started a job: `resume` starts another"
  })
)

/** Starts the job in the service: notes that it is being started, right before the request, and then its id. */
const start = (store: JobStore, record: JobRecord) =>
  Effect.gen(function*() {
    const client = yield* IdentityClient
    // The id is noted even if the job was cancelled meanwhile, so that `resume` goes on with it.
    const note = (exportJob: string | undefined, from: ReadonlyArray<State> = ["running", "cancelled"]) =>
      Effect.filterOrFail(
        Effect.mapError(store.update(record, from, { exportJob }), passing),
        (isNoted) => isNoted,
        () => passing({ _tag: "NotRunning", message: "the job does not run any more" })
      )
    let isNoted = false
    const claim = Effect.tap(note(starting, ["running"]), () => Effect.sync(() => void (isNoted = true)))
    const create = client.execute(createUsersExport.endpoint, decodeExport(record.definition)).pipe(
      Effect.catchAll((error) =>
        wasNotStarted(error)
          ? Effect.zipRight(isNoted ? note(undefined) : Effect.void, Effect.fail(toRunFailure(error)))
          : Effect.fail(unknownStart)
      )
    )
    return (yield* Job.start(claimed(client, create, claim), (id) => note(id))).id
  })

/** Runs a job until its file is there. Goes on with the job in the service that an earlier run has started. */
export const runExport = (store: JobStore, record: JobRecord): Effect.Effect<void, RunFailure, IdentityClient> =>
  Effect.gen(function*() {
    if (record.exportJob === starting) return yield* unknownStart
    const id = record.exportJob ?? (yield* start(store, record))
    const client = yield* IdentityClient
    const look = client.execute(getJob.endpoint, { id })
    const job = yield* Effect.mapError(Job.awaitEnd(look, isUnavailable, () => Effect.void), toRunFailure)
    yield* Effect.mapError(Job.linkOf(job), failed)
  })
