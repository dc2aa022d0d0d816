/** Runs an export: starts its job in the service once, and waits until the file is there. */
import * as Effect from "effect/Effect"
import { IdentityClient } from "../IdentityClient.js"
import { type CallFailure, ExportError, isPassing, wasNotStarted } from "../internal/exports/exportError.js"
import * as Job from "../internal/exports/job.js"
import { createUsersExport } from "../operations/createUsersExport.js"
import { getJob } from "../operations/getJob.js"
import { decodeExport } from "./definition.js"
import { failed, Passing, passing, type RunFailure } from "./failures.js"
import type { JobRecord, JobStore } from "./store.js"

/** The value of `exportJob` while the job is being started. If it stays, it is not known whether there is one. */
export const starting = ""

const toRunFailure = (error: CallFailure | ExportError): RunFailure => isPassing(error) ? passing(error) : failed(error)

const unknownStart = failed(
  new ExportError({
    reason: "unknown-start",
    message: "it is not known whether the service has started a job: `resume` starts another"
  })
)

/** Starts the job in the service: notes that it is being started, and then its id. */
const start = (store: JobStore, { definition, id }: JobRecord) =>
  Effect.gen(function*() {
    const client = yield* IdentityClient
    const note = (exportJob: string | undefined) =>
      Effect.filterOrFail(
        Effect.mapError(store.update(id, ["running"], { exportJob }), passing),
        (isRunning) => isRunning,
        () => new Passing({ message: "the job does not run any more" })
      )
    yield* note(starting)
    const create = client.execute(createUsersExport.endpoint, decodeExport(definition)).pipe(
      Effect.catchAll((error) =>
        wasNotStarted(error)
          ? Effect.zipRight(note(undefined), Effect.fail(toRunFailure(error)))
          : Effect.fail(unknownStart)
      )
    )
    return (yield* Job.start(create, note)).id
  })

/** Runs a job until its file is there. Goes on with the job in the service that an earlier run has started. */
export const runExport = (store: JobStore, record: JobRecord): Effect.Effect<void, RunFailure, IdentityClient> =>
  Effect.gen(function*() {
    if (record.exportJob === starting) return yield* unknownStart
    const id = record.exportJob ?? (yield* start(store, record))
    const client = yield* IdentityClient
    const look = client.execute(getJob.endpoint, { id })
    const job = yield* Effect.mapError(Job.awaitEnd(look, isPassing, () => Effect.void), toRunFailure)
    yield* Effect.mapError(Job.linkOf(job), failed)
  })
