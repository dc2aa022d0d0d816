/** Tests of the operations of jobs over a storage: how they read it, what they tell of a job, and which rows an export has. */
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, Option, Stream, TestClock } from "effect"
import { gzipSync } from "node:zlib"
import { Errors, Exports, getJob, IdentityClient } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import { keepNothing, make } from "../../src/jobs/memoryStore.js"
import { JobConflict, JobNotFound, JobStoreError, RowsUnavailable } from "../../src/jobs/model.js"
import { makeService, type ServiceOptions } from "../../src/jobs/service.js"
import type { Change, JobRecord, JobStore, ListedResult } from "../../src/jobs/store.js"
import { TenantFailure } from "../../src/jobs/tenants.js"
import * as Testing from "../../src/Testing.js"
import { collected, night } from "../support/jobs.js"
import { entry, eventsOf, keyOf, newJob, runningJob, seen } from "../support/jobStores.js"
import { idOf, ids } from "../support/redelivery.js"

/** The operations over a storage in memory, which does some things in another way. Jobs are only noted as started. */
const operations = (
  change: (store: JobStore) => Partial<JobStore> = () => ({}),
  client: ServiceOptions["tenants"]["client"] = () => new TenantFailure({ error: "no client" })
) =>
  Effect.gen(function*() {
    const store = yield* Effect.flatMap(keepNothing, make)
    const started: Array<string> = []
    const start = ({ id }: JobRecord) => Effect.sync(() => void started.push(id))
    const jobs = makeService({ store: { ...store, ...change(store) }, tenants: { client }, start })
    return { jobs, started, store }
  })

const broken = new JobStoreError({ message: "the disk is broken" })

/** Gives a job that is loading another state. */
const changed = (store: JobStore, id: string, change: Change) =>
  store.update(seen(id), ["loading"], { isLoaded: true, ...change })

const noEvents = { total: 0, left: 0, outcomes: { accepted: 0, notFailed: 0, gone: 0, unknown: 0, failed: 0 } }

describe("the results of a job", () => {
  it.effect.each<readonly [number, Array<number>]>([[0, [0]], [999, [0]], [1000, [0, 2000]], [1003, [0, 2000]]])(
    "are read page by page: %d of them",
    ([count, pages]) =>
      Effect.gen(function*() {
        const all = eventsOf(count).map((id, nth): ListedResult => ({
          id,
          position: 2 * (nth + 1),
          outcome: "accepted"
        }))
        const read: Array<number> = []
        const { jobs } = yield* operations(() => ({
          results: (_, { after, limit }) => {
            assert.isBelow(read.push(after), 5)
            return Effect.succeed(all.filter(({ position }) => position > after).slice(0, limit))
          }
        }))
        const results = yield* collected(jobs.results("a"))
        assert.deepStrictEqual(results.map(({ id }) => id), eventsOf(count))
        assert.deepStrictEqual(read, pages)
      })
  )

  it.effect("have an error only where the storage has one", () =>
    Effect.gen(function*() {
      const { jobs, store } = yield* operations()
      yield* runningJob(store, "a", ["sent", "refused"])
      const journal = yield* store.journal("a")
      yield* journal.set(keyOf("sent"), entry("sent", "accepted"))
      yield* journal.set(keyOf("refused"), entry("refused", "failed", "r", "No."))
      assert.deepStrictEqual(yield* collected(jobs.results("a")), [
        { id: "sent", outcome: "accepted", recalled: false },
        {
          id: "refused",
          outcome: "failed",
          recalled: false,
          error: new Errors.OtherError({ tag: "Error", message: "No." })
        }
      ])
    }))
})

describe("the list of jobs", () => {
  it.effect("is read page by page, and leaves out those that are removed meanwhile", () =>
    Effect.gen(function*() {
      const all = eventsOf(1002).map((id): JobRecord => ({
        ...newJob(id),
        state: "waiting",
        isLoaded: true,
        resumed: 0
      }))
      const asked: Array<unknown> = []
      const { jobs } = yield* operations(() => ({
        list: (filter, page) => {
          asked.push([filter, page])
          return Effect.succeed(asked.length === 1 ? all.slice(0, 1000) : all.slice(1000))
        },
        counts: (id) =>
          id === idOf(1001) ? new JobNotFound({ id, message: "it was removed" }) : Effect.succeed(noEvents)
      }))
      assert.deepStrictEqual((yield* collected(jobs.list())).map(({ id }) => id), eventsOf(1001))
      assert.deepStrictEqual(asked, [
        [{}, { after: undefined, limit: 1000 }],
        [{}, { after: all[999], limit: 1000 }]
      ])
    }))

  it.effect("fails if the storage cannot be used", () =>
    Effect.gen(function*() {
      const { jobs, store } = yield* operations(() => ({ counts: () => broken }))
      yield* store.create(newJob("a"))
      assert.strictEqual(yield* Effect.flip(collected(jobs.list())), broken)
    }))
})

const details = { operation: "getJob", message: "No." }

