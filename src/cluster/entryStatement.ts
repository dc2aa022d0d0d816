/** Reads and writes entries of journals: many of them, of many jobs, in one statement. */
import * as Effect from "effect/Effect"
import type { Database, DatabaseError } from "./database.js"

export interface EntryRequest {
  /**
   * - `get`: reads an entry.
   * - `insert`: writes an entry that is not there, or has one of the `expected` values.
   * - `update`: writes an entry that has one of the `expected` values.
   * - `delete`: removes an entry that has one of the `expected` values.
   * - `drop`: removes an entry.
   */
  readonly kind: "get" | "insert" | "update" | "delete" | "drop"
  readonly job: string
  readonly key: string
  readonly value?: string
  /** The outcome that the value says, to count by. */
  readonly outcome?: string | undefined
  readonly expected: ReadonlyArray<string>
}

export interface EntryResponse {
  /** The value that was read. */
  readonly value: string | undefined
  /** The entry is as the request wants it to be. */
  readonly isDone: boolean
}

/** No statement sees what another part of it writes, so an inserted entry is not updated as well. The order avoids most deadlocks. */
const statement = `
WITH request AS MATERIALIZED (
  SELECT * FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    AS r (nth, kind, job, key, value, outcome)
), expected AS MATERIALIZED (
  SELECT * FROM unnest($7::integer[], $8::text[]) AS x (nth, value)
), inserted AS (
  INSERT INTO identity_client_entries (job, key, value, outcome)
  SELECT job, key, value, outcome FROM request WHERE kind = 'insert' ORDER BY job, key
  ON CONFLICT (job, key) DO NOTHING
  RETURNING job, key
), updated AS (
  UPDATE identity_client_entries AS e SET value = r.value, outcome = r.outcome
  FROM request AS r JOIN expected AS x USING (nth)
  WHERE r.kind IN ('insert', 'update') AND e.job = r.job AND e.key = r.key AND e.value = x.value
  RETURNING e.job, e.key
), deleted AS (
  DELETE FROM identity_client_entries AS e
  USING request AS r LEFT JOIN expected AS x USING (nth)
  WHERE e.job = r.job AND e.key = r.key AND (r.kind = 'drop' OR (r.kind = 'delete' AND e.value = x.value))
  RETURNING e.job, e.key
), changed AS (
  SELECT * FROM inserted UNION ALL SELECT * FROM updated UNION ALL SELECT * FROM deleted
)
SELECT r.nth, e.value, c.job IS NOT NULL AS changed
FROM request AS r
LEFT JOIN identity_client_entries AS e ON r.kind IN ('get', 'delete', 'drop') AND e.job = r.job AND e.key = r.key
LEFT JOIN changed AS c ON c.job = r.job AND c.key = r.key AND r.kind <> 'get'`

interface Row {
  readonly nth: number
  readonly value: string | null
  readonly changed: boolean
}

const responseOf = (request: EntryRequest, { changed, value }: Row): EntryResponse => ({
  value: value ?? undefined,
  isDone: changed || request.kind === "get" || request.kind === "drop" ||
    (request.kind === "delete" && value === null)
})

/** Runs requests, and returns their responses in the same order. No two of them may change the same entry. */
export const runEntries = (
  database: Database,
  requests: ReadonlyArray<EntryRequest>
): Effect.Effect<ReadonlyArray<EntryResponse>, DatabaseError> => {
  const expected = requests.flatMap((request, nth) => request.expected.map((value) => ({ nth, value })))
  return Effect.map(
    database.query<Row>(statement, [
      requests.map((_, nth) => nth),
      requests.map(({ kind }) => kind),
      requests.map(({ job }) => job),
      requests.map(({ key }) => key),
      requests.map(({ value }) => value ?? null),
      requests.map(({ outcome }) => outcome ?? null),
      expected.map(({ nth }) => nth),
      expected.map(({ value }) => value)
    ]),
    (rows) => {
      const byNth = new Map(rows.map((row) => [row.nth, row]))
      return requests.map((request, nth) => responseOf(request, byNth.get(nth) ?? { nth, value: null, changed: false }))
    }
  )
}
