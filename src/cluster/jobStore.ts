/** The storage of jobs in PostgreSQL. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { JobNotFound, JobStoreError } from "../jobs/model.js"
import { type JobRecord, type JobStore, type Page, starting } from "../jobs/store.js"
import { makeBatch } from "./batch.js"
import { addCounts, type CountRow, listed, selectCounts, toCounts } from "./counts.js"
import { type Database, DatabaseError, makeDatabase } from "./database.js"
import { type EntryRequest, type EntryResponse, runEntries } from "./entryStatement.js"
import { ended, entryOfEvent, eventsWithOutcome, unfinishedEvents } from "./eventStatements.js"
import {
  changeParameters,
  type EventRow,
  jobColumns,
  type JobRow,
  type ResultRow,
  toEvents,
  toJob,
  toResults
} from "./jobRows.js"
import { makeJournal } from "./journal.js"

/** The most entries that one statement reads or writes. */
const batchLimit = 500

/** The most jobs whose removal is prepared at once. */
export const pruneLimit = 100

/** A job that was removed. */
export type RemovedJob = Pick<JobRecord, "id" | "submittedAt" | "resumed">

export interface StoreOptions {
  /** Runs after a job was removed. */
  readonly onRemoved: (job: RemovedJob) => Effect.Effect<void>
}

const failed = ({ message }: DatabaseError) => new JobStoreError({ message })

const notFound = (id: string) => new JobNotFound({ id, message: `there is no job ${id}` })

/** `LIMIT NULL` means no limit. */
const limitOf = ({ limit }: Pick<Page<unknown>, "limit">): number | null => Number.isFinite(limit) ? limit : null

