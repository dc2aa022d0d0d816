/** The operations of jobs over a storage, and something that runs them. */
import * as Chunk from "effect/Chunk"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as Exports from "../Exports.js"
import { IdentityClient } from "../IdentityClient.js"
import type * as Redelivery from "../Redelivery.js"
import { decodeExport, encodeJob, eventIssue, idOf, type RedeliveryJob } from "./definition.js"
import { starting } from "./exportRun.js"
import { reasonOf } from "./failures.js"
import type { Jobs } from "./jobs.js"
import {
  activeStates,
  endStates,
  JobConflict,
  JobFailed,
  JobNotFound,
  type JobStoreError,
  type RunOptions,
  type Status
} from "./model.js"
import type { JobRecord, JobStore, ListedResult } from "./store.js"
import type { Tenants } from "./tenants.js"

/** The number of events or jobs that one request to the storage reads or writes. */
const pageSize = 1000

export interface ServiceOptions {
  readonly store: JobStore
  readonly tenants: Context.Tag.Service<Tenants>
  /** Makes sure that a job runs somewhere. Of several starts of one job, one counts. */
  readonly start: (record: JobRecord) => Effect.Effect<void, JobStoreError>
  readonly pollInterval?: RunOptions["pollInterval"]
}

const hasEnded = ({ state }: JobRecord): boolean => endStates.includes(state)

const notFound = (id: string) => new JobNotFound({ id, message: `there is no job ${id}` })

/** Reads all pages of what `read` gives after a position, or another mark. */
const pages = <A, After, E>(
  first: After,
  read: (after: After) => Effect.Effect<ReadonlyArray<A>, E>,
  markOf: (last: A) => After
): Stream.Stream<A, E> =>
  Stream.paginateChunkEffect(first, (after) =>
    Effect.map(read(after), (items) => {
      const last = items.at(-1)
      return [
        Chunk.unsafeFromArray(items),
        last === undefined || items.length < pageSize ? Option.none<After>() : Option.some(markOf(last))
      ]
    }))

