import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { layerSql } from "../../examples/support/postgresServer.js"
import { migrate, migrateAll } from "../../src/cluster/migrations.js"
import * as Jobs from "../../src/Jobs.js"
import { JobStoreError } from "../../src/jobs/model.js"
import { layerRunner } from "../support/clusterRunner.js"
import { Postgres, withPostgres } from "../support/postgres.js"

const tables = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
    (rows) => rows.map(({ name }) => name)
  ))

const applied = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT migration_id, name FROM effect_identity_client_migrations ORDER BY migration_id`
)

const noTenants = Jobs.layerTenants((name) => Layer.fail(`no job is for ${name}`))

withPostgres("migrations", (it) => {
  it.scoped("make the tables once, however many processes start at the same time", () =>
    Effect.gen(function*() {
      const server = yield* Postgres
      for (let round = 0; round < 10; round++) {
        const database = yield* server.database
        // Each has a pool of its own, as a process has.
        const start = Effect.scoped(Effect.provide(Effect.zipRight(migrate, tables), layerSql(server, database)))
        const found = yield* Effect.all(Array.from({ length: 8 }, () => start), { concurrency: "unbounded" })
        for (const names of found) {
          assert.deepStrictEqual(names, [
            "effect_identity_client_migrations",
            "identity_client_counts",
            "identity_client_entries",
            "identity_client_events",
            "identity_client_jobs",
            "identity_client_shared"
          ])
        }
        const versions = yield* Effect.provide(Effect.zipRight(migrate, applied), layerSql(server, database))
        assert.deepStrictEqual(versions, [
          { migration_id: 1, name: "jobs" },
          { migration_id: 2, name: "shared" },
          { migration_id: 3, name: "counts" }
        ])
      }
    }))

  it.scoped.each([1, 2])(
    "fail with a pool of %s, which can be used afterwards",
    (maxConnections) =>
      Effect.gen(function*() {
        const server = yield* Postgres
        const database = yield* server.database
        const start = Effect.gen(function*() {
          const error = yield* Effect.flip(migrateAll)
          assert.instanceOf(error, JobStoreError)
          assert.include(error.message, "maxConnections")
          assert.deepStrictEqual(yield* tables, [])
        })
        yield* Effect.provide(start, layerSql(server, database, { maxConnections }))
      })
  )

  it.scoped("need a pool of three for the tables of the engine", () =>
    Effect.gen(function*() {
      const server = yield* Postgres
      const names = yield* Effect.provide(
        Effect.zipRight(migrateAll, tables),
        layerSql(server, yield* server.database, { maxConnections: 3 })
      )
      assert.includeMembers([...names], ["cluster_messages", "cluster_runners", "identity_client_jobs"])
    }))

  it.scoped("make the tables of the engine once too, before runners need them", () =>
    Effect.gen(function*() {
      const server = yield* Postgres
      for (let round = 0; round < 5; round++) {
        const database = yield* server.database
        const start = Effect.provide(tables, Layer.provide(layerRunner({ server, database }), noTenants))
        for (const names of yield* Effect.all(Array.from({ length: 4 }, () => start), { concurrency: "unbounded" })) {
          assert.includeMembers([...names], ["cluster_messages", "cluster_runners", "identity_client_jobs"])
        }
      }
    }))

  it.scoped("need one connection, and no right to create tables once they are there", () =>
    Effect.gen(function*() {
      const server = yield* Postgres
      // A role belongs to the server, not to a database.
      const username = `reader_${randomUUID().replaceAll("-", "")}`
      const asOwner = (statement: string) =>
        Effect.provide(
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)),
          layerSql(server, "postgres", { maxConnections: 1 })
        )
      yield* Effect.acquireRelease(
        asOwner(`CREATE ROLE ${username} LOGIN`),
        () => Effect.orDie(asOwner(`DROP ROLE ${username}`))
      )
      const database = yield* server.database
      const one = layerSql(server, database, { maxConnections: 1 })
      yield* Effect.provide(migrate, one)
      yield* Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) =>
          sql.unsafe(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${username}`)),
        one
      )
      yield* Effect.provide(migrate, layerSql(server, database, { username }))
      const other = yield* server.database
      const error = yield* Effect.flip(
        Effect.provide(migrate, layerSql(server, other, { username }))
      )
      assert.instanceOf(error, JobStoreError)
      assert.strictEqual(error.message, "the database cannot be used (42501)")
      const all = yield* Effect.flip(Effect.provide(migrateAll, layerSql(server, other, { username })))
      assert.instanceOf(all, JobStoreError)
      assert.strictEqual(all.message, error.message)
    }))

  it.scoped("work for a client that transforms names", () =>
    Effect.gen(function*() {
      const server = yield* Postgres
      const upper = (name: string) => name.toUpperCase()
      const sql = layerSql(server, yield* server.database, { transformResultNames: upper, transformQueryNames: upper })
      yield* Effect.provide(Effect.repeatN(migrate, 1), sql)
      assert.strictEqual((yield* Effect.provide(tables, Layer.fresh(sql))).length, 6)
    }))
})
