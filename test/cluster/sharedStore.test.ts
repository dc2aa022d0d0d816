import { SqlClient } from "@effect/sql"
import { afterAll, assert } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import { isAvailable } from "../../examples/support/postgresServer.js"
import { makeSharedBackend } from "../../src/cluster/sharedStore.js"
import * as Fleet from "../../src/Fleet.js"
import * as RateLimiter from "../../src/RateLimiter.js"
import * as SharedStore from "../../src/SharedStore.js"
import { acquire } from "../support/fleetStore.js"
import {
  layerMigrated,
  OwnPostgres,
  Postgres,
  sharedPostgres,
  withOwnPostgres,
  withPostgres
} from "../support/postgres.js"
import { contract, eventually, next } from "../support/sharedStores.js"

const quiet = Logger.remove(Logger.defaultLogger)

const options: SharedStore.Options = { timeout: "10 seconds" }

/** A store in a new database, and the client to inspect it. */
const storeIn = Layer.unwrapEffect(
  Effect.map(
    Postgres,
    (server) => Layer.provideMerge(SharedStore.layer(makeSharedBackend, options), layerMigrated(server))
  )
)

if (isAvailable) {
  const scope = Effect.runSync(Scope.make())
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  /** One server for all of them, each with a database of its own. */
  const server = Effect.runSync(Effect.cached(Scope.extend(sharedPostgres, scope)))
  contract(
    "makeSharedBackend",
    Effect.flatMap(server, (server) =>
      Effect.map(
        Layer.build(Layer.provide(SharedStore.layer(makeSharedBackend, options), layerMigrated(server))),
        Context.get(SharedStore.SharedStore)
      ))
  )
}

const rows = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    Effect.map(
      sql<{ count: number }>`SELECT count(*)::integer AS count FROM identity_client_shared`,
      ([row]) => row?.count
    )
)

withPostgres("a shared store in PostgreSQL", (it) => {
  it.effect("removes expired values of other keys, so that it does not grow", () =>
    Effect.gen(function*() {
      const { get, swap } = yield* SharedStore.SharedStore
      yield* Effect.forEach(
        Array.from({ length: 200 }, (_, nth) => `short ${nth}`),
        (key) => swap(key, undefined, next("a", "1 millis")),
        { concurrency: 10 }
      )
      const { entry } = yield* swap("kept", undefined, next("a"))
      yield* swap("kept", "no such version", undefined)
      yield* Effect.sleep(20)
      yield* Effect.repeatN(swap("missing", "no such version", next("b")), 12)
      assert.deepStrictEqual((yield* get("kept")).entry, entry)
      assert.strictEqual(yield* rows, 2, "the value that is kept, and the row of the last swap")
    }).pipe(Effect.provide(storeIn)))

  it.effect("gives no version twice, even if the server loses all values or returns to an older state", () =>
    Effect.gen(function*() {
      const { get, swap } = yield* SharedStore.SharedStore
      const sql = yield* SqlClient.SqlClient
      const saved = yield* swap("k", undefined, next("a"))
      yield* sql`CREATE TABLE saved AS SELECT * FROM identity_client_shared`
      const lost = yield* swap("k", saved.entry?.version, next("b"))
      yield* sql`TRUNCATE identity_client_shared`
      assert.isUndefined((yield* get("k")).entry)
      yield* sql`INSERT INTO identity_client_shared SELECT * FROM saved`
      assert.deepStrictEqual((yield* get("k")).entry, saved.entry)
      const after = yield* swap("k", saved.entry?.version, next("c"))
      assert.isTrue(after.swapped)
      assert.notStrictEqual(after.entry?.version, lost.entry?.version)
    }).pipe(Effect.provide(storeIn)))

  it.effect("returns the current entry to each of many swaps", () =>
    Effect.gen(function*() {
      const { get, swap } = yield* SharedStore.SharedStore
      let { entry } = yield* swap("k", undefined, next("start"))
      for (let round = 0; round < 10; round++) {
        const results = yield* Effect.all(
          Array.from({ length: 20 }, (_, nth) => swap("k", entry?.version, next(`${round} ${nth}`))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(results.filter(({ swapped }) => swapped).length, 1)
        entry = (yield* get("k")).entry
        for (const result of results) assert.deepStrictEqual(result.entry, entry)
      }
    }).pipe(Effect.provide(storeIn)))

  it.effect("serves the limiter of a fleet", () =>
    Effect.gen(function*() {
      const store = yield* SharedStore.SharedStore
      const limiter = yield* Effect.map(
        Layer.build(Layer.provide(Fleet.layerRateLimiter, Layer.succeed(SharedStore.SharedStore, store))),
        Context.get(RateLimiter.RateLimiter)
      )
      const tenant = "https://t.example.com/api/v2"
      const { settle } = yield* acquire(limiter, { tenant, operation: "a" })
      yield* settle(undefined)
      assert.isDefined((yield* store.get(`limit:4:${tenant}`)).entry)
    }).pipe(Effect.scoped, Effect.provide(storeIn)))
})

withOwnPostgres("a shared store in a PostgreSQL that stops", (it) => {
  it.effect("fails while the server is down, and is used again afterwards", () =>
    Effect.gen(function*() {
      const server = yield* OwnPostgres
      const { get, swap } = yield* SharedStore.SharedStore
      yield* swap("k", undefined, next("a"))
      yield* server.stop
      assert.isTrue(Exit.isFailure(yield* Effect.exit(get("k"))))
      yield* server.start
      assert.isAbove((yield* eventually(get("k"))).now, 0)
      assert.isTrue((yield* eventually(swap("l", undefined, next("b")))).swapped)
    }).pipe(Effect.provide(Layer.merge(storeIn, quiet))))
})
