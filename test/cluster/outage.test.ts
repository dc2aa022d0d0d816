/** The journal in PostgreSQL while the server fails: no claim is lost, and no statement disturbs another. */
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Effect, Either, Layer, Option } from "effect"
import { layerSql } from "../../examples/support/postgresServer.js"
import { makeJobStore } from "../../src/cluster/jobStore.js"
import type { StoreFailure } from "../../src/internal/redelivery/storeFailure.js"
import { entry, eventsOf, keyOf, newJob } from "../support/jobStores.js"
import { OwnPostgres, withOwnPostgres, withPostgres } from "../support/postgres.js"
import { eventually } from "../support/sharedStores.js"
import { processes, setState } from "./runningJob.js"

withPostgres("a journal in PostgreSQL that fails", (it) => {
  it.scoped("fails the calls of a statement that takes too long, and no other", () =>
    Effect.gen(function*() {
      const { database, server } = yield* processes(1)
      const sql = layerSql(server, database)
      yield* Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) =>
          sql.unsafe(`ALTER DATABASE ${database} SET statement_timeout = 200`)),
        sql
      )
      const store = yield* Effect.flatMap(Layer.build(sql), (context) =>
        Effect.provide(makeJobStore, context))
      const own = yield* store.journal("j")
      yield* own.set("renewal", "1")
      const context = yield* Layer.build(sql)
      yield* Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) =>
          sql.withTransaction(Effect.gen(function*() {
            yield* sql`SELECT * FROM identity_client_entries FOR UPDATE`
            const [one, other] = yield* Effect.all(
              [Effect.either(own.set("renewal", "2")), Effect.either(own.set(keyOf("e"), entry("e", "sending")))],
              { concurrency: "unbounded" }
            )
            for (const result of [one, other]) {
              assert.isTrue(Either.isLeft(result))
              if (Either.isLeft(result)) assert.include(result.left.message, "the database cannot be used (57014)")
            }
          }))),
        context
      )
      yield* own.set("renewal", "3")
      yield* own.set(keyOf("e"), entry("e", "sending"))
    }))

  it.scoped("writes no entry in a transaction of the caller, and fails once its job was removed", () =>
    Effect.gen(function*() {
      const { sql, server } = yield* processes(1)
      const context = yield* Layer.build(sql)
      yield* Effect.gen(function*() {
        const client = yield* SqlClient.SqlClient
        const store = yield* makeJobStore
        const own = yield* store.journal("j")
        yield* Effect.ignore(client.withTransaction(Effect.zipRight(
          Effect.all([own.set(keyOf("e"), entry("e", "sending")), store.create(newJob("k"))]),
          Effect.fail("rolled back")
        )))
        assert.isTrue(Option.isSome(yield* own.get(keyOf("e"))))
        assert.isTrue(Option.isSome(yield* store.get("k")))
        yield* setState(store, "j", "running", "done")
        assert.strictEqual(yield* store.prune(1), 1)
        assert.include((yield* Effect.flip(own.set("lock", "x"))).message, "the job was removed")
        assert.isTrue(Option.isNone(yield* own.get(keyOf("e"))))
      }).pipe(Effect.provide(context))
      assert.isAbove(server.port, 0)
    }))
})

withOwnPostgres("a journal in a PostgreSQL that crashes", (it) => {
  it.scoped("keeps each claim that succeeded when the server crashes, and goes on when it is back", () =>
    Effect.gen(function*() {
      const server = yield* OwnPostgres
      const { journal } = yield* processes(1)
      const own = yield* journal(0)
      const claimed: Array<string> = []
      const errors: Array<StoreFailure> = []
      const claim = (id: string) =>
        Effect.match(own.set(keyOf(id), entry(id, "sending")), {
          onFailure: (error) => void errors.push(error),
          onSuccess: () => void claimed.push(id)
        })
      for (let round = 0; round < 5; round++) {
        const before = claimed.length
        const events = eventsOf(5000, 5000 * round)
        // After the crash each claim fails alike: some are enough.
        const most = errors.length + 200
        const claims = Effect.forEach(
          events,
          (id) => Effect.suspend(() => errors.length < most ? claim(id) : Effect.void),
          {
            concurrency: 20
          }
        )
        yield* claims.pipe(
          Effect.zipLeft(
            Effect.sleep("5 millis").pipe(
              Effect.repeat({ until: () => claimed.length > before }),
              Effect.zipRight(Effect.sleep(30 * round)),
              Effect.zipRight(server.crash)
            ),
            { concurrent: true }
          )
        )
        yield* server.start
        yield* eventually(own.get("lock"))
        assert.isAbove(claimed.length, before)
        const kept = yield* Effect.forEach(claimed.slice(before), (id) => own.get(keyOf(id)), { concurrency: 100 })
        assert.isTrue(kept.every(Option.isSome))
      }
      assert.isAbove(errors.length, 0)
      for (const { message } of errors) {
        assert.match(
          message,
          /^Unknown: KeyValueStore\.set \([\da-f]+\): the database cannot be used( \([A-Z0-9_]+\))?$/
        )
      }
    }))
})