describe("the status of a job", () => {
  const error = new Errors.Forbidden(details)

  it.effect.each<readonly [string, Change, object]>([
    ["a job that runs", { state: "running" }, { state: "running" }],
    ["an export that is being started", { state: "running", exportJob: "" }, { state: "running" }],
    ["an export with a job", { state: "running", exportJob: "job_1" }, { state: "running", exportJob: "job_1" }],
    ["a job that has failed", { state: "failed", error, endedAt: 5 }, { state: "failed", error, endedAt: 5 }],
    ["a job that is done", { state: "done", endedAt: 5 }, { state: "done", endedAt: 5 }]
  ])("has the fields of %s and no others", ([, change, expected]) =>
    Effect.gen(function*() {
      const { jobs, store } = yield* operations()
      const { definition, ...shown } = newJob("a")
      yield* store.create({ definition, ...shown })
      yield* changed(store, "a", change)
      assert.deepStrictEqual<unknown>(yield* jobs.status("a"), { ...shown, events: noEvents, ...expected })
    }))

  it.effect("is a failure that names the job if there is none", () =>
    Effect.gen(function*() {
      const { jobs } = yield* operations()
      assert.deepInclude(yield* Effect.flip(jobs.status("no-job")), {
        _tag: "JobNotFound",
        id: "no-job",
        message: "there is no job no-job"
      })
    }))

  it.effect("is awaited while the storage cannot be used", () =>
    Effect.gen(function*() {
      let looks = 0
      const { jobs, store } = yield* operations((store) => ({
        get: (id) => Effect.suspend(() => ++looks === 1 ? broken : store.get(id))
      }))
      yield* store.create(newJob("a"))
      yield* changed(store, "a", { state: "done", endedAt: 5 })
      const fiber = yield* Effect.fork(jobs.awaitEnd("a"))
      yield* TestClock.adjust("1999 millis")
      assert.strictEqual(looks, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Effect.map(Fiber.join(fiber), ({ state }) => state), "done")
    }))

  it.effect("is awaited for two days, or for as long as the program says, and it stays as it is", () =>
    Effect.gen(function*() {
      const { store } = yield* operations()
      const tenants = { client: () => new TenantFailure({ error: "no client" }) }
      const jobs = makeService({ store, tenants, start: () => Effect.void, pollInterval: "1 hour" })
      yield* store.create(newJob("a"))
      yield* changed(store, "a", { state: "waiting" })
      yield* store.update(seen("a"), ["waiting"], { state: "running" })
      const patient = yield* Effect.fork(Effect.flip(jobs.awaitEnd("a")))
      const hurried = yield* Effect.fork(Effect.flip(jobs.awaitEnd("a", { timeout: "2999 millis" })))
      yield* TestClock.adjust("2998 millis")
      assert.isTrue(Option.isNone(yield* Fiber.poll(hurried)))
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* Fiber.join(hurried), {
        _tag: "JobTimeout",
        id: "a",
        state: "running",
        message: "the job a has not ended in 2s 999ms: it is running. It goes on; wait again, or cancel it"
      })
      yield* TestClock.adjust(2 * 86_400_000 - 3000)
      assert.isTrue(Option.isNone(yield* Fiber.poll(patient)))
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* Fiber.join(patient), { _tag: "JobTimeout", id: "a", state: "running" })
      assert.strictEqual((yield* jobs.status("a")).state, "running")
    }))

  it.effect("is looked at a last time when the wait for it ends", () =>
    Effect.gen(function*() {
      const { jobs, store } = yield* operations()
      yield* store.create(newJob("a"))
      const fiber = yield* Effect.fork(jobs.awaitEnd("a", { timeout: "3 seconds" }))
      yield* TestClock.adjust("2500 millis")
      yield* changed(store, "a", { state: "done", endedAt: 5 })
      yield* TestClock.adjust("500 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).state, "done")
    }))

  it.effect("is not awaited for ever while the storage cannot be used", () =>
    Effect.gen(function*() {
      const { jobs } = yield* operations(() => ({ get: () => broken }))
      const fiber = yield* Effect.fork(Effect.flip(jobs.awaitEnd("a", { timeout: "1 minute" })))
      yield* TestClock.adjust("1 minute")
      const error = yield* Fiber.join(fiber)
      assert.deepInclude(error, {
        _tag: "JobTimeout",
        id: "a",
        message: "the job a has not ended in 1m: its storage cannot be used. It goes on; wait again, or cancel it"
      })
      assert.notProperty(error, "state")
    }))
})

