/** Reads and writes entries of journals: many of them, of many jobs, in one statement. */
import * as Effect from "effect/Effect"
import type { State } from "../jobs/model.js"
import { addCounts } from "./counts.js"
import type { Database, DatabaseError } from "./database.js"
import { entryOfEvent } from "./eventStatements.js"
import { texts } from "./sqlClient.js"

/** A value that an entry may have, and the outcome that it says. */
interface ExpectedValue {
  readonly value: string
  readonly outcome: string | undefined
}

export interface EntryRequest {
  /**
   * - `get`: reads an entry.
   * - `insert`: writes an entry that is not there, or has one of the `expected` values. An event gets its first entry only while the job
   *   is running.
   * - `update`: writes an entry that has one of the `expected` values.
   * - `delete`: removes an entry that has one of the `expected` values.
   * - `drop`: removes an entry.
   */
  readonly kind: "get" | "insert" | "update" | "delete" | "drop"
  readonly job: string
  readonly key: string
  readonly value?: string
  /** The id of the event whose entry it is; none for other entries. */
  readonly event?: string | undefined
  /** The outcome that the value says about the event. */
  readonly outcome?: string | undefined
  readonly expected: ReadonlyArray<ExpectedValue>
}

export interface EntryResponse {
  /** The value that was read. */
  readonly value: string | undefined
  /** The entry is as the request wants it to be. */
  readonly isDone: boolean
  /** The reason why it is not; none if the entry has another value. */
  readonly refusal?: "removed" | "notRunning" | undefined
}

/**
 * The rows of all jobs whose entries change are locked first, in the order of their ids. So two statements never wait for each other, no job
 * is removed meanwhile, and an event is refused once its job was cancelled. No statement sees what another part of it writes, so an inserted
 * entry is not updated as well. Outcomes are counted of events in the job's list.
 */
const statement = `
WITH request AS MATERIALIZED (
  SELECT * FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    AS r (nth, kind, job, key, value, event, outcome)
), expected AS MATERIALIZED (
  SELECT * FROM unnest($8::integer[], $9::text[], $10::text[]) AS x (nth, value, outcome)
), job AS MATERIALIZED (
  SELECT id, state FROM identity_client_jobs
  WHERE id IN (SELECT job FROM request WHERE kind <> 'get') ORDER BY id FOR NO KEY UPDATE
), inserted AS (
  INSERT INTO identity_client_entries (job, key, value, outcome)
  SELECT r.job, r.key, r.value, r.outcome FROM request AS r JOIN job AS j ON j.id = r.job
  WHERE r.kind = 'insert' AND (r.event IS NULL OR j.state = 'running') ORDER BY r.job, r.key
  ON CONFLICT (job, key) DO NOTHING
  RETURNING job, key, NULL AS before, outcome AS after
), updated AS (
  UPDATE identity_client_entries AS e SET value = r.value, outcome = r.outcome
  FROM request AS r JOIN expected AS x USING (nth) JOIN job AS j ON j.id = r.job
  WHERE r.kind IN ('insert', 'update') AND e.job = r.job AND e.key = r.key AND e.value = x.value
  RETURNING e.job, e.key, x.outcome AS before, e.outcome AS after
), deleted AS (
  DELETE FROM identity_client_entries AS e
  USING request AS r JOIN job AS j ON j.id = r.job LEFT JOIN expected AS x USING (nth)
  WHERE e.job = r.job AND e.key = r.key AND (r.kind = 'drop' OR (r.kind = 'delete' AND e.value = x.value))
  RETURNING e.job, e.key, e.outcome AS before, NULL AS after
), changed AS (
  SELECT * FROM inserted UNION ALL SELECT * FROM updated UNION ALL SELECT * FROM deleted
), moved AS (
  SELECT c.* FROM changed AS c JOIN request AS r ON r.job = c.job AND r.key = c.key
  JOIN identity_client_events AS e ON e.job = r.job AND e.id = r.event
), counted AS (${
  addCounts("SELECT job, after AS outcome, 1 AS n FROM moved UNION ALL SELECT job, before, -1 FROM moved")
})
SELECT r.nth, e.value, c.job IS NOT NULL AS changed, j.state
FROM request AS r
LEFT JOIN identity_client_entries AS e ON r.kind IN ('get', 'delete', 'drop') AND e.job = r.job AND e.key = r.key
LEFT JOIN changed AS c ON c.job = r.job AND c.key = r.key AND r.kind <> 'get'
LEFT JOIN job AS j ON j.id = r.job`

interface Row {
  readonly nth: number
  readonly value: string | null
  readonly changed: boolean
  /** The state of the job whose entry was to change; none if it was removed. */
  readonly state: State | null
}

const responseOf = (request: EntryRequest, { changed, state, value }: Row): EntryResponse => {
  const isDone = changed || request.kind === "get" || request.kind === "drop" ||
    (request.kind === "delete" && value === null)
  const isRefused = request.kind === "insert" && request.event !== undefined && state !== "running"
  const refusal = state === null ? "removed" : isRefused ? "notRunning" : undefined
  return { value: value ?? undefined, isDone, refusal: isDone ? undefined : refusal }
}

/** Runs requests, and returns their responses in the same order. No two of them may change the same entry. */
export const runEntries = (
  database: Database,
  requests: ReadonlyArray<EntryRequest>
): Effect.Effect<ReadonlyArray<EntryResponse>, DatabaseError> => {
  const expected = requests.flatMap((request, nth) => request.expected.map((expected) => ({ nth, ...expected })))
  return Effect.map(
    database.query<Row>(statement, [
      requests.map((_, nth) => nth),
      requests.map(({ kind }) => kind),
      requests.map(({ job }) => job),
      requests.map(({ key }) => key),
      texts(requests.map(({ value }) => value)),
      texts(requests.map(({ event }) => event)),
      texts(requests.map(({ outcome }) => outcome)),
      expected.map(({ nth }) => nth),
      expected.map(({ value }) => value),
      texts(expected.map(({ outcome }) => outcome))
    ]),
    (rows) => {
      const byNth = new Map(rows.map((row) => [row.nth, row]))
      return requests.map((request, nth) =>
        responseOf(request, byNth.get(nth) ?? { nth, value: null, changed: false, state: null })
      )
    }
  )
}

/** Removes all entries of a job. */
export const clearEntries = `
WITH job AS MATERIALIZED (
  SELECT id FROM identity_client_jobs WHERE id = $1 FOR NO KEY UPDATE
), deleted AS (
  DELETE FROM identity_client_entries AS e USING job AS j WHERE e.job = j.id RETURNING e.job, e.key, e.outcome
)
${
  addCounts(
    `SELECT n.job, n.outcome, -1 AS n FROM identity_client_events AS e JOIN deleted AS ${entryOfEvent} WHERE e.job = $1`
  )
}`
