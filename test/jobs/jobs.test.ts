/** Jobs in memory: each starts once, tells how far it is, can be cancelled and resumed, and sends no event twice. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Layer, Stream, TestClock } from "effect"
import { metricReadings } from "../../examples/support/metricReadings.js"
import { createUsersExport, Errors, getJob, listDeliveries } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import * as Testing from "../../src/Testing.js"
import * as TestJobs from "../support/jobs.js"
import { collected, ended, night } from "../support/jobs.js"
import { failure, idOf, ids, service, stream, transport, unexpected } from "../support/redelivery.js"
import { allLines } from "../support/telemetry.js"

describe("a redelivery", () => {
  it.effect("sends each event once, and tells its outcome", () => {
    const acme = service((_, nth) =>
      nth === 1
        ? Effect.fail(new Errors.Conflict(failure))
        : nth === 2
        ? Effect.fail(new Errors.NotFound(failure))
        : Effect.void
    )
    return Effect.gen(function*() {
      const { results, submit } = yield* Jobs.Jobs
      const id = yield* submit(Jobs.redelivery({ ...night, events: Stream.fromIterable([...ids(5), idOf(0)]) }))
      const status = yield* ended(id)
      assert.deepInclude(status, { id, kind: "redelivery", tenant: "acme", key: "night", state: "done" })
      assert.deepStrictEqual(status.events, {
        total: 5,
        left: 0,
        outcomes: { accepted: 3, notFailed: 1, gone: 1, unknown: 0, failed: 0 }
      })
      assert.deepStrictEqual([...acme.sent].sort(), ids(5))
      assert.deepStrictEqual((yield* collected(results(id))).map(({ id }) => id), ids(5))
    }).pipe(Effect.provide(TestJobs.over({ acme }, { concurrency: 1 })))
  })

  it.effect("is the same job however often it is submitted", () => {
    const acme = service()
    return Effect.gen(function*() {
      const { list, submit } = yield* Jobs.Jobs
      const submitted = yield* Effect.all(
        Array.from({ length: 10 }, () => submit(Jobs.redelivery({ ...night, events: ids(50) }))),
        { concurrency: "unbounded" }
      )
      const [id = ""] = submitted
      assert.lengthOf([...new Set(submitted)], 1)
      yield* ended(id)
      assert.strictEqual(yield* submit(Jobs.redelivery({ ...night, events: ids(50) })), id)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([...acme.sent].sort(), ids(50))
      assert.lengthOf(yield* collected(list()), 1)
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("goes on with the list that an interrupted submit has left", () => {
    const acme = service()
    return Effect.gen(function*() {
      const { status, submit } = yield* Jobs.Jobs
      const first = Stream.concat(Stream.fromIterable(ids(1500)), Stream.fail("the file ends here"))
      assert.deepStrictEqual(
        yield* Effect.either(submit(Jobs.redelivery({ ...night, events: first }))),
        Either.left("the file ends here")
      )
      assert.lengthOf(acme.sent, 0)
      const id = yield* submit(Jobs.redelivery({ ...night, events: ids(2000) }))
      assert.strictEqual((yield* status(id)).events.total, 2000)
      assert.strictEqual((yield* ended(id)).events.outcomes.accepted, 2000)
      assert.lengthOf(new Set(acme.sent), 2000)
      assert.lengthOf(acme.sent, 2000)
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("by filter reads the failed deliveries as it goes on", () => {
    const failed = new Set(ids(250))
    const acme = service(
      (id) => Effect.sync(() => void failed.delete(id)),
      Testing.handle(
        listDeliveries,
        ({ from = "", take = 50 }) =>
          Effect.sync(() =>
            [...failed].filter((id) => id > from).sort().slice(0, take).map((id) => ({
              id,
              event_stream_id: stream,
              status: "failed" as const,
              event_type: "user.created",
              attempts: []
            }))
          )
      )
    )
    return Effect.gen(function*() {
      const { submit } = yield* Jobs.Jobs
      const id = yield* submit(Jobs.redelivery({ ...night, filter: { from: "2026-01-01" } }))
      assert.deepInclude((yield* ended(id)).events, { total: 250, left: 0 })
      assert.deepStrictEqual([...acme.sent].sort(), ids(250))
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("waits while the service is unavailable, and does not fail its events", () => {
    let isDown = true
    const acme = service(() => Effect.suspend(() => isDown ? Effect.fail(transport("not-sent")) : Effect.void))
    return Effect.gen(function*() {
      const { status, submit } = yield* Jobs.Jobs
      const id = yield* submit(Jobs.redelivery({ ...night, events: ids(20) }))
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* status(id)).state, "running")
      isDown = false
      assert.strictEqual((yield* ended(id)).events.outcomes.accepted, 20)
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("fails after too many failures, and `resume` sends what was not accepted", () => {
    let isRefusing = true
    const acme = service(() => Effect.suspend(() => isRefusing ? Effect.fail(unexpected(422)) : Effect.void))
    return Effect.gen(function*() {
      const { resume, submit } = yield* Jobs.Jobs
      const id = yield* submit(Jobs.redelivery({ ...night, events: ids(100) }))
      const status = yield* ended(id)
      assert.deepInclude(status, { state: "failed" })
      assert.deepInclude(status.error, { _tag: "RunError", reason: "tooManyFailures" })
      assert.isBelow(acme.sent.length, 70)
      isRefusing = false
      assert.isTrue(yield* resume(id))
      assert.deepInclude(yield* ended(id), { state: "done" })
      assert.isFalse(acme.sent.length < 100)
      assert.lengthOf(new Set(acme.sent), 100)
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("that is cancelled sends nothing more, and `resume` does not repeat what may have been accepted", () =>
    Effect.gen(function*() {
      const hang = yield* Deferred.make<void>()
      const acme = service((_, nth) => nth < 5 ? Effect.void : nth < 8 ? Deferred.await(hang) : Effect.void)
      yield* Effect.gen(function*() {
        const { awaitEnd, cancel, resume, status, submit } = yield* Jobs.Jobs
        const id = yield* submit(Jobs.redelivery({ ...night, events: ids(30) }))
        yield* TestClock.adjust("1 second")
        assert.isTrue(yield* cancel(id))
        assert.isFalse(yield* cancel(id))
        assert.strictEqual((yield* awaitEnd(id)).state, "cancelled")
        yield* TestClock.adjust("1 minute")
        assert.lengthOf(acme.sent, 8)
        const { events } = yield* status(id)
        assert.deepInclude(events.outcomes, { accepted: 5, unknown: 3 })
        yield* resume(id)
        assert.deepInclude((yield* ended(id)).events.outcomes, { accepted: 27, unknown: 3 })
        assert.lengthOf(acme.sent, 30)
        assert.lengthOf(new Set(acme.sent), 30)
      }).pipe(Effect.provide(TestJobs.over({ acme }, { concurrency: 3 })))
    }))

  it.effect("of one tenant is not held up by that of another", () => {
    const acme = service(() => Effect.never)
    const other = service()
    return Effect.gen(function*() {
      const { cancel, status, submit } = yield* Jobs.Jobs
      const slow = yield* submit(Jobs.redelivery({ ...night, events: ids(1000) }))
      const quick = yield* submit(Jobs.redelivery({ ...night, tenant: "other", events: ids(10) }))
      assert.strictEqual((yield* ended(quick)).events.outcomes.accepted, 10)
      assert.deepInclude(yield* status(slow), { state: "running" })
      yield* cancel(slow)
      yield* TestClock.adjust("1 minute")
    }).pipe(Effect.provide(TestJobs.over({ acme, other })))
  })
})

it.effect("jobs are counted while they run, and their events by outcome", () => {
  const valueOf = (name: string, label: string) =>
    Effect.map(
      metricReadings,
      (readings) =>
        readings.find((reading) => reading.name === name && Object.values(reading.tags).includes(label))?.value ?? 0
    )
  const acme = service((_, nth) => nth === 2 ? Effect.delay(Effect.void, "10 seconds") : Effect.void)
  return Effect.gen(function*() {
    const { submit } = yield* Jobs.Jobs
    const before = yield* valueOf("identity.jobs.events", "accepted")
    const id = yield* submit(Jobs.redelivery({ ...night, events: ids(3) }))
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual(yield* valueOf("identity.jobs.running", "redelivery"), 1)
    yield* ended(id)
    assert.strictEqual(yield* valueOf("identity.jobs.running", "redelivery"), 0)
    assert.strictEqual((yield* valueOf("identity.jobs.events", "accepted")) - before, 3)
  }).pipe(Effect.provide(TestJobs.over({ acme })))
})

describe("a job", () => {
  it.effect("with invalid fields is refused, and names them", () =>
    Effect.gen(function*() {
      const { list, submit } = yield* Jobs.Jobs
      const pathsOf = (job: Jobs.Job) =>
        Effect.map(Effect.flip(submit(job)), (error) =>
          error instanceof Errors.InvalidInput ? error.issues.map(({ path }) => path) : [])
      assert.deepStrictEqual(yield* pathsOf(Jobs.redelivery({ tenant: "", key: "", stream: "" })), [
        "tenant",
        "key",
        "stream"
      ])
      assert.deepStrictEqual(yield* pathsOf(Jobs.redelivery({ ...night, filter: { from: "yesterday" } })), [
        "filter.from"
      ])
      assert.deepStrictEqual(
        yield* pathsOf(Jobs.redelivery({ ...night, events: [], filter: { from: "2026-01-01" } })),
        ["filter"]
      )
      assert.deepStrictEqual(yield* pathsOf(Jobs.export({ ...night, input: { limit: 0 } })), ["input.limit"])
      assert.lengthOf(yield* collected(list()), 0)
      assert.deepStrictEqual(yield* pathsOf(Jobs.redelivery({ ...night, events: [idOf(0), ""] })), ["events[1]"])
    }).pipe(Effect.provide(TestJobs.over({}))))

  it.effect("with the key of another one is a conflict", () =>
    Effect.gen(function*() {
      const { submit } = yield* Jobs.Jobs
      const id = yield* submit(Jobs.redelivery({ ...night, events: ids(1) }))
      const other = Jobs.redelivery({ ...night, stream: "est_0000000000000000000002", events: ids(1) })
      const error = yield* Effect.flip(submit(other))
      assert.deepInclude(error, { _tag: "JobConflict", id })
      assert.notStrictEqual(yield* submit({ ...other, tenant: "other" }), id)
    }).pipe(Effect.provide(TestJobs.over({ acme: service(), other: service() }))))

  it.effect("that does not exist is a failure of each operation", () =>
    Effect.gen(function*() {
      const jobs = yield* Jobs.Jobs
      const all: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
        jobs.status("no-job"),
        jobs.awaitEnd("no-job"),
        jobs.cancel("no-job"),
        jobs.resume("no-job"),
        Stream.runDrain(jobs.results("no-job"))
      ]
      for (const effect of all) assert.strictEqual((yield* Effect.flip(effect))._tag, "JobNotFound")
    }).pipe(Effect.provide(TestJobs.over({}))))

  it.effect("of a tenant without a client fails with the reason", () =>
    Effect.gen(function*() {
      const { submit } = yield* Jobs.Jobs
      const id = yield* submit(Jobs.redelivery({ ...night, tenant: "nobody", events: ids(1) }))
      const message = "there is no client for the tenant: its layer has failed"
      const error = new Errors.OtherError({ tag: "NoTenant", message })
      assert.deepInclude(yield* ended(id), { state: "failed", error })
    }).pipe(Effect.provide(TestJobs.over({}))))

  it.effect("that has ended is listed by its state, and pruned by its age", () =>
    Effect.gen(function*() {
      const { list, prune, status, submit } = yield* Jobs.Jobs
      const first = yield* submit(Jobs.redelivery({ ...night, events: ids(1) }))
      yield* ended(first)
      yield* TestClock.adjust("1 hour")
      const second = yield* submit(Jobs.redelivery({ ...night, key: "day", events: ids(1) }))
      yield* ended(second)
      const idsOf = (filter?: Jobs.ListFilter) => Effect.map(collected(list(filter)), (all) => all.map(({ id }) => id))
      assert.deepStrictEqual(yield* idsOf(), [first, second])
      assert.deepStrictEqual(yield* idsOf({ states: ["running"] }), [])
      assert.deepStrictEqual(yield* idsOf({ tenant: "other" }), [])
      assert.deepStrictEqual(yield* idsOf({ kind: "redelivery", tenant: "acme", states: ["done"] }), [first, second])
      assert.strictEqual(yield* prune("30 minutes"), 1)
      assert.strictEqual((yield* Effect.flip(status(first)))._tag, "JobNotFound")
      assert.deepStrictEqual(yield* idsOf(), [second])
    }).pipe(Effect.provide(TestJobs.over({ acme: service() }))))
})

describe("a list of events", () => {
  const submitted = (events: Iterable<string> | Stream.Stream<string, string>) =>
    Effect.flatMap(Jobs.Jobs, ({ submit }) => submit(Jobs.redelivery({ ...night, events })))

  it.effect("that is refused is not kept, whether it is a list or a stream", () => {
    const acme = service()
    return Effect.gen(function*() {
      const { list } = yield* Jobs.Jobs
      for (const events of [[idOf(1), ""], Stream.make(...ids(1500), "")]) {
        assert.instanceOf(yield* Effect.flip(submitted(events)), Errors.InvalidInput)
        assert.lengthOf(yield* collected(list()), 0)
      }
      yield* ended(yield* submitted([idOf(7)]))
      assert.deepStrictEqual(acme.sent, [idOf(7)])
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("is not changed once it is complete", () => {
    const acme = service()
    return Effect.gen(function*() {
      const { status } = yield* Jobs.Jobs
      const started = yield* Deferred.make<void>()
      const slow = Stream.concat(
        Stream.fromIterable(ids(2000)),
        Stream.fromEffect(Effect.as(Deferred.await(started), idOf(3000)))
      )
      const fiber = yield* Effect.fork(submitted(slow))
      yield* Effect.yieldNow()
      const id = yield* submitted([idOf(0)])
      const before = yield* ended(id)
      yield* Deferred.succeed(started, undefined)
      assert.strictEqual(yield* Fiber.join(fiber), id)
      yield* submitted(ids(2500))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* status(id), before)
      assert.strictEqual(before.events.left, 0)
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("begins anew after its job was cancelled while it was loaded", () => {
    const acme = service()
    return Effect.gen(function*() {
      const { awaitEnd, cancel, list, resume } = yield* Jobs.Jobs
      yield* Effect.flip(submitted(Stream.concat(Stream.fromIterable(ids(1000)), Stream.fail("the file ends here"))))
      const [{ id = "" } = {}] = yield* collected(list({ states: ["loading"] }))
      assert.isFalse(yield* resume(id))
      assert.isTrue(yield* cancel(id))
      assert.strictEqual((yield* awaitEnd(id)).state, "cancelled")
      assert.isFalse(yield* resume(id))
      assert.strictEqual(yield* submitted([idOf(5000)]), id)
      assert.deepInclude((yield* ended(id)).events, { total: 1, left: 0 })
      assert.deepStrictEqual(acme.sent, [idOf(5000)])
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })
})

it.effect("a client that could not be made is made again, and its error is not stored", () => {
  let builds = 0
  const { layer } = service()
  const jobs = Jobs.layerMemory.pipe(
    Layer.provide(
      Jobs.layerTenants(() =>
        Layer.unwrapEffect(
          Effect.suspend(() =>
            ++builds === 1
              ? Effect.fail({ _tag: "BadUrl", message: "https://user:secret@host" })
              : Effect.succeed(layer)
          )
        )
      )
    )
  )
  return Effect.gen(function*() {
    const { resume, submit } = yield* Jobs.Jobs
    const id = yield* submit(Jobs.redelivery({ ...night, events: ids(3) }))
    const failed = yield* ended(id)
    assert.strictEqual(failed.state, "failed")
    assert.notInclude(JSON.stringify(failed), "secret")
    assert.isTrue(yield* resume(id))
    assert.deepInclude(yield* ended(id), { state: "done" })
  }).pipe(Effect.provide(jobs))
})

it.effect("options that are not valid are refused, and named", () =>
  Effect.gen(function*() {
    const options = { concurrency: 0, lockExpiry: 1, pollInterval: 0, stopAfter: 0.5, grace: "2 hours" } as const
    const error = yield* Effect.flip(Effect.scoped(Layer.build(TestJobs.over({}, options))))
    assert.deepStrictEqual(error.issues.map(({ path }) => path).sort(), Object.keys(options).sort())
  }))

describe("an export", () => {
  /** A service whose jobs end at the third look. */
  const exporting = (
    create: () => Effect.Effect<void, Errors.TransportError | Errors.BadRequest> = () => Effect.void
  ) => {
    const counts = { created: 0, looks: 0 }
    const job = { id: "job_0000000000000001", type: "users_export" as const, status: "pending" as const }
    const layer = Testing.layer(
      Testing.handle(createUsersExport, () =>
        Effect.suspend(() => {
          counts.created++
          return Effect.as(create(), job)
        })),
      Testing.handle(
        getJob,
        () =>
          Effect.sync(() =>
            ++counts.looks < 3
              ? job
              : { ...job, status: "completed" as const, location: "https://storage.example.com/users.gz" }
          )
      )
    )
    return { counts, layer }
  }
  const monday = Jobs.export({ tenant: "acme", key: "monday", input: { format: "json" } })

  it.effect("starts one job in the service, and waits for its file", () => {
    const acme = exporting()
    return Effect.gen(function*() {
      const { submit } = yield* Jobs.Jobs
      const id = yield* submit(monday)
      yield* submit(monday)
      assert.deepInclude(yield* ended(id), { state: "done", exportJob: "job_0000000000000001" })
      assert.strictEqual(acme.counts.created, 1)
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("whose start is not known fails, and only `resume` starts another", () => {
    const acme = exporting(() => acme.counts.created === 1 ? Effect.fail(transport("unknown")) : Effect.void)
    return Effect.gen(function*() {
      const { resume, submit } = yield* Jobs.Jobs
      const id = yield* submit(monday)
      const status = yield* ended(id)
      assert.deepInclude(status, { state: "failed" })
      assert.deepInclude(status.error, { _tag: "ExportError", reason: "unknown-start" })
      yield* submit(monday)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(acme.counts.created, 1)
      yield* resume(id)
      assert.deepInclude(yield* ended(id), { state: "done" })
      assert.strictEqual(acme.counts.created, 2)
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("that was certainly not started is tried again", () => {
    const acme = exporting(() => acme.counts.created < 4 ? Effect.fail(transport("not-sent")) : Effect.void)
    return Effect.gen(function*() {
      const { submit } = yield* Jobs.Jobs
      assert.deepInclude(yield* ended(yield* submit(monday)), { state: "done" })
      assert.strictEqual(acme.counts.created, 4)
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("that is cancelled while it starts goes on with the job that was started", () => {
    const acme = exporting(() => Effect.delay(Effect.void, "1 second"))
    return Effect.gen(function*() {
      const { cancel, resume, submit } = yield* Jobs.Jobs
      const id = yield* submit(monday)
      yield* TestClock.adjust("500 millis")
      yield* cancel(id)
      yield* TestClock.adjust("1 minute")
      yield* resume(id)
      assert.deepInclude(yield* ended(id), { state: "done" })
      assert.strictEqual(acme.counts.created, 1)
    }).pipe(Effect.provide(TestJobs.over({ acme }, { pollInterval: "100 millis" })))
  })

  it.effect("waits for a service that is unavailable, but not longer than `giveUpAfter`", () => {
    const acme = exporting(() => Effect.fail(transport("not-sent")))
    return Effect.gen(function*() {
      const { status, submit } = yield* Jobs.Jobs
      const id = yield* submit(monday)
      yield* TestClock.adjust("8 minutes")
      assert.deepInclude(yield* status(id), { state: "running" })
      yield* TestClock.adjust("3 minutes")
      const { error, state } = yield* status(id)
      assert.deepStrictEqual([state, error?._tag], ["failed", "TransportError"])
    }).pipe(Effect.provide(TestJobs.over({ acme }, { giveUpAfter: "10 minutes" })))
  })

  it.effect("names the failure for which it waits in the log, without the text of the service", () => {
    const acme = exporting(() => Effect.fail(transport("not-sent")))
    const waiting = Effect.gen(function*() {
      const { submit } = yield* Jobs.Jobs
      yield* submit(monday)
      yield* TestClock.adjust("5 seconds")
    }).pipe(Effect.provide(TestJobs.over({ acme })))
    return Effect.gen(function*() {
      const { lines } = yield* allLines(waiting)
      assert.isNotEmpty(lines)
      for (const line of lines) {
        assert.include(line, "a job cannot go on now, and is tried again: TransportError")
        assert.notInclude(line, "No.")
      }
    })
  })

  it.effect("with its fields in another order is the same job", () => {
    const acme = exporting()
    return Effect.gen(function*() {
      const { submit } = yield* Jobs.Jobs
      const id = yield* submit(Jobs.export({ ...monday, input: { format: "csv", limit: 5 } }))
      assert.strictEqual(yield* submit(Jobs.export({ ...monday, input: { limit: 5, format: "csv" } })), id)
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("that the service refuses fails", () => {
    const acme = exporting(() =>
      Effect.fail(new Errors.BadRequest({ operation: "createUsersExport", message: "No such connection." }))
    )
    return Effect.gen(function*() {
      const { submit } = yield* Jobs.Jobs
      const status = yield* ended(yield* submit(monday))
      assert.deepInclude(status.error, { _tag: "BadRequest", message: "createUsersExport: No such connection." })
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })
})
