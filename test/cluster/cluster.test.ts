/** Jobs on the runners of a cluster: each runs once, goes on elsewhere, and can be watched and cancelled from anywhere. */
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Chunk, Context, Deferred, Effect, Exit, Layer, Scope, Stream } from "effect"
import * as Cluster from "../../src/Cluster.js"
import { createUsersExport, getJob } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import * as Testing from "../../src/Testing.js"
import { layerRunner } from "../support/clusterRunner.js"
import { Postgres, withPostgres } from "../support/postgres.js"
import { ids, service, stream } from "../support/redelivery.js"

const options = { lockExpiry: "500 millis", grace: "200 millis", pollInterval: "100 millis" } as const

/** A new database, in which processes of one cluster meet. */
const cluster = Effect.gen(function*() {
  const server = yield* Postgres
  const database = yield* server.database
  return (
    { layer }: Pick<ReturnType<typeof service>, "layer">,
    more: Cluster.Options & { readonly clientOnly?: boolean } = {}
  ) =>
    Layer.build(
      Layer.provide(layerRunner({ server, database, ...options, ...more }), Jobs.layerTenants(() => layer))
    )
})

const night = (key: string, count: number) => Jobs.redelivery({ tenant: "acme", key, stream, events: ids(count) })

withPostgres("a cluster", (it) => {
  it.scoped("runs a job that a process without a runner submits and watches", () =>
    Effect.gen(function*() {
      const start = yield* cluster
      const acme = service()
      yield* start(acme)
      const { awaitEnd, list, results, submit } = Context.get(yield* start(acme, { clientOnly: true }), Jobs.Jobs)
      const id = yield* submit(night("night", 200))
      assert.strictEqual(yield* submit(night("night", 200)), id)
      const status = yield* awaitEnd(id)
      assert.deepInclude(status, { id, state: "done" })
      assert.deepStrictEqual(status.events, {
        total: 200,
        left: 0,
        outcomes: { accepted: 200, notFailed: 0, gone: 0, unknown: 0, failed: 0 }
      })
      assert.deepStrictEqual([...acme.sent].sort(), ids(200))
      assert.lengthOf(Chunk.toReadonlyArray(yield* Stream.runCollect(results(id))), 200)
      assert.lengthOf(Chunk.toReadonlyArray(yield* Stream.runCollect(list({ states: ["done"] }))), 1)
    }))

  it.scoped("goes on with the jobs of a runner that stops, and leaves no event unknown", () =>
    Effect.gen(function*() {
      const start = yield* cluster
      const half = yield* Deferred.make<void>()
      const first = service((_, nth) =>
        Effect.zipRight(nth === 100 ? Deferred.succeed(half, undefined) : Effect.void, Effect.sleep("150 millis"))
      )
      const second = service(() => Effect.sleep("150 millis"))
      const scope = yield* Scope.make()
      const { submit } = Context.get(yield* Scope.extend(start(first), scope), Jobs.Jobs)
      const id = yield* submit(night("night", 300))
      yield* Deferred.await(half)
      const { awaitEnd } = Context.get(yield* start(second), Jobs.Jobs)
      yield* Scope.close(scope, Exit.void)
      const { events, state } = yield* awaitEnd(id)
      assert.strictEqual(state, "done")
      assert.deepStrictEqual(events.outcomes, { accepted: 300, notFailed: 0, gone: 0, unknown: 0, failed: 0 })
      const sent = [...first.sent, ...second.sent]
      assert.deepStrictEqual(sent.sort(), ids(300))
      assert.isAbove(second.sent.length, 0)
    }))

  it.scoped("waits for running calls if it shuts down while it gives up its shards", () =>
    Effect.gen(function*() {
      const start = yield* cluster
      const first = service(() => Effect.sleep("1500 millis"))
      const second = service()
      const scope = yield* Scope.make()
      const context = yield* Scope.extend(start(first, { grace: "5 seconds" }), scope)
      const { submit } = Context.get(context, Jobs.Jobs)
      const id = yield* submit(night("night", 60))
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => first.sent.length >= 10 })
      yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'`
      ).pipe(Effect.provide(context))
      yield* Effect.repeat(Effect.provide(Cluster.health, context), { until: ({ jobs }) => jobs === 0 })
      yield* Scope.close(scope, Exit.void)
      const { awaitEnd } = Context.get(yield* start(second), Jobs.Jobs)
      const { events } = yield* awaitEnd(id)
      assert.deepStrictEqual(events.outcomes, { accepted: 60, notFailed: 0, gone: 0, unknown: 0, failed: 0 })
      assert.deepStrictEqual([...first.sent, ...second.sent].sort(), ids(60))
    }))

  it.scoped("cancels and resumes a job from any process", () =>
    Effect.gen(function*() {
      const start = yield* cluster
      const acme = service(() => Effect.sleep("20 millis"))
      yield* start(acme)
      const jobs = Context.get(yield* start(acme, { clientOnly: true }), Jobs.Jobs)
      const id = yield* jobs.submit(night("night", 500))
      yield* Effect.repeat(jobs.status(id), { until: ({ events }) => events.left < 450 })
      assert.isTrue(yield* jobs.cancel(id))
      yield* Effect.sleep("1 second")
      const sent = acme.sent.length
      yield* Effect.sleep("500 millis")
      assert.lengthOf(acme.sent, sent)
      assert.isBelow(sent, 500)
      assert.isTrue(yield* jobs.resume(id))
      assert.deepInclude((yield* jobs.awaitEnd(id)).events, { total: 500, left: 0 })
      assert.lengthOf(new Set(acme.sent), acme.sent.length)
    }))

  it.scoped("starts an export once, and removes jobs that ended long ago, so that their keys are free", () =>
    Effect.gen(function*() {
      const start = yield* cluster
      let created = 0
      const job = { id: "job_0000000000000001", type: "users_export" as const, status: "completed" as const }
      const layer = Testing.layer(
        Testing.handle(createUsersExport, () => Effect.sync(() => (created++, job))),
        Testing.handle(getJob, () => Effect.succeed({ ...job, location: "https://storage.example.com/users.gz" }))
      )
      const { awaitEnd, prune, submit } = Context.get(yield* start({ layer }), Jobs.Jobs)
      const monday = Jobs.export({ tenant: "acme", key: "monday", input: {} })
      const id = yield* submit(monday)
      assert.deepInclude(yield* awaitEnd(id), { state: "done", exportJob: job.id })
      yield* submit(monday)
      assert.strictEqual(created, 1)
      yield* Effect.sleep("10 millis")
      assert.strictEqual(yield* prune(0), 1)
      assert.strictEqual(yield* submit(monday), id)
      assert.deepInclude(yield* awaitEnd(id), { state: "done" })
      assert.strictEqual(created, 2)
    }))

  it.scoped("tells its health", () =>
    Effect.gen(function*() {
      const start = yield* cluster
      const context = yield* start(service())
      assert.deepStrictEqual(yield* Effect.provide(Cluster.health, context), { isReady: true, jobs: 0 })
    }))
})
