/** Keeps what a fleet shares in PostgreSQL. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as SharedStore from "../SharedStore.js"
import { type DatabaseError, makeDatabase } from "./database.js"

interface Row {
  readonly now: number
  /** Nothing where the key has no value. */
  readonly version: string | null
  readonly value: string | null
  readonly swapped: boolean
}

const millis = "(extract(epoch FROM clock_timestamp()) * 1000)::double precision"

const read = `
WITH clock AS MATERIALIZED (SELECT ${millis} AS now)
SELECT clock.now, s.version, s.value, false AS swapped
FROM clock LEFT JOIN identity_client_shared AS s ON s.key = $1 AND s.expires_at > clock.now`

/**
 * Writes a row in any case, because only a locked row is certainly the current one: an expired row stands for no value. It is removed
 * like others that have expired: a few with each swap, after it, without waiting for those that another swap removes.
 */
const swap = `
WITH clock AS MATERIALIZED (SELECT ${millis} AS now, gen_random_uuid()::text AS version),
swapped AS (
  INSERT INTO identity_client_shared AS s (key, value, version, expires_at)
  SELECT $1, CASE WHEN $2::text IS NULL THEN $3::text ELSE '' END,
    CASE WHEN $2::text IS NULL THEN clock.version ELSE '' END,
    CASE WHEN $2::text IS NULL THEN clock.now + $4::double precision ELSE '-Infinity' END
  FROM clock
  ON CONFLICT (key) DO UPDATE SET (value, version, expires_at) = (
    SELECT
      CASE WHEN matches THEN $3::text ELSE s.value END,
      CASE WHEN matches THEN clock.version ELSE s.version END,
      CASE WHEN matches THEN clock.now + $4::double precision ELSE s.expires_at END
    FROM clock, LATERAL (
      SELECT CASE WHEN s.expires_at > clock.now THEN s.version = $2::text ELSE $2::text IS NULL END IS TRUE AS matches
    ) AS m
  )
  RETURNING s.value, s.version, s.expires_at
), expired AS (
  DELETE FROM identity_client_shared WHERE key IN (
    SELECT o.key FROM identity_client_shared AS o
    WHERE o.expires_at <= (SELECT now FROM clock) AND o.key <> $1 AND EXISTS (SELECT FROM swapped)
    LIMIT 20 FOR UPDATE SKIP LOCKED
  )
)
SELECT clock.now, s.version = clock.version AS swapped,
  CASE WHEN s.expires_at > clock.now THEN s.version END AS version,
  CASE WHEN s.expires_at > clock.now THEN s.value END AS value
FROM clock, swapped AS s`

/** Values are stored as JSON, because text in PostgreSQL cannot have all characters. */
const toResult = ([row]: ReadonlyArray<Row>): SharedStore.SwapResult => {
  const { now = Number.NaN, swapped = false, value = null, version = null } = row ?? {}
  return {
    now,
    swapped,
    entry: value === null || version === null ? undefined : { version, value: JSON.parse(value) }
  }
}

/** Makes a backend over the tables of `migrate`. A version is random, so it never comes back. */
export const makeSharedBackend: Effect.Effect<SharedStore.Backend<DatabaseError>, never, SqlClient.SqlClient> = Effect
  .map(makeDatabase, ({ query }) => ({
    get: (key) => Effect.map(query<Row>(read, [key]), toResult),
    swap: (key, version, next) =>
      Effect.map(
        query<Row>(swap, [
          key,
          version ?? null,
          JSON.stringify(next?.value ?? ""),
          next === undefined ? Number.NEGATIVE_INFINITY : Duration.toMillis(next.timeToLive)
        ]),
        toResult
      )
  }))
