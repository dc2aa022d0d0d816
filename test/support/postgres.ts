/** Runs the tests of a file with one PostgreSQL. */
import type { PgClient } from "@effect/sql-pg"
import { assert, it, layer, type Vitest } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { isAvailable, layerSql, type PostgresServer, postgresServer } from "../../examples/support/postgresServer.js"
import { migrate } from "../../src/cluster/migrations.js"

/** The server of the test file. */
export class Postgres extends Context.Tag("Postgres")<Postgres, PostgresServer>() {}

/** Describes tests that need the server. Without PostgreSQL they are left out, except in CI. */
export const withPostgres = (name: string, tests: (it: Vitest.MethodsNonLive<Postgres, true>) => void): void => {
  if (isAvailable) {
    // `layer` puts its methods into the `it` that all test files of a process share: those of before are needed again.
    const methods = { ...it }
    layer(Layer.scoped(Postgres, postgresServer), { excludeTestServices: true, timeout: 60_000 })(name, (own) => {
      tests(own)
      Object.assign(it, methods)
    })
    return
  }
  it(`${name}: not tested, this machine has no PostgreSQL`, () => {
    console.warn("skipped: all tests that need a PostgreSQL")
    assert.notStrictEqual(process.env["CI"], "true", "CI must have one")
  })
}

/** A pool of connections to a new database that has the tables. */
export const layerMigrated = (server: PostgresServer, options?: Partial<PgClient.PgClientConfig>) =>
  Layer.unwrapEffect(Effect.map(server.database, (database) => {
    const sql = layerSql(server, database, options)
    return Layer.provideMerge(Layer.effectDiscard(migrate), sql)
  }))
