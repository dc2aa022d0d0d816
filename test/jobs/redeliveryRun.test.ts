/** Tests of one run of a redelivery: which events it sends, what counts as a response, and after which failures a later run goes on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { metricReadings } from "../../examples/support/metricReadings.js"
import { type Delivery, Errors, listDeliveries, type Operation, Redelivery } from "../../src/index.js"
import { storeFailure } from "../../src/internal/redelivery/storeFailure.js"
import * as Jobs from "../../src/Jobs.js"
import { encodeJob } from "../../src/jobs/definition.js"
import { keepNothing, make } from "../../src/jobs/memoryStore.js"
import { JobStoreError, type RunOptions } from "../../src/jobs/model.js"
import { runRedelivery } from "../../src/jobs/redeliveryRun.js"
import type { JobStore } from "../../src/jobs/store.js"
import * as Testing from "../../src/Testing.js"
import { night } from "../support/jobs.js"
import { newJob } from "../support/jobStores.js"
import { failure, idOf, ids, service, stream, transport, unexpected } from "../support/redelivery.js"
import { allLines } from "../support/telemetry.js"

/** The definition of a redelivery whose events are in a list. */
const listed = JSON.stringify({ stream, isListed: true, filter: {} })

/** The definition of one of all failed deliveries. */
const byFilter = JSON.stringify({ stream, isListed: false, filter: {} })

/** A redelivery that is running. `counts` has the responses that its runs have noted. */
const redelivery = (definition: string, events: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    const store = yield* Effect.flatMap(keepNothing, make)
    const { job } = yield* store.create(newJob("a", { definition }))
    yield* store.addEvents(job, "loading", events)
    yield* store.update(job, ["loading"], { state: "running", isLoaded: true })
    const counts = { responses: 0 }
    const onResponse = Effect.sync(() => void counts.responses++)
    const run = (
      { layer }: Pick<ReturnType<typeof service>, "layer">,
      options: RunOptions = {},
      change: Partial<JobStore> = {}
    ) => Effect.provide(runRedelivery({ ...store, ...change }, job, options, onResponse), layer)
    return { counts, run, store }
  })

const deliveryOf = (id: string): Delivery => ({
  id,
  event_stream_id: stream,
  status: "failed",
  event_type: "user.created",
  attempts: []
})

/** A service with failed deliveries of these ids, on one page. */
const withFailed = (failed: ReadonlyArray<string>) =>
  service(
    undefined,
    Testing.handle(listDeliveries, ({ from }) => Effect.succeed(from === undefined ? failed.map(deliveryOf) : []))
  )

describe("a run of a redelivery", () => {
  it.effect("notes responses, but none of an event that was not sent, or whose outcome is unknown", () =>
    Effect.gen(function*() {
      const { counts, run, store } = yield* redelivery(listed, [idOf(0), "another", idOf(1), idOf(2)])
      const acme = service((id) => id === idOf(1) ? Effect.fail(transport("unknown")) : Effect.void)
      yield* run(acme)
      assert.strictEqual(counts.responses, 2)
      assert.sameMembers(acme.sent, ids(3))
      assert.deepInclude((yield* store.counts("a")).outcomes, { accepted: 2, unknown: 1 })
    }))

  it.effect("fails once as many events as allowed were not accepted, and not before", () =>
    Effect.gen(function*() {
      const { run } = yield* redelivery(listed, ids(5))
      const options = { concurrency: 1, stopAfter: 2 }
      yield* run(service((_, nth) => nth === 0 ? Effect.fail(unexpected(422)) : Effect.void), options)
      const another = yield* redelivery(listed, ids(5))
      const acme = service(() => Effect.fail(unexpected(422)))
      const { _tag, error } = yield* Effect.flip(another.run(acme, options))
      assert.strictEqual(_tag, "Failed")
      assert.deepInclude(error, {
        _tag: "RunError",
        reason: "tooManyFailures",
        message: "2 events were not accepted; the others were not sent"
      })
      assert.deepInclude(error._tag === "RunError" && error.error, { _tag: "UnexpectedResponse", status: 422 })
      assert.deepStrictEqual(acme.sent, ids(2))
    }))

  it.effect("reads its list in pages of 500, each once", () =>
    Effect.gen(function*() {
      // Nothing is sent for ids that no event has, so that they take little time.
      const events = [idOf(0), ...Array.from({ length: 499 }, (_, nth) => `another ${nth}`), idOf(1)]
      const { run, store } = yield* redelivery(listed, events)
      const acme = service()
      const pages: Array<number> = []
      const unfinished: JobStore["unfinished"] = (id, page) => {
        pages.push(page.after)
        return store.unfinished(id, page)
      }
      yield* run(acme, {}, { unfinished })
      assert.deepStrictEqual(pages, [0, 500])
      assert.deepStrictEqual(acme.sent, ids(2))
    }))

  it.effect("asks for the failed deliveries that match its filter", () =>
    Effect.gen(function*() {
      const filter = { eventTypes: ["user.created", "user.deleted"], from: "2026-01-01", to: "2026-01-02" }
      const { counts, run } = yield* redelivery(yield* encodeJob(Jobs.redelivery({ ...night, filter })))
      const asked: Array<unknown> = []
      const acme = service(
        undefined,
        Testing.handle(listDeliveries, (input) => {
          asked.push(input)
          return Effect.succeed(input.from === undefined ? [deliveryOf(idOf(0))] : [])
        })
      )
      yield* run(acme)
      assert.deepInclude(asked[0], {
        id: stream,
        statuses: "failed",
        event_types: "user.created,user.deleted",
        date_from: "2026-01-01T00:00:00Z",
        date_to: "2026-01-02T00:00:00Z"
      })
      assert.deepStrictEqual(acme.sent, [idOf(0)])
      assert.isAtLeast(counts.responses, 2)
    }))

  it.effect("logs how many failed deliveries it leaves out, if it does", () =>
    Effect.gen(function*() {
      const leftOut = (failed: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const { run } = yield* redelivery(byFilter)
          const acme = withFailed(failed)
          const { lines } = yield* allLines(run(acme))
          assert.deepStrictEqual(acme.sent, [idOf(0)])
          return lines.filter((line) => line.startsWith("failed deliveries"))
        })
      assert.deepStrictEqual(yield* leftOut([idOf(0)]), [])
      assert.deepStrictEqual(yield* leftOut([idOf(0), "another", "one more"]), [
        "failed deliveries were left out, because their ids are not those of events (number: 2)"
      ])
    }))

  it.effect("sends and counts nothing that it finds after its job was cancelled", () =>
    Effect.gen(function*() {
      const { run } = yield* redelivery(byFilter)
      const events = Effect.map(metricReadings, (readings) =>
        readings.filter(({ name }) =>
          name === "identity.jobs.events"
        ).map(({ tags, value }) => ({ tags, value })))
      const before = yield* events
      const acme = withFailed(ids(3))
      yield* run(acme, {}, { addEvents: () => Effect.succeed(false) })
      assert.deepStrictEqual(acme.sent, [])
      assert.deepStrictEqual(yield* events, before)
    }))
})

