/** Statements: time limits while no connection is free, attempts after a deadlock, and errors without texts of the database. */
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Clock, Context, Deferred, Duration, Effect, Either, Fiber, Layer } from "effect"
import { layerSql } from "../../examples/support/postgresServer.js"
import { isResponding, makeDatabase } from "../../src/cluster/database.js"
import { Postgres, withPostgres } from "../support/postgres.js"

/** A pool with this number of connections to a new database. It has no tables of this library. */
const setUp = (maxConnections = 1) =>
  Effect.gen(function*() {
    const server = yield* Postgres
    const context = yield* Layer.build(layerSql(server, yield* server.database, { maxConnections }))
    const sql = Context.get(context, SqlClient.SqlClient)
    const { query } = yield* Effect.provide(makeDatabase, context)
    return { query, sql, isResponding: Effect.provide(isResponding, context) }
  })

/** A clock by which waits of up to `longest` milliseconds take no time, and others never end. Keeps the waits that were asked for. */
const impatient = (longest: number) => {
  const asked: Array<number> = []
  const clock: Clock.Clock = Object.assign(Object.create(Clock.make()), {
    sleep: (duration: Duration.Duration) =>
      Effect.suspend(() => {
        const millis = Duration.toMillis(duration)
        asked.push(millis)
        return millis <= longest ? Effect.void : Effect.never
      })
  })
  return { asked, clock }
}

/** Takes the only connection, while `use` runs. */
const whileTaken = <A, E>(sql: SqlClient.SqlClient, use: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const [taken, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const holder = yield* Effect.fork(
      sql.withTransaction(Effect.zipRight(Deferred.succeed(taken, undefined), Deferred.await(release)))
    )
    yield* Deferred.await(taken)
    const result = yield* use
    yield* Deferred.succeed(release, undefined)
    yield* Fiber.join(holder)
    return result
  })

withPostgres("a statement", (it) => {
  it.scoped("tells whether the database responds: for 2 s, also while it says nothing", () =>
    Effect.gen(function*() {
      const { isResponding, sql } = yield* setUp()
      assert.isTrue(yield* isResponding)
      const { asked, clock } = impatient(2000)
      assert.isFalse(yield* whileTaken(sql, Effect.withClock(isResponding, clock)))
      assert.include(asked, 2000)
      assert.isTrue(yield* isResponding)
    }))

  it.scoped("fails after 30 s without a response: it may have run", () =>
    Effect.gen(function*() {
      const { query, sql } = yield* setUp()
      const { asked, clock } = impatient(30_000)
      const error = yield* whileTaken(sql, Effect.flip(Effect.withClock(query("SELECT 1", []), clock)))
      assert.deepInclude(error, { message: "the database does not respond", code: undefined, mayHaveRun: true })
      assert.deepStrictEqual(asked, [30_000])
      assert.deepStrictEqual(yield* query("SELECT 1::integer AS one", []), [{ one: 1 }])
    }))

  it.scoped("that the database refuses has not run; the error has its code, and no text of it", () =>
    Effect.gen(function*() {
      const { query } = yield* setUp()
      const error = yield* Effect.flip(query("SELECT $1::text::integer", ["a secret"]))
      assert.deepInclude(error, {
        _tag: "DatabaseError",
        message: "the database cannot be used (22P02)",
        code: "22P02",
        mayHaveRun: false
      })
      assert.notInclude(String(error), "secret")
    }))

  it.scoped("stays, though the transaction around it is undone", () =>
    Effect.gen(function*() {
      const { query, sql } = yield* setUp(2)
      yield* query("CREATE TABLE notes (note text)", [])
      const undone = sql.withTransaction(
        Effect.zipRight(query("INSERT INTO notes VALUES ('kept')", []), Effect.fail("undone" as const))
      )
      assert.strictEqual(yield* Effect.flip(undone), "undone")
      assert.deepStrictEqual(yield* query("SELECT note FROM notes", []), [{ note: "kept" }])
    }))

  it.scoped("that was chosen to resolve a conflict is tried again, 20 times; another one is not", () =>
    Effect.gen(function*() {
      const { query } = yield* setUp()
      yield* query("CREATE SEQUENCE attempts", [])
      yield* query(
        `CREATE FUNCTION fail_until(code text, last integer) RETURNS integer LANGUAGE plpgsql AS $$
        BEGIN
          IF nextval('attempts') >= last THEN RETURN last; END IF;
          RAISE EXCEPTION 'conflict' USING ERRCODE = code;
        END $$`,
        []
      )
      /** The attempts of a statement that fails until the last of them, and its code if it fails for good. */
      const attemptsOf = (code: string, last: number) =>
        Effect.gen(function*() {
          const { asked, clock } = impatient(1000)
          yield* query("ALTER SEQUENCE attempts RESTART", [])
          const result = yield* Effect.either(Effect.withClock(query("SELECT fail_until($1, $2)", [code, last]), clock))
          const [{ next } = { next: 0 }] = yield* query<{ readonly next: number }>(
            "SELECT last_value::integer AS next FROM attempts",
            []
          )
          return {
            attempts: next,
            code: Either.match(result, { onLeft: ({ code }) => code, onRight: () => undefined }),
            pauses: asked.filter((millis) => millis < 1000)
          }
        })
      for (const code of ["40001", "40P01"]) {
        const third = yield* attemptsOf(code, 3)
        assert.deepInclude(third, { attempts: 3, code: undefined })
        assert.strictEqual(third.pauses.length, 2)
        for (const pause of third.pauses) assert.isTrue(pause >= 16 && pause <= 24, String(pause))
        assert.deepInclude(yield* attemptsOf(code, 100), { attempts: 21, code })
      }
      assert.deepInclude(yield* attemptsOf("23505", 3), { attempts: 1, code: "23505", pauses: [] })
    }))
})
