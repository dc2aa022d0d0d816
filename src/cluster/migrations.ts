/** The tables of this library in PostgreSQL, and their versions. */
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { JobStoreError } from "../jobs/model.js"
import { toDatabaseError } from "./database.js"
import { createEngineTables } from "./engineTables.js"
import { entryOfEvent } from "./eventStatements.js"
import { reserve } from "./reserve.js"
import { requireSessions } from "./sessions.js"

const table = "effect_identity_client_migrations"

/** The key of the lock under which the table of migrations is created. */
const lockKey = 7_313_042_551

/** Applied migrations never change: a change of a table is a new one. Their names begin with growing numbers. */
const migrations: Readonly<Record<string, ReadonlyArray<string>>> = {
  "1_jobs": [
    `CREATE TABLE identity_client_jobs (
      id text COLLATE "C" PRIMARY KEY,
      kind text NOT NULL,
      tenant text COLLATE "C" NOT NULL,
      key text NOT NULL,
      definition text NOT NULL,
      state text NOT NULL,
      is_loaded boolean NOT NULL DEFAULT false,
      resumed integer NOT NULL DEFAULT 0,
      export_job text,
      error text, -- JSON, which may contain characters that jsonb refuses
      submitted_at double precision NOT NULL,
      ended_at double precision,
      last_position bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 70)`,
    `CREATE INDEX identity_client_jobs_submitted ON identity_client_jobs (submitted_at, id)`,
    `CREATE INDEX identity_client_jobs_of_tenant ON identity_client_jobs (tenant, submitted_at, id)`,
    `CREATE INDEX identity_client_jobs_ended ON identity_client_jobs (ended_at) WHERE ended_at IS NOT NULL`,
    `CREATE TABLE identity_client_events (
      job text COLLATE "C" NOT NULL REFERENCES identity_client_jobs ON DELETE CASCADE,
      position bigint NOT NULL,
      id text COLLATE "C" NOT NULL,
      PRIMARY KEY (job, id),
      UNIQUE (job, position)
    )`,
    `CREATE TABLE identity_client_entries (
      job text COLLATE "C" NOT NULL REFERENCES identity_client_jobs ON DELETE CASCADE,
      key text COLLATE "C" NOT NULL,
      value text NOT NULL,
      outcome text,
      PRIMARY KEY (job, key)
    ) WITH (fillfactor = 70)`
  ],
  "2_shared": [
    // Unlogged: it is empty after a crash of the server, as a fleet expects of a store, and a swap waits for no disk.
    `CREATE UNLOGGED TABLE identity_client_shared (
      key text COLLATE "C" PRIMARY KEY,
      value text NOT NULL,
      version text NOT NULL,
      expires_at double precision NOT NULL
    ) WITH (fillfactor = 50)`,
    `CREATE INDEX identity_client_shared_expiry ON identity_client_shared (expires_at)`
  ],
  "3_counts": [
    `CREATE TABLE identity_client_counts (
      job text COLLATE "C" NOT NULL REFERENCES identity_client_jobs ON DELETE CASCADE,
      outcome text NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (job, outcome)
    ) WITH (fillfactor = 30)`,
    `INSERT INTO identity_client_counts
    SELECT job, 'listed', count(*) FROM identity_client_events GROUP BY job
    UNION ALL
    SELECT n.job, n.outcome, count(*) FROM identity_client_events AS e JOIN identity_client_entries AS ${entryOfEvent}
    WHERE n.outcome IS NOT NULL GROUP BY n.job, n.outcome`
  ]
}

const latest = Object.keys(migrations).length

const run = (statements: ReadonlyArray<string>) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  )

/** All migrations are there. Then this process needs no right to create tables. */
const isApplied = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql.unsafe<{ exists: boolean }>("SELECT to_regclass($1) IS NOT NULL AS exists", [table])
  if (found?.exists !== true) return false
  const [row] = yield* sql.unsafe<{ version: number }>(`SELECT max(migration_id)::integer AS version FROM ${table}`)
  return (row?.version ?? 0) >= latest
})

/** Creates the table of migrations: the migrator locks it, but two processes that create it at the same time would fail. */
const createTable = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.withTransaction(Effect.zipRight(
    sql.unsafe("SELECT pg_advisory_xact_lock($1)", [lockKey]),
    sql.unsafe(`CREATE TABLE IF NOT EXISTS ${table} (
      migration_id integer PRIMARY KEY,
      created_at timestamptz NOT NULL DEFAULT now(),
      name text NOT NULL
    )`)
  )))

const apply = Migrator.make({})({
  table,
  loader: Migrator.fromRecord(Object.fromEntries(
    Object.entries(migrations).map(([name, statements]) => [name, run(statements)])
  ))
})

const reasonOf = (error: Migrator.MigrationError | SqlError): string =>
  error._tag === "SqlError"
    ? toDatabaseError(error).message
    : `the tables cannot be created: ${
      error.cause instanceof SqlError ? toDatabaseError(error.cause).message : error.reason
    }`

/** Both migrators report the failure of a migration as a defect. */
const toJobStoreError = <A, R>(effect: Effect.Effect<A, Migrator.MigrationError | SqlError, R>) =>
  effect.pipe(
    Effect.catchAllDefect((defect) =>
      defect instanceof Migrator.MigrationError || defect instanceof SqlError ? Effect.fail(defect) : Effect.die(defect)
    ),
    Effect.mapError((error) => new JobStoreError({ message: reasonOf(error) }))
  )

/** Creates or changes the tables of this library, once, however many processes start at the same time. */
export const migrate: Effect.Effect<void, JobStoreError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    Effect.unlessEffect(Effect.zipRight(createTable, apply), isApplied).pipe(
      Effect.provideService(SqlClient.SqlClient, sql.withoutTransforms()),
      toJobStoreError,
      Effect.asVoid
    )
)

/** One for the lock of this library, one for those of the engine, and one for the statements of both. */
const requireConnections: Effect.Effect<void, JobStoreError, SqlClient.SqlClient> = toJobStoreError(
  Effect.scoped(Effect.timeoutOption(Effect.all([reserve, reserve, reserve]), "5 seconds"))
).pipe(
  Effect.filterOrFail(
    (reserved) => reserved._tag === "Some",
    () =>
      new JobStoreError({
        message: "no three connections to the database were free within 5 s, as the tables of a cluster need; " +
          "set maxConnections of the pool to 3 or more"
      })
  ),
  Effect.asVoid
)

/** The same for a cluster, whose locks need sessions, with the tables of the engine. */
export const migrateAll: Effect.Effect<void, JobStoreError, SqlClient.SqlClient> = requireSessions.pipe(
  Effect.zipRight(requireConnections),
  Effect.zipRight(toJobStoreError(createEngineTables)),
  Effect.zipRight(migrate)
)
