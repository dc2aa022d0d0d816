/** Jobs on the runners of a cluster: each runs once, goes on elsewhere, and can be watched and cancelled from anywhere. */
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Chunk, Context, Deferred, Effect, Exit, Layer, Logger, Scope, Stream } from "effect"
import * as Cluster from "../../src/Cluster.js"
import { createUsersExport, Errors, getJob } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import * as Testing from "../../src/Testing.js"
import { layerRunner } from "../support/clusterRunner.js"
import { OwnPostgres, Postgres, withOwnPostgres, withPostgres } from "../support/postgres.js"
import { ids, service, stream } from "../support/redelivery.js"

const options = { lockExpiry: "500 millis", grace: "3 seconds", pollInterval: "100 millis" } as const

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

  it.scoped("is not built with settings that are not valid", () =>
    Effect.gen(function*() {
      const start = yield* cluster
      const exit = yield* Effect.exit(start(service(), { concurrency: 0, lockExpiry: 1, pollInterval: 0 }))
      assert.isTrue(Exit.isFailure(exit))
      assert.match(String(exit), /concurrency: .*lockExpiry: .*pollInterval: /)
    }))

  it.scoped("starts one export though it is cancelled and resumed while its run waits to try again", () =>
    Effect.gen(function*() {
      const start = yield* cluster
      let starts = 0
      const file = { id: "job_0000000000000001", type: "users_export" }
      const layer = Testing.layer(
        Testing.handle(createUsersExport, () =>
          ++starts === 1
            ? new Errors.TransportError({ operation: "createUsersExport", message: "No.", outcome: "not-sent" })
            : Effect.delay(Effect.succeed({ ...file, status: "pending" }), "1200 millis")), // longer than the wait of the run that was cancelled
        Testing.handle(
          getJob,
          () => Effect.succeed({ ...file, status: "completed", location: "https://storage.example.com/users.gz" })
        )
      )
      const { awaitEnd, cancel, resume, submit } = Context.get(yield* start({ layer }), Jobs.Jobs)
      const id = yield* submit(Jobs.export({ tenant: "acme", key: "monday", input: {} }))
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => starts === 1 })
      yield* cancel(id)
      yield* resume(id)
      assert.deepInclude(yield* awaitEnd(id), { state: "done", exportJob: file.id })
      assert.strictEqual(starts, 2)
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
        (sql) =>
          sql`SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database AS d ON d.oid = database
          WHERE locktype = 'advisory' AND datname = current_database()`
      ).pipe(Effect.provide(context))
      yield* Effect.repeat(Effect.delay(Effect.provide(Cluster.health, context), "20 millis"), {
        until: ({ jobs }) => jobs === 0
      })
      yield* Scope.close(scope, Exit.void)
      const { awaitEnd } = Context.get(yield* start(second), Jobs.Jobs)
      const { events } = yield* awaitEnd(id)
      assert.deepStrictEqual(events.outcomes, { accepted: 60, notFailed: 0, gone: 0, unknown: 0, failed: 0 })
      assert.deepStrictEqual([...first.sent, ...second.sent].sort(), ids(60))
    }))

  it.scoped("cancels and resumes a job from any process", () =>
    Effect.gen(function*() {
      const start = yield* cluster
      const acme = service(() => Effect.sleep("40 millis"))
      yield* start(acme)
      const jobs = Context.get(yield* start(acme, { clientOnly: true }), Jobs.Jobs)
      const id = yield* jobs.submit(night("night", 300))
      yield* Effect.repeat(Effect.delay(jobs.status(id), "20 millis"), { until: ({ events }) => events.left < 270 })
      assert.isTrue(yield* jobs.cancel(id))
      yield* Effect.sleep("1 second")
      const sent = acme.sent.length
      yield* Effect.sleep("500 millis")
      assert.lengthOf(acme.sent, sent)
      assert.isBelow(sent, 300)
      assert.isTrue(yield* jobs.resume(id))
      assert.deepInclude((yield* jobs.awaitEnd(id)).events, { total: 300, left: 0 })
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

  it.scoped(
    "lets a tenant's short job end long before another one's, whose service is slow",
    () =>
      Effect.gen(function*() {
        const server = yield* Postgres
        const database = yield* server.database
        const slow = service(() => Effect.sleep("100 millis"))
        const fast = service()
        const tenants = Jobs.layerTenants((tenant) => tenant === "fast" ? fast.layer : slow.layer)
        const context = yield* Layer.build(Layer.provide(layerRunner({ server, database, ...options }), tenants))
        const { awaitEnd, cancel, prune, status, submit } = Context.get(context, Jobs.Jobs)
        const submitFor = (tenant: string, key: string, count: number) => submit({ ...night(key, count), tenant })
        const long = yield* submitFor("slow", "long", 900)
        const dropped = yield* submitFor("dropped", "dropped", 900)
        yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => slow.sent.length > 100 })
        const short = yield* Effect.flatMap(submitFor("fast", "short", 10), awaitEnd)
        assert.deepInclude(short.events, { total: 10, left: 0 })
        assert.isAbove((yield* status(long)).events.left, 600)
        // A job that is removed while it runs does not disturb the others.
        assert.isTrue(yield* cancel(dropped))
        yield* Effect.sleep("5 millis") // the job has ended within this millisecond
        assert.strictEqual(yield* prune(0), 2)
        const next = yield* Effect.flatMap(submitFor("fast", "next", 10), awaitEnd)
        assert.deepInclude(next, { state: "done" })
        const { events, state } = yield* awaitEnd(long)
        assert.strictEqual(state, "done")
        assert.deepStrictEqual(events.outcomes, { accepted: 900, notFailed: 0, gone: 0, unknown: 0, failed: 0 })
      }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))),
    120_000
  )
})

withOwnPostgres("a cluster whose PostgreSQL stops", (it) => {
  it.scoped("tells its health: the number of jobs that it runs, and whether the database responds", () =>
    Effect.gen(function*() {
      const start = yield* cluster
      const { start: startServer, stop } = yield* OwnPostgres
      const goOn = yield* Deferred.make<void>()
      const acme = service(() => Deferred.await(goOn))
      const context = yield* start(acme)
      const other = yield* start(acme, { clientOnly: true })
      const health = Effect.provide(Cluster.health, context)
      assert.deepStrictEqual(yield* health, { isReady: true, jobs: 0 })
      const { awaitEnd, submit } = Context.get(other, Jobs.Jobs)
      const id = yield* submit(night("night", 3))
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => acme.sent.length > 0 })
      assert.deepStrictEqual(yield* health, { isReady: true, jobs: 1 })
      assert.deepStrictEqual(yield* Effect.provide(Cluster.health, other), { isReady: true, jobs: 0 })
      yield* Deferred.succeed(goOn, undefined)
      yield* awaitEnd(id)
      const eventually = Effect.delay(health, "20 millis")
      yield* Effect.repeat(eventually, { until: ({ jobs }) => jobs === 0 })
      yield* stop
      assert.isFalse((yield* health).isReady)
      yield* startServer
      yield* Effect.repeat(eventually, { until: ({ isReady }) => isReady })
      assert.deepInclude(yield* Effect.flatMap(submit(night("later", 3)), awaitEnd), { state: "done" })
      // Waits until the runner has its locks again: without them it does not shut down, and the scope of the test would not close.
      const locks = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted`
      )
      yield* Effect.repeat(Effect.delay(Effect.provide(locks, context), "20 millis"), {
        until: ({ length }) => length > 0
      })
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))
})
