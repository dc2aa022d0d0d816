/** Exports as jobs: one is started once, whatever runs beside each other, is given up in time, and can be started anew. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, TestClock } from "effect"
import { createUsersExport, Errors, getJob, IdentityClient, TokenProvider } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import { runExport } from "../../src/jobs/exportRun.js"
import { keepNothing, make } from "../../src/jobs/memoryStore.js"
import { JobStoreError } from "../../src/jobs/model.js"
import { makeRunner } from "../../src/jobs/runner.js"
import { makeService } from "../../src/jobs/service.js"
import type { JobStore } from "../../src/jobs/store.js"
import * as Testing from "../../src/Testing.js"
import * as TestJobs from "../support/jobs.js"
import { newJob, seen } from "../support/jobStores.js"
import { failure, transport, unexpected } from "../support/redelivery.js"
import { clientOf } from "../support/telemetry.js"

type Start = Effect.Effect<void, Errors.ClientError>
type Look = Effect.Effect<object, Errors.NotFound | Errors.ClientError>

/** A service of exports: what happens before each start and each look, counted from 1. */
const exporting = ({ job = () => ({}), look = () => Effect.void, start = () => Effect.void }: {
  readonly job?: (id: string) => object
  readonly start?: (nth: number) => Start
  readonly look?: (nth: number) => Effect.Effect<unknown, Effect.Effect.Error<Look>>
} = {}) => {
  const counts = { starts: 0, looks: 0 }
  const layer = Testing.layer(
    Testing.handle(createUsersExport, () =>
      Effect.suspend(() => {
        const id = `job_000000000000000${++counts.starts}`
        return Effect.as(start(counts.starts), { id, type: "users_export", status: "pending" })
      })),
    Testing.handle(getJob, ({ id }) =>
      Effect.suspend(() =>
        Effect.as(look(++counts.looks), {
          id,
          type: "users_export",
          status: "completed",
          location: "https://storage.example.com/users.gz",
          ...job(id)
        })
      ))
  )
  return { counts, layer }
}

const monday = Jobs.export({ tenant: "acme", key: "monday", input: {} })

/** A store with one export that runs, and runs of it by several processes. */
const processes = (
  acme: { readonly layer: Layer.Layer<IdentityClient.IdentityClient> },
  options: Jobs.RunOptions = {}
) =>
  Effect.gen(function*() {
    const store = yield* Effect.flatMap(keepNothing, make)
    yield* store.create(newJob("a", { kind: "export", definition: "{}" }))
    yield* store.update(seen("a"), ["loading"], { state: "waiting", isLoaded: true })
    const client = yield* Effect.provide(IdentityClient.IdentityClient, acme.layer)
    const runnerOf = (own: JobStore) =>
      makeRunner({ ...options, store: own, tenants: { client: () => Effect.succeed(client) } })
    return { store, runnerOf, run: runnerOf(store), job: Effect.map(store.get("a"), Option.getOrThrow) }
  })

