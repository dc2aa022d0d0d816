/** Lists of jobs: from what they are read, and which ids they may have; and jobs that are removed while they are submitted. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Stream, TestClock } from "effect"
import { type Delivery, listDeliveries, Timestamp } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import * as Testing from "../../src/Testing.js"
import * as TestJobs from "../support/jobs.js"
import { collected, ended, night } from "../support/jobs.js"
import { idOf, ids, service, stream } from "../support/redelivery.js"

describe("a list of events", () => {
  it.effect("may be any iterable, also one that can be read only once", () => {
    const acme = service()
    const sources: Record<string, () => Iterable<string>> = {
      keys: () => new Map(ids(5).map((id) => [id, 1])).keys(),
      generator: function*() {
        yield* ids(5)
      },
      set: () => new Set(ids(5)),
      list: () => ids(5)
    }
    return Effect.gen(function*() {
      const { submit } = yield* Jobs.Jobs
      for (const [key, events] of Object.entries(sources)) {
        const status = yield* ended(yield* submit(Jobs.redelivery({ ...night, key, events: events() })))
        assert.deepInclude(status.events, { total: 5, left: 0 }, key)
      }
      assert.lengthOf(acme.sent, 20)
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect("has ids of 26 characters, of any language", () => {
    const acme = service()
    const odd = ["\uFEFF", "é", "\u{10000}", "\"", "/"].map((text) => text + "x".repeat(25))
    return Effect.gen(function*() {
      const { results, submit } = yield* Jobs.Jobs
      const status = yield* ended(yield* submit(Jobs.redelivery({ ...night, events: odd })))
      assert.deepInclude(status.events, { total: 5, left: 0 })
      assert.deepStrictEqual((yield* collected(results(status.id))).map(({ id }) => id), odd)
      assert.sameMembers(acme.sent, odd)
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })

  it.effect.each([["a control character", "\u0000"], ["a line break", "\n"], ["half a character", "\ud800"]] as const)(
    "has no id with %s: the job is refused",
    ([, text]) =>
      Effect.gen(function*() {
        const { list, submit } = yield* Jobs.Jobs
        const bad = text.padEnd(26, "x")
        for (const events of [[idOf(0), bad], Stream.make(idOf(0), bad)]) {
          assert.deepInclude(yield* Effect.flip(submit(Jobs.redelivery({ ...night, events }))), {
            _tag: "InvalidInput",
            issues: [{ path: "events[1]", message: "expected the id of an event" }]
          })
        }
        assert.lengthOf(yield* collected(list()), 0)
      }).pipe(Effect.provide(TestJobs.over({ acme: service() })))
  )

  it.effect("that a filter gives leaves out deliveries with other ids", () => {
    const delivery = (id: string): Delivery => ({
      id,
      event_stream_id: stream,
      status: "failed",
      event_type: "user.created",
      attempts: [{ status: "failed", timestamp: Timestamp.make("2026-01-02T03:04:05Z") }]
    })
    const acme = service(
      undefined,
      Testing.handle(
        listDeliveries,
        ({ from }) => Effect.succeed(from === undefined ? [delivery(idOf(0)), delivery("another")] : [])
      )
    )
    return Effect.gen(function*() {
      const { submit } = yield* Jobs.Jobs
      const status = yield* ended(yield* submit(Jobs.redelivery(night)))
      assert.deepInclude(status, { state: "done" })
      assert.deepInclude(status.events, { total: 1, left: 0 })
    }).pipe(Effect.provide(TestJobs.over({ acme })))
  })
})

describe("a job that is removed while it is submitted", () => {
  it.effect("is submitted again: its id would be that of no job", () =>
    Effect.gen(function*() {
      const { prune, submit } = yield* Jobs.Jobs
      const goOn = yield* Deferred.make<void>()
      const slow = Stream.fromIterable(ids(2)).pipe(
        Stream.concat(Stream.drain(Stream.fromEffect(Deferred.await(goOn)))),
        Stream.concat(Stream.make(idOf(2)))
      )
      const fiber = yield* Effect.fork(Effect.flip(submit(Jobs.redelivery({ ...night, events: slow }))))
      const removed = yield* Effect.repeat(Effect.zipRight(TestClock.adjust("1 second"), prune(0)), {
        until: (count) => count > 0,
        times: 1000
      })
      assert.strictEqual(removed, 1)
      yield* Deferred.succeed(goOn, undefined)
      assert.deepInclude(yield* Fiber.join(fiber), {
        _tag: "JobStoreError",
        message: "the job was removed while it was submitted: submit it again"
      })
    }).pipe(Effect.provide(TestJobs.over({ acme: service() }))))

  it.effect("is not removed by another submission of the same time that is refused", () =>
    Effect.gen(function*() {
      const { submit } = yield* Jobs.Jobs
      const goOn = yield* Deferred.make<void>()
      const slow = Stream.concat(
        Stream.make(idOf(0)),
        Stream.concat(Stream.drain(Stream.fromEffect(Deferred.await(goOn))), Stream.make(idOf(1)))
      )
      const first = yield* Effect.fork(submit(Jobs.redelivery({ ...night, events: slow })))
      yield* TestClock.adjust(0)
      const second = yield* Effect.either(submit(Jobs.redelivery({ ...night, events: Stream.make("bad") })))
      assert.isTrue(Either.isLeft(second))
      yield* Deferred.succeed(goOn, undefined)
      const status = yield* ended(yield* Fiber.join(first))
      assert.deepInclude(status.events, { total: 2, left: 0 })
    }).pipe(Effect.provide(TestJobs.over({ acme: service() }))))
})
