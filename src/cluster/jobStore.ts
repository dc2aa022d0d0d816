/** The storage of jobs in PostgreSQL. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { countsOf, jobOutcomes } from "../jobs/entries.js"
import { endStates, type JobOutcome, JobStoreError, type State } from "../jobs/model.js"
import type { JobStore, Page } from "../jobs/store.js"
import { makeBatch } from "./batch.js"
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

const failed = ({ message }: DatabaseError) => new JobStoreError({ message })

const removed = new JobStoreError({ message: "the job was removed" })

/** `LIMIT NULL` means no limit. */
const limitOf = ({ limit }: Pick<Page<unknown>, "limit">): number | null => Number.isFinite(limit) ? limit : null

const makeOf = (database: Database, run: (request: EntryRequest) => Effect.Effect<EntryResponse, DatabaseError>) => {
  const query = <A extends object>(text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.mapError(database.query<A>(text, parameters), failed)

  /** The rows of a statement that has at least one if the job is there. */
  const queryJob = <A extends object>(text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.filterOrFail(query<A>(text, parameters), (rows) => rows.length > 0, () => removed)

  const get: JobStore["get"] = (id) =>
    Effect.map(
      query<JobRow>(`SELECT ${jobColumns} FROM identity_client_jobs WHERE id = $1`, [id]),
      ([row]) => Option.map(Option.fromNullable(row), toJob)
    )

  const create: JobStore["create"] = ({ definition, id, key, kind, submittedAt, tenant }) =>
    Effect.flatMap(
      // The update changes nothing: it makes the statement return the job that is there, also one that another process creates now.
      query<JobRow>(
        `INSERT INTO identity_client_jobs AS j (id, kind, tenant, key, definition, submitted_at, state)
        VALUES ($1, $2, $3, $4, $5, $6, 'loading')
        ON CONFLICT (id) DO UPDATE SET state = j.state RETURNING ${jobColumns}`,
        [id, kind, tenant, key, definition, submittedAt]
      ),
      ([row]) => row === undefined ? removed : Effect.succeed(toJob(row))
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

  const update: JobStore["update"] = (id, from, change) =>
    Effect.map(
      queryJob<{ readonly changed: boolean }>(
        `WITH changed AS (
          UPDATE identity_client_jobs SET
            state = coalesce($3::text, state),
            is_loaded = coalesce($4::boolean, is_loaded),
            resumed = coalesce($5::integer, resumed),
            export_job = CASE WHEN $6::boolean THEN $7::text ELSE export_job END,
            error = CASE WHEN $8::boolean THEN $9::text ELSE error END,
            ended_at = CASE WHEN $10::boolean THEN $11::double precision ELSE ended_at END
          WHERE id = $1 AND state = ANY($2::text[]) RETURNING id
        )
        SELECT EXISTS (SELECT FROM changed) AS changed FROM identity_client_jobs WHERE id = $1`,
        [id, from, ...changeParameters(change)]
      ),
      (rows) => rows.some(({ changed }) => changed)
    )

  /**
   * Its job's row gives the positions, and is locked until they are there: so a reader that has seen a position has seen all before it.
   * Positions of events that were there already are left out.
   */
  const addEvents: JobStore["addEvents"] = (id, events) =>
    Effect.asVoid(queryJob(
      `WITH input AS (
        SELECT u.id, min(u.nth) AS nth FROM unnest($2::text[]) WITH ORDINALITY AS u (id, nth) GROUP BY u.id
      ), job AS (
        UPDATE identity_client_jobs SET last_position = last_position + $3::bigint
        WHERE id = $1 RETURNING id, last_position - $3::bigint AS before
      ), added AS (
        INSERT INTO identity_client_events (job, position, id)
        SELECT job.id, job.before + input.nth, input.id FROM job, input ORDER BY input.nth
        ON CONFLICT (job, id) DO NOTHING
      )
      SELECT id FROM job`,
      [id, events, events.length]
    ))

  const counts: JobStore["counts"] = (id) =>
    Effect.map(
      queryJob<{ readonly state: State; readonly outcome: JobOutcome | "sending" | null; readonly count: number }>(
        `SELECT j.state, n.outcome, count(e.id)::double precision AS count
        FROM identity_client_jobs AS j
        LEFT JOIN identity_client_events AS e ON e.job = j.id
        LEFT JOIN identity_client_entries AS ${entryOfEvent}
        WHERE j.id = $1 GROUP BY j.state, n.outcome`,
        [id]
      ),
      (rows) => {
        const numbers: Partial<Record<JobOutcome, number>> = {}
        let total = 0
        for (const { count, outcome, state } of rows) {
          total += count
          const counted = outcome === "sending" && endStates.includes(state) ? "unknown" : outcome
          const known = jobOutcomes.find((outcome) => outcome === counted)
          if (known !== undefined) numbers[known] = (numbers[known] ?? 0) + count
        }
        return countsOf(total, numbers)
      }
    )

  return {
    create,
    get,
    list,
    update,
    addEvents,
    unfinished: (id, page) =>
      Effect.map(queryJob<EventRow>(unfinishedEvents, [id, page.after, limitOf(page)]), toEvents),
    results: (id, page) =>
      Effect.map(queryJob<ResultRow>(eventsWithOutcome, [id, page.after, limitOf(page)]), toResults),
    counts,
    journal: (id) =>
      Effect.as(
        queryJob("SELECT id FROM identity_client_jobs WHERE id = $1", [id]),
        makeJournal(database, run, id)
      ),
    prune: (endedBefore) =>
      Effect.map(
        query<{ readonly count: number }>(
          `WITH old AS (
            DELETE FROM identity_client_jobs WHERE state IN ${ended} AND ended_at < $1 RETURNING id
          )
          SELECT count(*)::integer AS count FROM old`,
          [endedBefore]
        ),
        ([row]) => row?.count ?? 0
      )
  } satisfies JobStore
}

/** Makes the storage of jobs over the tables of `migrate`. The entries of all journals go through one connection at a time. */
export const makeJobStore: Effect.Effect<JobStore, never, SqlClient.SqlClient | Scope.Scope> = Effect.gen(function*() {
  const database = yield* makeDatabase
  const run = yield* makeBatch({
    run: (requests: ReadonlyArray<EntryRequest>) => runEntries(database, requests),
    keyOf: ({ job, key }) => `${job} ${key}`,
    isRead: ({ kind }) => kind === "get",
    limit: batchLimit,
    closed: new DatabaseError({ message: "the storage is closed", code: undefined, mayHaveRun: true })
  })
  return makeOf(database, run)
})