const makeOf = (
  database: Database,
  run: (request: EntryRequest) => Effect.Effect<EntryResponse, DatabaseError>,
  { onRemoved }: StoreOptions
): JobStore => {
  const query = <A extends object>(text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.mapError(database.query<A>(text, parameters), failed)

  /** The rows of a statement that has at least one if the job is there. */
  const queryJob = <A extends object>(text: string, id: string, parameters: ReadonlyArray<unknown> = []) =>
    Effect.filterOrFail(query<A>(text, [id, ...parameters]), (rows) => rows.length > 0, () => notFound(id))

  const get: JobStore["get"] = (id) =>
    Effect.map(
      query<JobRow>(`SELECT ${jobColumns} FROM identity_client_jobs WHERE id = $1`, [id]),
      ([row]) => Option.map(Option.fromNullable(row), toJob)
    )

  const create: JobStore["create"] = ({ definition, id, key, kind, submittedAt, tenant }) =>
    Effect.flatMap(
      // The update changes nothing: it makes the statement return the job that is there, also one that another process creates now.
      query<JobRow & { readonly is_new: boolean }>(
        `INSERT INTO identity_client_jobs AS j (id, kind, tenant, key, definition, submitted_at, state)
        VALUES ($1, $2, $3, $4, $5, $6, 'loading')
        ON CONFLICT (id) DO UPDATE SET state = j.state RETURNING ${jobColumns}, j.xmax = 0 AS is_new`,
        [id, kind, tenant, key, definition, submittedAt]
      ),
      ([row]) => {
        if (row === undefined) return new JobStoreError({ message: "the job was not stored" })
        const { is_new: isNew, ...job } = row // no transaction has changed a new row (`xmax`)
        return Effect.succeed({ job: toJob(job), isNew })
      }
    )

  const list: JobStore["list"] = ({ kind, states, tenant }, { after, limit }) =>
    Effect.map(
      query<JobRow>(
        `SELECT ${jobColumns} FROM identity_client_jobs
        WHERE ($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR kind = $2)
          AND ($3::text[] IS NULL OR state = ANY($3))
          AND ($4::double precision IS NULL OR (submitted_at, id) > ($4, $5::text COLLATE "C"))
        ORDER BY submitted_at, id LIMIT $6`,
        [
          tenant ?? null,
          kind ?? null,
          states ?? null,
          after?.submittedAt ?? null,
          after?.id ?? null,
          limitOf({ limit })
        ]
      ),
      (rows) => rows.map(toJob)
    )

  const update: JobStore["update"] = ({ id, resumed, submittedAt }, from, change) =>
    Effect.map(
      query(
        `UPDATE identity_client_jobs SET
          state = coalesce($5::text, state),
          is_loaded = coalesce($6::boolean, is_loaded),
          resumed = coalesce($7::integer, resumed),
          export_job = CASE WHEN $8::boolean THEN $9::text ELSE export_job END,
          error = CASE WHEN $10::boolean THEN $11::text ELSE error END,
          ended_at = CASE WHEN $12::boolean THEN $13::double precision ELSE ended_at END
        WHERE id = $1 AND submitted_at = $2 AND resumed = $3 AND state = ANY($4::text[]) RETURNING id`,
        [id, submittedAt, resumed, from, ...changeParameters(change)]
      ),
      (rows) => rows.length > 0
    )

  const claimExport: JobStore["claimExport"] = ({ id, resumed, submittedAt }) =>
    Effect.map(
      query(
        `UPDATE identity_client_jobs SET export_job = $4
        WHERE id = $1 AND submitted_at = $2 AND resumed = $3 AND state = 'running' AND export_job IS NULL RETURNING id`,
        [id, submittedAt, resumed, starting]
      ),
      (rows) => rows.length > 0
    )

  /**
   * Its job's row gives the positions, and is locked until they are there: so a reader that has seen a position has seen all before it.
   * Positions of events that were there already are left out.
   */
  const addEvents: JobStore["addEvents"] = ({ id, submittedAt }, state, events) =>
    Effect.map(
      query(
        `WITH job AS MATERIALIZED (
          SELECT id, last_position FROM identity_client_jobs
          WHERE id = $1 AND submitted_at = $2 AND state = $3 FOR NO KEY UPDATE
        ), input AS (
          SELECT u.id, min(u.nth) AS nth FROM unnest($4::text[]) WITH ORDINALITY AS u (id, nth) GROUP BY u.id
        ), moved AS (
          UPDATE identity_client_jobs AS j SET last_position = job.last_position + $5::bigint FROM job WHERE j.id = job.id
        ), added AS (
          INSERT INTO identity_client_events (job, position, id)
          SELECT job.id, job.last_position + input.nth, input.id FROM job, input ORDER BY input.nth
          ON CONFLICT (job, id) DO NOTHING RETURNING job, id
        ), counted AS (${
          addCounts(
            `SELECT job, '${listed}' AS outcome, 1 AS n FROM added
            UNION ALL
            SELECT n.job, n.outcome, 1 FROM added AS e JOIN identity_client_entries AS ${entryOfEvent}`
          )
        })
        SELECT id FROM job`,
        [id, submittedAt, state, events, events.length]
      ),
      (rows) => rows.length > 0
    )

  /** Removes a job that meets a condition. Its row is locked first, so that it does not wait for statements that wait for it. */
  const removeWhere = ({ id, submittedAt }: Pick<JobRecord, "id" | "submittedAt">, condition: string, value: unknown) =>
    Effect.gen(function*() {
      const [removed] = yield* query<{ readonly resumed: number }>(
        `DELETE FROM identity_client_jobs WHERE id = $1 AND submitted_at = $2 AND ${condition} RETURNING resumed`,
        [id, submittedAt, value]
      )
      if (removed !== undefined) yield* onRemoved({ id, submittedAt, ...removed })
      return removed !== undefined
    })

  const isOld = (before: string) =>
    `((state IN ${ended} AND ended_at < ${before}) OR (state = 'loading' AND submitted_at < ${before}))`

  /** Job by job: to remove one with many events takes a while, and one that fails does not keep the others. */
  const pruneAfter = (before: number, after: string): Effect.Effect<number, JobStoreError> =>
    Effect.gen(function*() {
      const old = yield* query<{ readonly id: string; readonly submittedAt: number }>(
        `SELECT id, submitted_at AS "submittedAt" FROM identity_client_jobs
        WHERE id > $2 AND ${isOld("$1")} ORDER BY id LIMIT ${pruneLimit}`,
        [before, after]
      )
      const removed = yield* Effect.filter(old, (job) =>
        Effect.catchAll(removeWhere(job, isOld("$3"), before), ({ message }) =>
          Effect.as(Effect.logWarning(`could not remove the job ${job.id}: ${message}`), false)))
      const last = old.length < pruneLimit ? undefined : old.at(-1)
      return removed.length + (last === undefined ? 0 : yield* pruneAfter(before, last.id))
    })

  return {
    create,
    get,
    list,
    update,
    claimExport,
    addEvents,
    unfinished: (id, page) =>
      Effect.map(queryJob<EventRow>(unfinishedEvents, id, [page.after, limitOf(page)]), toEvents),
    results: (id, page) =>
      Effect.map(queryJob<ResultRow>(eventsWithOutcome, id, [page.after, limitOf(page)]), toResults),
    counts: (id) => Effect.map(queryJob<CountRow>(selectCounts, id), toCounts),
    journal: (id) =>
      Effect.as(
        queryJob("SELECT id FROM identity_client_jobs WHERE id = $1", id),
        makeJournal(database, run, id)
      ),
    remove: (seen, state) => removeWhere(seen, "state = $3", state),
    prune: (before) => pruneAfter(before, "")
  }
}

/** Failures of statements that were certainly not carried out, because of a value in one of their requests. */
const isOfOneRequest = ({ code = "" }: DatabaseError): boolean => /^(?:22|23|54)...$/.test(code)

/** Makes the storage of jobs over the tables of `migrate`. The entries of all journals go through one connection at a time. */
export const makeJobStoreWith = (
  options: StoreOptions
): Effect.Effect<JobStore, never, SqlClient.SqlClient | Scope.Scope> =>
  Effect.gen(function*() {
    const database = yield* makeDatabase
    const run = yield* makeBatch({
      run: (requests: ReadonlyArray<EntryRequest>) => runEntries(database, requests),
      keyOf: ({ job, key }) => `${job} ${key}`,
      isRead: ({ kind }) => kind === "get",
      isOfOneRequest,
      limit: batchLimit,
      closed: new DatabaseError({ message: "the storage is closed", code: undefined, mayHaveRun: true })
    })
    return makeOf(database, run, options)
  })

export const makeJobStore = makeJobStoreWith({ onRemoved: () => Effect.void })
