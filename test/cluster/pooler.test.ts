/** Tests that a cluster does not start over a pooler that shares sessions, with a real PgBouncer. */
import * as TestRunner from "@effect/cluster/TestRunner"
import { SqlClient } from "@effect/sql"
import { assert, it as plain } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { layerSql } from "../../examples/support/postgresServer.js"
import * as Cluster from "../../src/Cluster.js"
import { requireSessions } from "../../src/cluster/sessions.js"
import * as Jobs from "../../src/Jobs.js"
import { JobStoreError } from "../../src/jobs/model.js"
import { isAvailable, pgbouncer } from "../support/pgbouncer.js"
import { Postgres, withPostgres } from "../support/postgres.js"

const message =
  "a pooler between this process and the database is in transaction or statement mode, in which locks are lost; " +
  "set it to session mode (PgBouncer: pool_mode=session), or connect to PostgreSQL itself"

const refused = (pooler: { readonly port: number }, database: string) =>
  Effect.map(Effect.flip(Effect.provide(Cluster.migrations, layerSql(pooler, database))), (error) => {
    assert.instanceOf(error, JobStoreError)
    assert.strictEqual(error.message, message)
  })

if (isAvailable) {
  withPostgres("a cluster", (it) => {
    it.scoped.each([1, 2, 20])(
      "does not start over a pooler in transaction mode with %s sessions",
      (size) =>
        Effect.gen(function*() {
          const server = yield* Postgres
          const database = yield* server.database
          for (const roundRobin of [0, 1]) {
            const settings = { pool_mode: "transaction", default_pool_size: size, server_round_robin: roundRobin }
            const pooler = yield* pgbouncer(server, settings)
            yield* refused(pooler, database)
            // As many sessions as the pooler may have are there already, and idle.
            const statements = Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe("SELECT pg_sleep(0.05)"))
            yield* Effect.provide(
              Effect.all(Array.from({ length: 4 }, () => statements), { concurrency: "unbounded", discard: true }),
              layerSql(pooler, database)
            )
            yield* refused(pooler, database)
          }
        })
    )

    it.scoped("runs no jobs over one, whether it has migrated or not", () =>
      Effect.gen(function*() {
        const server = yield* Postgres
        const database = yield* server.database
        const pooler = yield* pgbouncer(server, { pool_mode: "transaction" })
        const none = Jobs.layerTenants(() => Layer.fail("no client is needed"))
        for (const prepare of [Effect.void, Effect.provide(Cluster.migrations, layerSql(server, database))]) {
          yield* prepare
          const runner = Cluster.layerJobs.pipe(Layer.provide([none, TestRunner.layer, layerSql(pooler, database)]))
          assert.strictEqual((yield* Effect.flip(Layer.build(runner))).message, message)
        }
      }))

    it.scoped("does not start over a pooler in statement mode", () =>
      Effect.gen(function*() {
        const server = yield* Postgres
        yield* refused(yield* pgbouncer(server, { pool_mode: "statement" }), yield* server.database)
      }))

    it.scoped("is not refused by a pooler in session mode that has no place for a second client", () =>
      Effect.gen(function*() {
        const server = yield* Postgres
        // PgBouncer refuses it with the code with which it refuses transactions in statement mode.
        const pooler = yield* pgbouncer(server, { pool_mode: "session", max_client_conn: 1 })
        const exit = yield* Effect.exit(Effect.provide(requireSessions, layerSql(pooler, yield* server.database)))
        assert.deepStrictEqual(exit, Exit.void)
      }))

    it.scoped("starts over a pooler in session mode, and with one connection the store of a fleet in any", () =>
      Effect.gen(function*() {
        const server = yield* Postgres
        const session = yield* pgbouncer(server, { pool_mode: "session" })
        yield* Effect.provide(Cluster.migrations, layerSql(session, yield* server.database))
        const transaction = yield* pgbouncer(server, { pool_mode: "transaction" })
        const store = Layer.provide(
          Cluster.layerStore,
          layerSql(transaction, yield* server.database, { maxConnections: 1 })
        )
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(Layer.build(store))))
      }))
  })
} else {
  plain("is not tested: this machine has no PgBouncer", () => {
    console.warn("skipped: all tests that need a PgBouncer")
    assert.notStrictEqual(process.env["CI"], "true", "CI must have one")
  })
}
