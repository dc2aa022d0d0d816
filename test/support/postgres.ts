/** Describes tests that need a PostgreSQL: one for all files (`TEST_POSTGRES_PORT`), one for the file, or one that they may stop. */
import type { PgClient } from "@effect/sql-pg"
import { assert, it, layer, type Vitest } from "@effect/vitest"
import { Context, Effect, Layer, type Scope } from "effect"
import {
  type Databases,
  databasesOf,
  isAvailable,
  layerSql,
  type PostgresServer,
  postgresServer
} from "../../examples/support/postgresServer.js"
import { migrate } from "../../src/cluster/migrations.js"

/** A server that the tests of a file share, and perhaps those of other files. They look at their own databases only. */
export class Postgres extends Context.Tag("Postgres")<Postgres, Databases>() {}

/** A server of the test file alone. */
export class OwnPostgres extends Context.Tag("OwnPostgres")<OwnPostgres, PostgresServer>() {}

/** Describes tests that need what a layer makes from a server. Without PostgreSQL they are left out, except in CI. */
const describeWith = <Service>(
  name: string,
  server: Layer.Layer<Service, string>,
  tests: (it: Vitest.MethodsNonLive<Service, true>) => void
): void => {
  if (isAvailable) {
    // `layer` puts its methods into the `it` that all test files of a process share: those of before are needed again.
    const methods = { ...it }
    layer(server, { excludeTestServices: true, timeout: 60_000 })(name, (own) => {
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

/** The port of a server for all test files, if there is one. */
const sharedPort = process.env["TEST_POSTGRES_PORT"]

/** That server, or a new one that ends with the scope. */
export const sharedPostgres: Effect.Effect<Databases, string, Scope.Scope> = sharedPort === undefined
  ? postgresServer
  : Effect.sync(() => databasesOf(Number(sharedPort)))

/** Describes tests that need a server. */
export const withPostgres = (name: string, tests: (it: Vitest.MethodsNonLive<Postgres, true>) => void): void =>
  describeWith(name, Layer.scoped(Postgres, sharedPostgres), tests)

/** Describes tests that stop the server or need its crash. */
export const withOwnPostgres = (
  name: string,
  tests: (it: Vitest.MethodsNonLive<Postgres | OwnPostgres, true>) => void
): void => {
  const own = Layer.scoped(OwnPostgres, postgresServer)
  describeWith(name, Layer.provideMerge(Layer.effect(Postgres, OwnPostgres), own), tests)
}

/** A pool of connections to a new database that has the tables. */
export const layerMigrated = (server: Databases, options?: Partial<PgClient.PgClientConfig>) =>
  Layer.unwrapScoped(Effect.map(server.database, (database) => {
    const sql = layerSql(server, database, options)
    return Layer.provideMerge(Layer.effectDiscard(migrate), sql)
  }))
