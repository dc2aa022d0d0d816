/** The operations of jobs over a storage, and something that runs them. */
import * as Chunk from "effect/Chunk"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { InvalidInput } from "../Errors.js"
import * as Exports from "../Exports.js"
import { IdentityClient } from "../IdentityClient.js"
import { stopwatch } from "../internal/runtime/monotonicClock.js"
import type * as Redelivery from "../Redelivery.js"
import { decodeExport, encodeJob, eventIssue, idOf, type Job, type RedeliveryJob } from "./definition.js"
import type { AwaitOptions, Jobs } from "./jobs.js"
import {
  activeStates,
  endStates,
  JobConflict,
  JobNotFound,
  JobStoreError,
  JobTimeout,
  RowsUnavailable,
  type RunOptions,
  type State,
  type Status
} from "./model.js"
import { type JobRecord, type JobStore, type ListedResult, type NewJob, starting } from "./store.js"
import type { Tenants } from "./tenants.js"

/** The number of events or jobs that one request to the storage reads or writes. */
const pageSize = 1000

export interface ServiceOptions {
  readonly store: JobStore
  readonly tenants: Context.Tag.Service<Tenants>
  /** Makes sure that a job runs somewhere. Of several starts of one job, one counts. */
  readonly start: (job: JobRecord) => Effect.Effect<void, JobStoreError>
  readonly pollInterval?: RunOptions["pollInterval"]
}

const hasEnded = ({ state }: JobRecord): boolean => endStates.includes(state)

const timedOut = (id: string, timeout: Duration.DurationInput, state: State | undefined) => {
  const why = state === undefined ? "its storage cannot be used" : `it is ${state}`
  const message = `the job ${id} has not ended in ${
    Duration.format(timeout)
  }: ${why}. It goes on; wait again, or cancel it`
  return new JobTimeout({ id, message, ...(state !== undefined && { state }) })
}

const now = Effect.map(Effect.clock, (clock) => clock.unsafeCurrentTimeMillis())

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

const isStream = <E, R>(events: Redelivery.Ids<E, R>): events is Stream.Stream<string, E, R> =>
  Predicate.hasProperty(events, Stream.StreamTypeId)

/**
 * The events of a job, as a stream that fails at the first id that is no event's. An iterable is read once, because an iterator has no more,
 * and fails at once.
 */
const eventsOf = <E, R>(
  { events = Stream.empty, stream }: RedeliveryJob<E, R>
): Effect.Effect<Stream.Stream<string, E | InvalidInput, R>, InvalidInput> => {
  if (isStream(events)) {
    return Effect.succeed(Stream.mapEffect(
      Stream.zipWithIndex(events),
      ([event, nth]) => eventIssue(stream, event, nth) ?? Effect.succeed(event)
    ))
  }
  return Effect.suspend(() => {
    const all = Array.from(events)
    for (const [nth, event] of all.entries()) {
      const issue = eventIssue(stream, event, nth)
      if (issue !== undefined) return issue
    }
    return Effect.succeed(Stream.fromIterable(all))
  })
}

