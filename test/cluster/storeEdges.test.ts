/** Tests of the storage in PostgreSQL: many old jobs, requests about one entry at the same time, and what failures say. */
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Context, Effect, Either, Exit, Layer, Option, Scope } from "effect"
import { makeJobStore, makeJobStoreWith, pruneLimit, type RemovedJob } from "../../src/cluster/jobStore.js"
import { JobNotFound } from "../../src/jobs/model.js"
import { newJob } from "../support/jobStores.js"
import { layerMigrated, Postgres, withPostgres } from "../support/postgres.js"
import { allLines } from "../support/telemetry.js"
import { createRunning } from "./runningJob.js"

const setUp = Effect.gen(function*() {
  const context = yield* Layer.build(layerMigrated(yield* Postgres, { maxConnections: 2 }))
  return { context, sql: Context.get(context, SqlClient.SqlClient) }
})

/** Stores jobs that have ended long ago. */
const storeEnded = (sql: SqlClient.SqlClient, count: number) =>
  sql`INSERT INTO identity_client_jobs (id, kind, tenant, key, definition, state, submitted_at, ended_at, resumed)
    SELECT 'job ' || lpad(g::text, 3, '0'), 'redelivery', 'acme', g::text, '{}', 'done', 0, 0, 2
    FROM generate_series(1, ${count}) AS g`

withPostgres("a storage in PostgreSQL", (it) => {
  it.scoped("removes more old jobs than it reads at once, and says which one it could not remove", () =>
    Effect.gen(function*() {
      const count = pruneLimit + 1
      const kept = `job ${pruneLimit}` // the last one of those that are read at once
      const { context, sql } = yield* setUp
      yield* storeEnded(sql, count)
      yield* sql`CREATE TABLE kept (job text REFERENCES identity_client_jobs)`
      yield* sql`INSERT INTO kept VALUES (${kept})`
      const removed: Array<RemovedJob> = []
      const store = yield* Effect.provide(
        makeJobStoreWith({ onRemoved: (job) => Effect.sync(() => void removed.push(job)) }),
        context
      )
      yield* store.create(newJob("loading", { submittedAt: 0 }))
      const { lines, value } = yield* allLines(store.prune(1))
      assert.strictEqual(value, count)
      assert.lengthOf(removed, count)
      assert.deepInclude(removed, { id: "job 001", submittedAt: 0, resumed: 2 })
      assert.deepStrictEqual(lines.filter((line) => line.startsWith("could not")), [
        `could not remove the job ${kept}: the database cannot be used (23503)`
      ])
      assert.deepStrictEqual(
        (yield* store.list({}, { after: undefined, limit: 10 })).map(({ id }) => id),
        [kept]
      )
      assert.isFalse(yield* store.remove({ id: "job 001", submittedAt: 0 }, "done"))
      assert.lengthOf(removed, count, "a job that is not there was not removed")
    }))

  it.scoped("carries out requests about one entry in their order, though they come at the same time", () =>
    Effect.gen(function*() {
      const { context } = yield* setUp
      const store = yield* Effect.provide(makeJobStore, context)
      const own = yield* createRunning(store, "a")
      const [, first, , second] = yield* Effect.all([
        own.set("lock", "1"),
        own.get("lock"),
        own.set("lock", "2"),
        own.get("lock")
      ], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual([first, second], [Option.some("1"), Option.some("2")])
    }))

  it.scoped("fails reads and writes of a journal's entries once it is closed", () =>
    Effect.gen(function*() {
      const { context } = yield* setUp
      const scope = yield* Scope.make()
      const store = yield* Effect.provide(Scope.extend(makeJobStore, scope), context)
      const own = yield* createRunning(store, "a")
      yield* own.set("lock", "1")
      yield* Scope.close(scope, Exit.void)
      const results = yield* Effect.forEach([own.set("lock", "2"), own.get("lock")], Effect.either)
      for (const result of results) {
        assert.isTrue(Either.isLeft(result) && result.left.message.endsWith("the storage is closed"), String(result))
      }
    }))

  it.scoped("says which job is not there, and which code the database gives", () =>
    Effect.gen(function*() {
      const { context, sql } = yield* setUp
      const store = yield* Effect.provide(makeJobStore, context)
      const page = { after: 0, limit: 1 }
      const read = [
        Effect.asVoid(store.counts("b")),
        Effect.asVoid(store.unfinished("b", page)),
        Effect.asVoid(store.results("b", page)),
        Effect.asVoid(store.journal("b"))
      ]
      for (const each of read) {
        const error = yield* Effect.flip(each)
        assert.instanceOf(error, JobNotFound)
        assert.deepInclude(error, { id: "b", message: "there is no job b" })
      }
      yield* sql`DROP TABLE identity_client_jobs CASCADE`
      for (const each of [Effect.asVoid(store.get("b")), Effect.asVoid(store.create(newJob("b"))), ...read]) {
        const error = yield* Effect.flip(each)
        assert.deepInclude(error, { _tag: "JobStoreError", message: "the database cannot be used (42P01)" })
      }
    }))
})