export const makeService = (
  { pollInterval = "2 seconds", start, store, tenants }: ServiceOptions
): Context.Tag.Service<Jobs> => {
  const find = (id: string): Effect.Effect<JobRecord, JobNotFound | JobStoreError> =>
    Effect.flatMap(store.get(id), Option.match({ onNone: () => notFound(id), onSome: Effect.succeed }))

  const statusOf = (record: JobRecord): Effect.Effect<Status, JobStoreError> =>
    Effect.map(store.counts(record.id), (events) => {
      const { endedAt, error, exportJob = starting, id, key, kind, state, submittedAt, tenant } = record
      return {
        id,
        kind,
        tenant,
        key,
        state,
        events,
        submittedAt,
        ...(exportJob !== starting && { exportJob }),
        ...(error !== undefined && { error }),
        ...(endedAt !== undefined && { endedAt })
      }
    })

  /** Writes the list of a job. Ids that are no event's are refused before anything starts. */
  const loadEvents = <E, R>(id: string, { events, stream }: RedeliveryJob<E, R>) =>
    events === undefined ?
      Effect.void :
      Stream.zipWithIndex(Predicate.hasProperty(events, Stream.StreamTypeId) ? events : Stream.fromIterable(events))
        .pipe(
          Stream.mapEffect(([event, nth]) => eventIssue(stream, event, nth) ?? Effect.succeed(event)),
          Stream.rechunk(pageSize),
          Stream.runForEachChunk((chunk) => store.addEvents(id, Chunk.toReadonlyArray(chunk)))
        )

  const submit: Context.Tag.Service<Jobs>["submit"] = (job) =>
    Effect.gen(function*() {
      const definition = yield* encodeJob(job)
      const { key, kind, tenant } = job
      const id = yield* idOf(kind, job)
      const submittedAt = yield* Effect.map(Effect.clock, (clock) => clock.unsafeCurrentTimeMillis())
      const record = yield* store.create({ id, kind, tenant, key, definition, submittedAt })
      if (record.definition !== definition || record.tenant !== tenant || record.key !== key) {
        return yield* new JobConflict({ id, message: `the key ${JSON.stringify(key)} is that of another job` })
      }
      if (record.state === "loading") {
        if (job.kind === "redelivery") yield* loadEvents(id, job)
        yield* store.update(id, ["loading"], { state: "waiting", isLoaded: true })
      }
      yield* Effect.flatMap(find(id), (record) => activeStates.includes(record.state) ? start(record) : Effect.void)
        .pipe(
          Effect.catchTag("JobNotFound", () => Effect.void) // it has been cancelled and pruned
        )
      return id
    })

  const awaitEnd = (id: string): Effect.Effect<Status, JobNotFound | JobStoreError> =>
    Effect.flatMap(
      find(id),
      (record) =>
        hasEnded(record)
          ? statusOf(record)
          : Effect.zipRight(Effect.sleep(pollInterval), Effect.suspend(() => awaitEnd(id)))
    )

  const cancel = (id: string) =>
    Effect.gen(function*() {
      yield* find(id)
      const endedAt = yield* Effect.map(Effect.clock, (clock) => clock.unsafeCurrentTimeMillis())
      return yield* store.update(id, ["loading", "waiting", "running"], { state: "cancelled", endedAt })
    })

  /** An export whose job in the service has failed, or is not known, needs another one. */
  const needsAnother = ({ error, exportJob }: JobRecord): boolean =>
    exportJob === starting || error?.tag === "ExportError"

  const resume = (id: string) =>
    Effect.gen(function*() {
      const record = yield* find(id)
      const resumed = yield* store.update(id, endStates, {
        state: record.isLoaded ? "waiting" : "loading",
        resumed: record.resumed + 1,
        error: undefined,
        endedAt: undefined,
        ...(needsAnother(record) && { exportJob: undefined })
      })
      const current = yield* find(id)
      if (activeStates.includes(current.state)) yield* start(current)
      return resumed
    })

  const results = (id: string): Stream.Stream<Redelivery.Result, JobNotFound | JobStoreError> =>
    Stream.unwrap(Effect.as(
      find(id),
      pages(0, (after) => store.results(id, { after, limit: pageSize }), ({ position }) => position).pipe(
        Stream.map(({ error, id, outcome }: ListedResult) => ({
          id,
          outcome,
          recalled: false,
          ...(error !== undefined && { error })
        }))
      )
    ))

  const rows: Context.Tag.Service<Jobs>["rows"] = (id, options) =>
    Stream.unwrapScoped(Effect.gen(function*() {
      const { definition, exportJob, kind, state, tenant } = yield* find(id)
      if (kind !== "export" || state !== "done" || exportJob === undefined) {
        return yield* new JobFailed({
          id,
          state,
          message: kind === "export" ? "the export has no file" : "the job is no export"
        })
      }
      const client = yield* Effect.mapError(
        tenants.client(tenant),
        ({ error }) => new JobFailed({ id, state, message: reasonOf(error).message })
      )
      return Stream.provideService(
        Exports.run(decodeExport(definition), { ...options, job: exportJob }),
        IdentityClient,
        client
      )
    }))

  return {
    submit,
    status: (id) => Effect.flatMap(find(id), statusOf),
    awaitEnd,
    results,
    rows,
    cancel,
    resume,
    list: (filter = {}) =>
      pages<JobRecord, JobRecord | undefined, JobStoreError>(
        undefined,
        (after) => store.list(filter, { after, limit: pageSize }),
        (last) => last
      ).pipe(Stream.mapEffect(statusOf)),
    prune: (age) =>
      Effect.flatMap(Effect.clock, (clock) => store.prune(clock.unsafeCurrentTimeMillis() - Duration.toMillis(age)))
  }
}