export const makeService = (
  { pollInterval = "2 seconds", start, store, tenants }: ServiceOptions
): Context.Tag.Service<Jobs> => {
  const find = (id: string): Effect.Effect<JobRecord, JobNotFound | JobStoreError> =>
    Effect.flatMap(
      store.get(id),
      Option.match({
        onNone: () => new JobNotFound({ id, message: `there is no job ${id}` }),
        onSome: Effect.succeed
      })
    )

  const statusOf = (job: JobRecord): Effect.Effect<Status, JobNotFound | JobStoreError> =>
    Effect.map(store.counts(job.id), (events) => {
      const { endedAt, error, exportJob = starting, id, key, kind, state, submittedAt, tenant } = job
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

  /** Writes the list of a job, until it is complete, or another program has completed it. */
  const load = <E, R>(job: JobRecord, events: Stream.Stream<string, E, R>) =>
    events.pipe(
      Stream.rechunk(pageSize),
      Stream.chunks,
      Stream.mapEffect((chunk) => store.addEvents(job, "loading", Chunk.toReadonlyArray(chunk))),
      Stream.takeWhile((isLoading) => isLoading),
      Stream.runDrain
    )

  /** Creates a job, or finds it. One that was cancelled before its list was complete begins anew, without that list. */
  const create = (job: NewJob): ReturnType<JobStore["create"]> =>
    Effect.flatMap(store.create(job), (created) =>
      hasEnded(created.job) && !created.job.isLoaded
        ? Effect.zipRight(store.remove(created.job, created.job.state), Effect.suspend(() => create(job)))
        : Effect.succeed(created))

  /** Starts a job that is to run. */
  const ensureStarted = (id: string): Effect.Effect<void, JobNotFound | JobStoreError> =>
    Effect.flatMap(find(id), (job) => activeStates.includes(job.state) ? start(job) : Effect.void)

  const submit = <E, R>(
    job: Job<E, R>
  ): Effect.Effect<string, E | InvalidInput | JobConflict | JobStoreError, R> =>
    Effect.gen(function*() {
      const definition = yield* encodeJob(job)
      const events = job.kind === "redelivery" ? yield* eventsOf(job) : Stream.empty
      const { key, kind, tenant } = job
      const id = yield* idOf(kind, job)
      const { isNew, job: record } = yield* create({ id, kind, tenant, key, definition, submittedAt: yield* now })
      if (record.definition !== definition || record.tenant !== tenant || record.key !== key) {
        return yield* new JobConflict({ id, message: `the key ${JSON.stringify(key)} is that of another job` })
      }
      const isLoading = record.state === "loading"
      if (isLoading) {
        // If this call has created the job and its list is refused, the job is removed again.
        yield* Effect.tapError(load(record, events), (error) =>
          isNew && error instanceof InvalidInput ? Effect.ignore(store.remove(record, "loading")) : Effect.void)
      }
      const complete = isLoading ? store.update(record, ["loading"], { state: "waiting", isLoaded: true }) : Effect.void
      yield* Effect.uninterruptible(Effect.zipRight(complete, ensureStarted(id))).pipe(
        Effect.catchTag("JobNotFound", () =>
          new JobStoreError({ message: "the job was removed while it was submitted: submit it again" }))
      )
      return id
    })

  /** The job goes on while the storage is unavailable, so this waits for it, too. At the end of the time it takes a last look. */
  const awaitEnd = (
    id: string,
    { timeout = "2 days" }: AwaitOptions = {}
  ): Effect.Effect<Status, JobNotFound | JobTimeout> =>
    Effect.flatMap(stopwatch, (elapsed) => {
      const found = Effect.flatMap(
        find(id),
        (job): Effect.Effect<Status | State, JobNotFound | JobStoreError> =>
          hasEnded(job) ? statusOf(job) : Effect.succeed(job.state)
      )
      const look: Effect.Effect<Status, JobNotFound | JobTimeout> = found.pipe(
        Effect.catchTag("JobStoreError", () => Effect.succeed(undefined)),
        Effect.zip(elapsed),
        Effect.flatMap(([found, millis]) => {
          if (typeof found === "object") return Effect.succeed(found)
          const rest = Duration.toMillis(timeout) - millis
          if (rest <= 0) return timedOut(id, timeout, found)
          return Effect.zipRight(Effect.sleep(Math.ceil(Math.min(Duration.toMillis(pollInterval), rest))), look)
        })
      )
      return look
    })

  const cancel = (id: string) =>
    Effect.gen(function*() {
      const job = yield* find(id)
      const endedAt = yield* now
      return yield* store.update(job, ["loading", ...activeStates], { state: "cancelled", endedAt })
    })

  /** An export whose job in the service has failed, or is not known, here or there, needs another one. */
  const needsAnother = ({ error, exportJob }: JobRecord): boolean => {
    if (exportJob === starting || error?._tag === "NotFound") return true
    return error?._tag === "ExportError" ? error.reason !== "unknown-start" : error?._tag === "OtherError" &&
      ["ExportError", "JobLost"].includes(error.tag) // as an earlier version has written them
  }

  const resume = (id: string) =>
    Effect.gen(function*() {
      const job = yield* find(id)
      if (!job.isLoaded) return false
      return yield* Effect.uninterruptible(
        Effect.zipLeft(
          store.update(job, endStates, {
            state: "waiting",
            resumed: job.resumed + 1,
            error: undefined,
            endedAt: undefined,
            ...(needsAnother(job) && { exportJob: undefined })
          }),
          ensureStarted(id)
        )
      )
    })

  const results = (id: string): Stream.Stream<Redelivery.Result, JobNotFound | JobStoreError> =>
    pages(0, (after) => store.results(id, { after, limit: pageSize }), ({ position }) => position).pipe(
      Stream.map(({ error, id, outcome }: ListedResult) => ({
        id,
        outcome,
        recalled: false,
        ...(error !== undefined && { error })
      }))
    )

  const rows: Context.Tag.Service<Jobs>["rows"] = (id, options) =>
    Stream.unwrapScoped(Effect.gen(function*() {
      const { definition, exportJob, kind, state, tenant } = yield* find(id)
      if (kind !== "export" || state !== "done" || exportJob === undefined) {
        const message = kind === "export" ? `the export has no file: it is ${state}` : "the job is no export"
        return yield* new RowsUnavailable({ id, message })
      }
      const client = yield* Effect.mapError(
        tenants.client(tenant),
        () => new RowsUnavailable({ id, message: "there is no client for the tenant: its layer has failed" })
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
      ).pipe(
        Stream.mapEffect((job) =>
          Effect.catchTag(Effect.asSome(statusOf(job)), "JobNotFound", () => Effect.succeedNone)
        ),
        Stream.map(Option.toArray), // those that were removed meanwhile are left out
        Stream.flattenIterables
      ),
    prune: (age) => Effect.flatMap(now, (now) => store.prune(now - Duration.toMillis(age)))
  }
}
