/** What looks after the jobs of a cluster: none waits or runs for ever, and what is removed leaves nothing behind. */
import * as ClusterWorkflowEngine from "@effect/cluster/ClusterWorkflowEngine"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import { Cause, Chunk, Context, Effect, Exit, Layer, Logger, Stream } from "effect"
import { makeStart } from "../../src/cluster/execution.js"
import { makeJobStore } from "../../src/cluster/jobStore.js"
import { makeSweep, Store } from "../../src/cluster/workflow.js"
import * as Jobs from "../../src/Jobs.js"
import type { JobStore } from "../../src/jobs/store.js"
import { layerRunner } from "../support/clusterRunner.js"
import { newJob } from "../support/jobStores.js"
import { Postgres, withPostgres } from "../support/postgres.js"
import { ids, service, stream } from "../support/redelivery.js"

const quiet = Logger.remove(Logger.defaultLogger)

/** A runner, and the sweep and the storage of its cluster. */
const setUp = (acme: ReturnType<typeof service>) =>
  Effect.gen(function*() {
    const server = yield* Postgres
    const options = {
      server,
      database: yield* server.database,
      pollInterval: "50 millis",
      lockExpiry: "500 millis"
    } as const
    const tenants = Jobs.layerTenants(() => acme.layer)
    const context = yield* Layer.build(Layer.provide(layerRunner(options), tenants))
    const store = yield* Effect.provide(makeJobStore, context)
    const engine = Layer.provide(Layer.fresh(ClusterWorkflowEngine.layer), Layer.succeedContext(context))
    const sweep = yield* Effect.flatMap(Layer.build(engine), (engine) =>
      Effect.provide(Effect.provideService(makeSweep("30 days", 5), Store, store), engine))
    return { jobs: Context.get(context, Jobs.Jobs), sql: Context.get(context, SqlClient.SqlClient), store, sweep }
  })

const night = (key: string, count: number) => Jobs.redelivery({ tenant: "acme", key, stream, events: ids(count) })

/** Stores a job as a submitter does that dies before it could start it. */
const storeWaiting = (store: JobStore, id: string, events: ReadonlyArray<string>, submittedAt = Date.now()) =>
  Effect.gen(function*() {
    const definition = JSON.stringify({ stream, isListed: true, filter: {} })
    const { job } = yield* store.create(newJob(id, { definition, submittedAt }))
    yield* store.addEvents(job, "loading", events)
    yield* store.update(job, ["loading"], { state: "waiting", isLoaded: true })
  })

withPostgres("the sweep of a cluster", (it) => {
  it.scoped("starts jobs whose submitter died before it could, however many there are", () =>
    Effect.gen(function*() {
      const acme = service()
      const { jobs, store, sweep } = yield* setUp(acme)
      yield* Effect.forEach(
        Array.from({ length: 12 }, (_, nth) => nth),
        (nth) => storeWaiting(store, `job ${nth}`, nth === 11 ? ids(3) : [], Date.now() + nth),
        { concurrency: 10 }
      )
      assert.lengthOf(acme.sent, 0)
      yield* sweep
      assert.deepInclude(yield* jobs.awaitEnd("job 11"), { state: "done" })
      assert.deepStrictEqual([...acme.sent].sort(), ids(3))
      yield* Effect.repeat(Stream.runCollect(jobs.list({ states: ["waiting", "running"] })), { until: Chunk.isEmpty })
    }).pipe(Effect.provide(quiet)))

  it.scoped("executes a job anew whose execution has completed without its end, again and again", () =>
    Effect.gen(function*() {
      const acme = service()
      const { jobs, sql, store, sweep } = yield* setUp(acme)
      const id = yield* jobs.submit(night("a", 1))
      const job = yield* jobs.awaitEnd(id)
      for (const [nth, state] of (["waiting", "running", "waiting"] as const).entries()) {
        yield* sql.unsafe("UPDATE identity_client_jobs SET state = $1, ended_at = NULL", [state])
        yield* store.addEvents(job, state, ids(nth + 2))
        yield* sweep
        const { events } = yield* jobs.awaitEnd(id)
        assert.strictEqual(events.outcomes.accepted, nth + 2)
      }
      assert.deepStrictEqual([...acme.sent].sort(), ids(4))
      yield* sweep
      yield* Effect.sleep("5 millis") // a job may have ended within this millisecond
      assert.strictEqual(yield* jobs.prune(0), 1)
      const [rows] = yield* sql.unsafe<{ count: number }>("SELECT count(*)::integer AS count FROM cluster_messages")
      assert.strictEqual(rows?.count, 0)
    }).pipe(Effect.provide(quiet)))

  it.scoped("leaves no messages of jobs that were removed", () =>
    Effect.gen(function*() {
      const { jobs, sql } = yield* setUp(service())
      const size = Effect.map(
        sql.unsafe<{ size: number }>(`SELECT (SELECT count(*)::integer FROM cluster_messages)
          + (SELECT count(*)::integer FROM cluster_replies) AS size`),
        ([row]) => row?.size
      )
      const unprocessed = Effect.map(
        sql.unsafe<{ count: number }>("SELECT count(*)::integer AS count FROM cluster_messages WHERE NOT processed"),
        ([row]) => row?.count
      )
      const before = yield* size
      for (let nth = 0; nth < 20; nth++) {
        const id = yield* jobs.submit(night(`job ${nth}`, 2))
        yield* jobs.awaitEnd(id)
        if (nth % 5 === 0) {
          assert.isTrue(yield* jobs.resume(id))
          yield* jobs.awaitEnd(id)
        }
        // The engine notes the end of the execution shortly after that of the job.
        yield* Effect.repeat(Effect.delay(unprocessed, "20 millis"), { until: (count) => count === 0 })
        assert.isAbove((yield* size) ?? 0, before ?? 0)
        yield* Effect.sleep("5 millis") // a job may have ended within this millisecond
        assert.strictEqual(yield* jobs.prune(0), 1)
        assert.strictEqual(yield* size, before)
      }
    }).pipe(Effect.provide(quiet)))

  it.scoped("tells failures of the engine's storage from defects", () =>
    Effect.gen(function*() {
      const server = yield* Postgres
      assert.isAbove(server.port, 0)
      const startWith = (defect: unknown) =>
        Effect.gen(function*() {
          const store: Pick<JobStore, "get"> = { get: () => Effect.succeedNone }
          const start = yield* makeStart(store)
          return yield* Effect.exit(start({ ...newJob("a"), state: "waiting", isLoaded: true, resumed: 0 }))
        }).pipe(
          Effect.provideService(
            WorkflowEngine,
            { poll: () => Effect.succeed(undefined), execute: () => Effect.die(defect) } as never // nothing else is called
          )
        )
      const lost = yield* startWith({ _tag: "PersistenceError", cause: new Error("no connection") })
      assert.isTrue(Exit.isFailure(lost))
      if (Exit.isFailure(lost)) {
        assert.include(Cause.pretty(lost.cause), "the cluster's storage cannot be used: no connection")
        assert.isTrue(Cause.isFailure(lost.cause))
      }
      const broken = yield* startWith(new TypeError("broken"))
      assert.isTrue(Exit.isFailure(broken) && Cause.isDie(broken.cause))
    }))
})