describe("an export as a job", () => {
  it.effect("is started once by two processes that run it at the same time", () =>
    Effect.gen(function*() {
      const acme = exporting({ start: () => Effect.sleep("5 seconds") })
      const { job, run, store } = yield* processes(acme)
      const first = yield* Effect.fork(run("a"))
      yield* TestClock.adjust("1 second")
      const second = yield* Effect.fork(run("a"))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      assert.strictEqual(acme.counts.starts, 1)
      assert.deepInclude(yield* job, { exportJob: "job_0000000000000001" })
      // What the one that came later thinks of it is mended by a `resume`.
      yield* store.update(yield* job, ["failed"], { state: "running" })
      yield* run("a")
      assert.deepInclude(yield* job, { state: "done", exportJob: "job_0000000000000001" })
      assert.strictEqual(acme.counts.starts, 1)
    }))

  it.effect("is started once though it is cancelled and resumed while a run waits to try again", () =>
    Effect.gen(function*() {
      const acme = exporting({
        start: (nth) => nth === 1 ? Effect.fail(transport("not-sent")) : Effect.sleep("5 seconds")
      })
      const { job, run, store } = yield* processes(acme)
      const first = yield* Effect.fork(run("a"))
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(acme.counts.starts, 1)
      yield* store.update(seen("a"), ["running"], { state: "waiting", resumed: 1 })
      const second = yield* Effect.fork(run("a"))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      assert.deepInclude(yield* job, { state: "done", exportJob: "job_0000000000000002" })
      assert.strictEqual(acme.counts.starts, 2)
    }))

  it.effect("keeps the id of its job though the storage is unavailable when it comes", () =>
    Effect.gen(function*() {
      const acme = exporting()
      const { job, runnerOf, store } = yield* processes(acme)
      let failures = 5
      const update: JobStore["update"] = (seen, from, change) =>
        Effect.suspend(() =>
          change.exportJob !== undefined && failures-- > 0
            ? new JobStoreError({ message: "unavailable" })
            : store.update(seen, from, change)
        )
      const fiber = yield* Effect.fork(runnerOf({ ...store, update })("a"))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      assert.deepInclude(yield* job, { state: "done", exportJob: "job_0000000000000001" })
      assert.strictEqual(acme.counts.starts, 1)
    }))

  it.effect("is given up after `giveUpAfter` without a response, however long each call takes", () => {
    const acme = exporting({
      look: (nth) => Effect.zipRight(Effect.sleep("3 minutes"), nth === 1 ? Effect.void : Effect.fail(unexpected(503)))
    })
    return Effect.gen(function*() {
      const { status, submit } = yield* Jobs.Jobs
      const id = yield* submit(monday)
      yield* TestClock.adjust("59 minutes")
      assert.deepInclude(yield* status(id), { state: "done" })
      const another = yield* submit({ ...monday, key: "another" })
      yield* TestClock.adjust("59 minutes")
      assert.deepInclude(yield* status(another), { state: "running" })
      yield* TestClock.adjust("35 minutes")
      assert.deepInclude(yield* status(another), { state: "failed" })
    }).pipe(Effect.provide(TestJobs.over({ acme }, { giveUpAfter: "1 hour", pollInterval: "1 minute" })))
  })

  it.effect("whose job never ends is failed a time after its creation, whichever process waits, and resumed with another", () => {
    const pending = { status: "pending", created_at: "1970-01-01T01:00:00.000Z" }
    const acme = exporting({ job: (id) => id === "job_0000000000000001" ? pending : {} })
    return Effect.gen(function*() {
      const { job, run, runnerOf, store } = yield* processes(acme, {
        pollInterval: "1 minute",
        exportTimeout: "1 hour"
      })
      yield* TestClock.adjust("1 hour")
      // One process ends, and another one goes on.
      const first = yield* Effect.fork(run("a"))
      yield* TestClock.adjust("50 minutes")
      yield* Fiber.interrupt(first)
      const second = yield* Effect.fork(runnerOf(store)("a"))
      yield* TestClock.adjust("9 minutes")
      assert.deepInclude(yield* job, { state: "running" })
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(second)
      const { error, state } = yield* job
      assert.strictEqual(state, "failed")
      assert.deepInclude(error, {
        _tag: "ExportError",
        reason: "timeout",
        message: "the job has not ended in 1h: its status is \"pending\". If it ends later, its id gives the file"
      })
      const { resume } = makeService({
        store,
        tenants: { client: () => Effect.dieMessage("no client is needed") },
        start: () => Effect.void
      })
      yield* resume("a")
      yield* run("a")
      assert.deepInclude(yield* job, { state: "done", exportJob: "job_0000000000000002" })
    })
  })

  it.effect("is waited for by a process whose clock is ahead of the service's, if it has started the job", () => {
    let looks = 0
    const acme = exporting({
      job: () => ({ created_at: "1970-01-01T00:00:00.000Z", ...(++looks < 3 && { status: "pending" }) })
    })
    return Effect.gen(function*() {
      const { submit, status } = yield* Jobs.Jobs
      yield* TestClock.adjust("10 hours")
      const id = yield* submit(monday)
      yield* TestClock.adjust("5 minutes")
      assert.deepInclude(yield* status(id), { state: "done" })
    }).pipe(Effect.provide(TestJobs.over({ acme }, { exportTimeout: "1 hour", pollInterval: "1 minute" })))
  })

  it.effect("is failed after `exportTimeout`, and at once if its job was canceled or has expired", () => {
    const statuses = ["pending", "canceled", "expired"]
    const acme = exporting({ job: (id) => ({ status: statuses[Number(id.at(-1)) - 1] }) })
    return Effect.gen(function*() {
      const { status, submit } = yield* Jobs.Jobs
      const id = yield* submit(monday)
      yield* TestClock.adjust("9 minutes")
      assert.deepInclude(yield* status(id), { state: "running" })
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* status(id), { state: "failed" })
      for (const message of ["the job was canceled", "the job has expired, so it offers no file any more"]) {
        const id = yield* submit({ ...monday, key: message })
        yield* TestClock.adjust("1 second")
        const { error, state } = yield* status(id)
        assert.strictEqual(state, "failed")
        assert.deepInclude(error, { _tag: "ExportError", message })
      }
    }).pipe(Effect.provide(TestJobs.over({ acme }, { exportTimeout: "10 minutes" })))
  })

  it.effect("whose job the service no longer knows starts another one when it is resumed", () => {
    const acme = exporting({
      look: (nth) => nth === 1 ? Effect.fail(new Errors.NotFound({ ...failure, operation: "getJob" })) : Effect.void
    })
    return Effect.gen(function*() {
      const { resume, status, submit } = yield* Jobs.Jobs
      const id = yield* submit(monday)
      yield* TestClock.adjust("1 minute")
      const { error, state } = yield* status(id)
      assert.deepStrictEqual([state, error?._tag], ["failed", "NotFound"])
      yield* resume(id)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* status(id), { state: "done", exportJob: "job_0000000000000002" })
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })
})