describe("a run of a redelivery that cannot go on", () => {
  const broken = Effect.fail(new JobStoreError({ message: "the disk is broken" }))
  const message = "listDeliveries: No."
  const listing = (error: Operation.Failure<typeof listDeliveries>) =>
    service(undefined, Testing.handle(listDeliveries, () => Effect.fail(error)))
  const details = { ...failure, operation: "listDeliveries" }

  it.effect.each(
    [
      [
        "lists nothing because the service is unavailable",
        listing(new Errors.TransportError({ ...details, outcome: "not-sent" })),
        "TransportError"
      ],
      ["may list only later", listing(new Errors.RateLimited(details)), "RateLimited"]
    ] as const
  )("%s: a later run goes on, if the service responds in time", ([, acme, tag]) =>
    Effect.gen(function*() {
      const { run } = yield* redelivery(byFilter)
      const failure = yield* Effect.flip(run(acme))
      assert.deepInclude(failure, { _tag: "Passing", isService: true })
      assert.deepInclude(failure.error, { _tag: tag, message })
    }))

  it.effect.each(
    [
      ["lists with a filter that the service refuses", listing(new Errors.BadRequest(details)), "BadRequest", message],
      ["finds no stream", listing(new Errors.NotFound(details)), "NotFound", message],
      [
        "may not list",
        listing(new Errors.Forbidden(details)),
        "Forbidden",
        message
      ],
      [
        "may not redeliver",
        service(() => Effect.fail(new Errors.Forbidden(failure)), Testing.handle(listDeliveries, () => Effect.never)),
        "RunError",
        "the service accepts no call of this run: redeliverEvent: No."
      ]
    ] as const
  )("%s: it fails for good", ([, acme, tag, text]) =>
    Effect.gen(function*() {
      const { run } = yield* redelivery(byFilter, tag === "RunError" ? ids(1) : [])
      const failure = yield* Effect.flip(run(acme))
      assert.strictEqual(failure._tag, "Failed")
      assert.deepInclude(failure.error, { _tag: tag, message: text })
    }))

  it.effect.each(
    [
      ["opened", { journal: () => broken }, "JobStoreError", "the disk is broken"],
      ["listed", { unfinished: () => broken }, "JobStoreError", "the disk is broken"],
      ["added to", { addEvents: () => broken }, "JobStoreError", "the disk is broken"],
      [
        "noted in",
        {
          journal: () =>
            Effect.flatMap(keepNothing, ({ journal }) =>
              Effect.map(journal("a"), (own) => ({
                ...own,
                get: (key: string) =>
                  Effect.zipRight(Effect.fail(storeFailure("get", key, "the disk is broken")), own.get(key))
              })))
        },
        "JournalError",
        /^the journal cannot be used: .*the disk is broken/
      ]
    ] as const
  )("because its storage cannot be %s: a later run goes on", ([, change, tag, text]) =>
    Effect.gen(function*() {
      const { run } = yield* redelivery(byFilter)
      const error = yield* Effect.flip(run(withFailed(ids(1)), {}, change))
      assert.deepInclude(error, { _tag: "Passing", isService: false })
      assert.deepInclude(error.error, { _tag: "OtherError", tag })
      assert.match(error.error.message, new RegExp(text))
    }))

  it.effect("because its journal is of another stream: it fails for good", () =>
    Effect.gen(function*() {
      const { run, store } = yield* redelivery(listed, ids(1))
      const other = JSON.stringify({ version: 1, stream: "est_0000000000000000000002" })
      yield* (yield* store.journal("a")).set("journal", other)
      const acme = service()
      assert.deepInclude(yield* Effect.flip(run(acme)), {
        _tag: "Failed",
        error: new Redelivery.JournalError({ reason: "foreign", message: "the journal belongs to another stream" })
      })
      assert.deepStrictEqual(acme.sent, [])
    }))

  it.effect("because another version of this library has stored it: a run of that version goes on", () =>
    Effect.gen(function*() {
      const { run } = yield* redelivery(JSON.stringify({ stream, isListed: true, filter: { from: 1 } }), ids(1))
      assert.deepInclude(yield* Effect.flip(run(service())), {
        _tag: "Passing",
        isService: false,
        error: new Errors.OtherError({
          tag: "LaterVersion",
          message: "a later version of this library stored the job, and can run it"
        })
      })
    }))
})
