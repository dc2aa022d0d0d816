/** Tests of migrations: what they make of tables that are there, which indexes they leave, and what a failure says. */
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { layerSql } from "../../examples/support/postgresServer.js"
import { makeJobStore } from "../../src/cluster/jobStore.js"
import { migrate, migrateAll } from "../../src/cluster/migrations.js"
import { entry, keyOf } from "../support/jobStores.js"
import { layerMigrated, Postgres, withPostgres } from "../support/postgres.js"
import { createRunning } from "./runningJob.js"

/** A pool of connections to a new, empty database. */
const empty = Effect.gen(function*() {
  const server = yield* Postgres
  return yield* Layer.build(layerSql(server, yield* server.database, { maxConnections: 3 }))
})

withPostgres("tables that are there", (it) => {
  it.scoped("get the counts of the events and entries of a version without counts", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(layerMigrated(yield* Postgres))
      const sql = Context.get(context, SqlClient.SqlClient)
      const store = yield* Effect.provide(makeJobStore, context)
      const journal = yield* createRunning(store, "a", ["e", "f", "g"])
      yield* journal.set("lock", "1")
      yield* journal.set(keyOf("e"), entry("e", "accepted"))
      yield* journal.set(keyOf("f"), entry("f", "sending"))
      const counts = yield* store.counts("a")
      assert.deepInclude(counts, { total: 3, left: 2 })
      yield* sql`DROP TABLE identity_client_counts`
      yield* sql`DELETE FROM effect_identity_client_migrations WHERE name = 'counts'`
      yield* Effect.provide(migrate, context)
      assert.deepStrictEqual(yield* store.counts("a"), counts)
    }))

  it.scoped("have these indexes, and no others", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(layerMigrated(yield* Postgres))
      const indexes = yield* Context.get(context, SqlClient.SqlClient)<{ name: string; columns: string }>`
        SELECT tablename AS name, substring(indexdef FROM 'USING btree (.*)') AS columns
        FROM pg_indexes WHERE schemaname = 'public' AND tablename LIKE 'identity_client_%' `
      assert.deepStrictEqual(indexes.map(({ columns, name }) => `${name} ${columns}`).sort(), [
        "identity_client_counts (job, outcome)",
        "identity_client_entries (job, key)",
        "identity_client_events (job, \"position\")",
        "identity_client_events (job, id)",
        "identity_client_jobs (ended_at) WHERE (ended_at IS NOT NULL)",
        "identity_client_jobs (id)",
        "identity_client_jobs (submitted_at, id)",
        "identity_client_jobs (tenant, submitted_at, id)",
        "identity_client_shared (expires_at)",
        "identity_client_shared (key)"
      ])
    }))

  it.scoped("of another program with the same name are left as they are, and the failure says so", () =>
    Effect.gen(function*() {
      const context = yield* empty
      const sql = Context.get(context, SqlClient.SqlClient)
      yield* sql`CREATE TABLE identity_client_shared AS SELECT 7 AS mine`
      const { message } = yield* Effect.flip(Effect.provide(migrate, context))
      assert.strictEqual(message, "the tables cannot be created: the database cannot be used (42P07)")
      assert.deepStrictEqual(yield* sql`SELECT * FROM identity_client_shared`, [{ mine: 7 }])
      const others = yield* sql`SELECT FROM pg_tables WHERE tablename LIKE 'identity_client_%'`
      assert.lengthOf(others, 1, "it makes all tables or none")
      yield* sql`DROP TABLE identity_client_shared`
      yield* Effect.provide(migrate, context)
      assert.strictEqual(yield* Effect.provide(Effect.flatMap(makeJobStore, ({ prune }) => prune(0)), context), 0)
    }))

  it.scoped("of the engine leave no lock on a connection that is used again", () =>
    Effect.gen(function*() {
      const context = yield* empty
      yield* Effect.provide(migrateAll, context)
      const locks = yield* Context.get(context, SqlClient.SqlClient)`
        SELECT FROM pg_locks JOIN pg_database AS d ON d.oid = database
        WHERE locktype = 'advisory' AND datname = current_database()`
      assert.lengthOf(locks, 0)
    }))
})