describe("a submitted job", () => {
  it.effect.each(
    [
      ["definition", "{}"],
      ["tenant", "another"],
      ["key", "another"]
    ] as const
  )("is a conflict with one of its id that has another %s", ([field, value]) =>
    Effect.gen(function*() {
      const { jobs } = yield* operations((store) => ({
        create: (job) => store.create({ ...job, [field]: value })
      }))
      const error = yield* Effect.flip(jobs.submit(Jobs.redelivery({ ...night, events: ids(1) })))
      assert.instanceOf(error, JobConflict)
      assert.match(error.id, /^redelivery-/)
      assert.strictEqual(error.message, "the key \"night\" is that of another job")
    }))

  it.effect("is started again without a look at its ids once its list is complete", () =>
    Effect.gen(function*() {
      const { jobs, started } = yield* operations()
      const id = yield* jobs.submit(Jobs.redelivery({ ...night, events: ids(2) }))
      const events = Stream.die("the ids were read")
      assert.strictEqual(yield* jobs.submit(Jobs.redelivery({ ...night, events })), id)
      assert.deepStrictEqual(started, [id, id])
      assert.deepInclude(yield* jobs.status(id), { state: "waiting", events: { ...noEvents, total: 2, left: 2 } })
    }))
})

describe("a job that goes on", () => {
  const exportJob = "job_1"
  const exportError = (reason: Exports.ExportReason) => new Exports.ExportError({ reason, message: "No." })

  it.effect.each<readonly [string, Change, { readonly exportJob?: string }]>([
    ["with the job that it has", {
      exportJob,
      error: new Errors.TransportError({ ...details, outcome: "unknown" })
    }, { exportJob }],
    ["with the job that is known by now", { exportJob, error: exportError("unknown-start") }, { exportJob }],
    ["with the job that it has, after it was cancelled", { exportJob }, { exportJob }],
    ["with another job if that one has failed", { exportJob, error: exportError("job-failed") }, {}],
    ["with another job if that one is lost", { exportJob, error: new Errors.NotFound(details) }, {}],
    ...["ExportError", "JobLost"].map((tag) =>
      ["with another job if an earlier version wrote so", {
        exportJob,
        error: new Errors.OtherError({ tag, message: "No." })
      }, {}] as const
    ),
    ["with another job if it is not known whether there is one", { exportJob: "" }, {}]
  ])("has no error and no end any more, and goes on %s", ([, change, expected]) =>
    Effect.gen(function*() {
      const { jobs, started, store } = yield* operations()
      yield* store.create(newJob("a", { kind: "export" }))
      yield* changed(store, "a", { state: "failed", endedAt: 5, ...change })
      assert.isTrue(yield* jobs.resume("a"))
      assert.isFalse(yield* jobs.resume("a"))
      assert.deepStrictEqual<unknown>(Option.getOrThrow(yield* store.get("a")), {
        ...newJob("a", { kind: "export" }),
        state: "waiting",
        isLoaded: true,
        resumed: 1,
        ...expected
      })
      assert.deepStrictEqual(started, ["a", "a"])
    }))
})

describe("the rows of a job", () => {
  const exportJob = "job_0000000000000001"

  /** A client that knows the job of the export, and counts the looks at it. */
  const looking = (location: string) => {
    const looks: Array<string> = []
    const layer = Testing.layer(Testing.handle(getJob, ({ id }) => {
      looks.push(id)
      return Effect.succeed({ id, type: "users_export", status: "completed", location })
    }))
    return { looks, client: () => Effect.provide(IdentityClient.IdentityClient, layer) }
  }

  it.effect.each(
    [
      ["is no export", "redelivery", { state: "done", exportJob }, "the job is no export"],
      ["runs", "export", { state: "running", exportJob }, "the export has no file: it is running"],
      ["has failed", "export", { state: "failed", exportJob }, "the export has no file: it is failed"],
      ["has no job in the service", "export", { state: "done" }, "the export has no file: it is done"],
      [
        "has no client",
        "export",
        { state: "done", exportJob },
        "there is no client for the tenant: its layer has failed"
      ]
    ] as const
  )("are unavailable if it %s", ([, kind, change, message]) =>
    Effect.gen(function*() {
      const { jobs, store } = yield* operations()
      yield* store.create(newJob("a", { kind, definition: "{}" }))
      yield* changed(store, "a", change)
      const error = yield* Effect.flip(Effect.provide(collected(jobs.rows("a")), FetchHttpClient.layer))
      assert.instanceOf(error, RowsUnavailable)
      assert.deepInclude(error, { id: "a", message })
    }))

  it.effect("are those of its job in the service, in its format and with the given options", () =>
    Effect.gen(function*() {
      const { client, looks } = looking("https://storage.example.com/users.gz")
      const { jobs, store } = yield* operations(undefined, client)
      yield* store.create(newJob("a", { kind: "export", definition: "{\"format\":\"csv\"}" }))
      yield* changed(store, "a", { state: "done", exportJob })
      const body = new Uint8Array(gzipSync("id,name\r\n\"'1\",\"'a\"\r\n"))
      const rows = yield* Effect.provide(
        collected(jobs.rows("a", { undoGuard: true })),
        Testing.layerHttp(Testing.reply({ body }))
      )
      assert.deepStrictEqual(rows, [Either.right({ id: "1", name: "a" })])
      assert.include(looks, exportJob)
    }))
})