describe("a run of an export", () => {
  const running = (acme: Parameters<typeof processes>[0]) =>
    Effect.tap(processes(acme), ({ store }) => store.update(seen("a"), ["waiting"], { state: "running" }))

  it.effect("fails if it is not known whether its job was started, and asks the service for nothing", () =>
    Effect.gen(function*() {
      const acme = exporting()
      const { job, store } = yield* running(acme)
      yield* store.claimExport(seen("a"))
      const run = Effect.provide(runExport(store, yield* job, {}, Effect.void), acme.layer)
      assert.deepInclude((yield* Effect.flip(run)).error, {
        _tag: "ExportError",
        reason: "unknown-start",
        message:
          "it is not known whether the service has started a job: `resume` starts another, unless its id is known by then"
      })
      assert.deepStrictEqual(acme.counts, { starts: 0, looks: 0 })
    }))

  it.effect("leaves the start to another run that has begun it", () =>
    Effect.gen(function*() {
      const acme = exporting()
      const { job, store } = yield* running(acme)
      const before = yield* job
      yield* store.claimExport(seen("a"))
      assert.deepInclude(yield* Effect.flip(Effect.provide(runExport(store, before, {}, Effect.void), acme.layer)), {
        _tag: "Passing",
        isService: false,
        error: new Errors.OtherError({
          tag: "NotRunning",
          message: "the job does not run any more, or another run starts it"
        })
      })
      assert.deepInclude(yield* job, { exportJob: "" })
      assert.strictEqual(acme.counts.starts, 0)
    }))

  it.effect("does not forget the start of another run when its own comes to nothing before that", () =>
    Effect.gen(function*() {
      const { job, store } = yield* running(exporting())
      const before = yield* job
      yield* store.claimExport(seen("a"))
      const error = new Errors.TokenError({ operation: "createUsersExport", message: "No.", error: "invalid_client" })
      const { layer } = clientOf({ tokens: TokenProvider.layerEffect(Effect.fail(error)) })
      assert.deepInclude(yield* Effect.flip(Effect.provide(runExport(store, before, {}, Effect.void), layer)), {
        _tag: "Failed",
        error
      })
      assert.deepInclude(yield* job, { exportJob: "" })
    }))

  it.effect("notes a response after the start and after each look", () =>
    Effect.gen(function*() {
      const acme = exporting()
      const { job, store } = yield* running(acme)
      let responses = 0
      const onResponse = Effect.sync(() => void responses++)
      yield* Effect.provide(runExport(store, yield* job, {}, onResponse), acme.layer)
      assert.strictEqual(responses, 2)
      yield* Effect.provide(runExport(store, yield* job, {}, onResponse), acme.layer)
      assert.strictEqual(responses, 3)
      assert.deepStrictEqual(acme.counts, { starts: 1, looks: 2 })
    }))
})

describe("a tenant's layer", () => {
  const dying = (builds: { count: number }) =>
    Jobs.layerTenants(() =>
      Layer.unwrapEffect(
        Effect.suspend(() => ++builds.count === 1 ? Effect.die("unexpected") : Effect.succeed(exporting().layer))
      )
    )

  it.effect("that dies is built again by a `resume`", () => {
    const builds = { count: 0 }
    return Effect.gen(function*() {
      const { resume, status, submit } = yield* Jobs.Jobs
      const id = yield* submit(monday)
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* status(id), { state: "failed" })
      yield* resume(id)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* status(id), { state: "done" })
      assert.strictEqual(builds.count, 2)
    }).pipe(Effect.provide(Layer.provide(Jobs.layerMemory, dying(builds))))
  })
})
