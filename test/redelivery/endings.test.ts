/** Redelivery runs that end before their ids do: no such stream, a client that is refused, a service that stays away, many failures. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Logger, Ref, Stream, SubscriptionRef, TestClock } from "effect"
import { Errors, getEventStream, IdentityClient, listDeliveries, redeliverEvent, Redelivery } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import {
  collect,
  failure,
  type Handled,
  idOf,
  ids,
  keyOf,
  memory,
  run,
  service,
  stream,
  transport,
  unexpected
} from "../support/redelivery.js"
import { allLines } from "../support/telemetry.js"

const gone = Effect.fail(new Errors.NotFound({ operation: "redeliverEvent", message: "redeliverEvent: Not found." }))
const required = ["read:event_streams"]
const noScope = Effect.fail(new Errors.InsufficientScope({ ...failure, required }))

/** A call that reads the stream, and the number of times that it was made. */
const reading = (result: Effect.Effect<object, Errors.NotFound | Errors.InsufficientScope | Errors.ClientError>) => {
  const calls = { count: 0 }
  const handler = Testing.handle(getEventStream, () => Effect.suspend(() => (calls.count++, result)))
  return { calls, handler }
}

/** Gives the messages of the warnings of an effect. */
const warnings = <A, E, R>(self: Effect.Effect<A, E, R>) => {
  const messages: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel.label === "WARN") messages.push(String(message))
  })
  return Effect.map(
    Effect.provide(self, Logger.replace(Logger.defaultLogger, logger)),
    (value) => ({ messages, value })
  )
}

/** The outcomes of the entries of events. */
const outcomesIn = (entries: ReadonlyMap<string, string>): Record<string, string> =>
  Object.fromEntries(
    ids(200).flatMap((id) => {
      const entry = entries.get(keyOf(id))
      return entry === undefined ? [] : [[id, (JSON.parse(entry) as { readonly outcome: string }).outcome]]
    })
  )

describe("a stream that does not exist", () => {
  it.effect("ends the run at the first 404, and a run of the right stream can use the journal", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const { calls, handler } = reading(gone)
      const tenant = service(() => gone, handler)
      const error = yield* Effect.flip(run(ids(100), { journal: store, concurrency: 4 }, tenant))
      assert.deepInclude(error, {
        _tag: "RunError",
        reason: "streamNotFound",
        message: "the event stream does not exist: redeliverEvent: Not found.",
        error: new Errors.NotFound({ ...failure, message: "Not found." })
      })
      assert.isAtMost(tenant.sent.length, 4)
      assert.strictEqual(calls.count, 1)
      assert.deepStrictEqual([...entries], [])
      const right = yield* run(ids(100), { journal: store, stream: "est_0000000000000000000002" }, service())
      assert.lengthOf(right.filter(({ outcome }) => outcome === "accepted"), 100)
    }))

  it.effect("keeps the name of the stream in a journal that an earlier run has bound", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      yield* run(ids(1), { journal: store }, service())
      const { handler } = reading(gone)
      assert.deepInclude(yield* Effect.flip(run(ids(2), { journal: store }, service(() => gone, handler))), {
        reason: "streamNotFound"
      })
      assert.sameMembers([...entries.keys()], ["journal", keyOf(idOf(0))])
    }))

  it.effect("costs no call without a 404, nor after an event was accepted, and one call otherwise", () =>
    Effect.gen(function*() {
      const { calls, handler } = reading(Effect.succeed({}))
      yield* run(ids(20), {}, service(() => Effect.void, handler))
      assert.strictEqual(calls.count, 0)
      yield* run(ids(20), { concurrency: 1 }, service((_, nth) => nth === 0 ? Effect.void : gone, handler))
      assert.strictEqual(calls.count, 0)
      const results = yield* run(ids(20), { concurrency: 5 }, service(() => gone, handler))
      assert.isTrue(results.every(({ outcome }) => outcome === "gone"))
      assert.strictEqual(calls.count, 1)
    }))

  it.effect("is found by the list of deliveries if the client may not read streams", () =>
    Effect.gen(function*() {
      const { handler } = reading(noScope)
      const list = (result: Effect.Effect<[], Errors.NotFound>) => Testing.handle(listDeliveries, () => result)
      const error = yield* Effect.flip(run(ids(9), {}, service(() => gone, handler, list(gone))))
      assert.deepInclude(error, { reason: "streamNotFound" })
      const results = yield* run(ids(9), {}, service(() => gone, handler, list(Effect.succeed([]))))
      assert.isTrue(results.every(({ outcome }) => outcome === "gone"))
    }))

  it.effect("cannot be found without both scopes: a warning says so once, and each 404 is gone", () =>
    Effect.gen(function*() {
      const { handler } = reading(noScope)
      const tenant = service(() => gone, handler, Testing.handle(listDeliveries, () => noScope))
      const { messages, value } = yield* warnings(run(ids(9), {}, tenant))
      assert.deepStrictEqual(messages, [
        "cannot tell whether the event stream exists, so each 404 counts as \"gone\"; check its id: InsufficientScope (status 403)"
      ])
      assert.isTrue(value.every(({ outcome }) => outcome === "gone"))
      assert.lengthOf(value, 9)
    }))

  it.effect("cannot be found by an odd response either", () =>
    Effect.gen(function*() {
      const { handler } = reading(Effect.fail(unexpected(200)))
      const { messages, value } = yield* warnings(run(ids(2), {}, service(() => gone, handler)))
      assert.lengthOf(messages, 1)
      assert.deepStrictEqual(value.map(({ outcome }) => outcome), ["gone", "gone"])
    }))

  it.effect("is asked for again if no response came, and the event is retried", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const responses: ReadonlyArray<Effect.Effect<object, Errors.ClientError>> = [
        Effect.fail(unexpected(503)),
        Effect.fail(transport("unknown")),
        Effect.succeed({})
      ]
      let asked = 0
      const handler = Testing.handle(getEventStream, () => Effect.suspend(() => responses[asked++]!))
      const tenant = service(() => gone, handler)
      const results = yield* run([idOf(1)], { journal: store }, tenant)
      assert.deepStrictEqual(results.map(({ outcome }) => outcome), ["gone"])
      assert.deepStrictEqual([asked, tenant.sent.length], [3, 3])
      assert.deepStrictEqual(outcomesIn(entries), { [idOf(1)]: "gone" })
    }))

  it.effect("leaves no entry of an event whose run is interrupted while it asks", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const { calls, handler } = reading(Effect.never)
      const fiber = yield* Effect.fork(run(ids(1), { journal: store }, service(() => gone, handler)))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(calls.count, 1)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual([...entries.keys()], ["journal"])
    }))
})

describe("a client that the service refuses", () => {
  const refusals: ReadonlyArray<readonly [string, Handled]> = [
    ["401", Effect.fail(new Errors.Unauthorized(failure))],
    ["a missing scope", noScope],
    ["403 for another reason", Effect.fail(new Errors.Forbidden(failure))],
    ["a wrong secret", Effect.fail(new Errors.TokenError({ ...failure, status: 401 }))],
    ["no usable token", Effect.fail(new Errors.TokenError(failure))],
    [
      "a client that was closed",
      Effect.fail(new Errors.TransportError({ ...failure, outcome: "not-sent", code: "CLOSED" }))
    ]
  ]
  for (const [title, response] of refusals) {
    it.effect(`ends the run at once: ${title}; the journal keeps no entry`, () =>
      Effect.gen(function*() {
        const { entries, store } = memory()
        const tenant = service(() => response)
        const error = yield* Effect.flip(run(ids(100), { journal: store, concurrency: 3 }, tenant))
        assert.deepInclude(error, {
          _tag: "RunError",
          reason: "refused",
          message: "the service accepts no call of this run: redeliverEvent: No."
        })
        assert.isAtMost(tenant.sent.length, 3)
        assert.deepStrictEqual([...entries.keys()], ["journal"])
        assert.lengthOf(yield* run(ids(100), { journal: store, repeat: [] }, service()), 100)
      }))
  }

  it.effect("gives the results of events in progress first", () =>
    Effect.gen(function*() {
      const seen = yield* Ref.make(0)
      const tenant = service((id): Handled =>
        id === idOf(3) ? Effect.fail(new Errors.Unauthorized(failure)) : Effect.sleep("1 second")
      )
      const results = Redelivery.run(ids(100), { stream, concurrency: 5 })
      const fiber = yield* Effect.fork(Effect.provide(
        Effect.exit(Stream.runForEach(results, () => Ref.update(seen, (count) => count + 1))),
        tenant.layer
      ))
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
      assert.deepStrictEqual([yield* Ref.get(seen), tenant.sent.length], [4, 5])
    }))

  it.effect("is also noticed while it asks for the stream", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const { handler } = reading(Effect.fail(new Errors.TokenError({ ...failure, status: 403 })))
      const error = yield* Effect.flip(run(ids(5), { journal: store }, service(() => gone, handler)))
      assert.deepInclude(error, { reason: "refused", error: new Errors.TokenError({ ...failure, status: 403 }) })
      assert.deepStrictEqual([...entries.keys()], ["journal"])
    }))
})

/** A service that is unavailable until `isUp` is set; gives the times at which it received events, in seconds. */
const away = (response: Handled) => {
  const state = { isUp: false }
  const at: Array<number> = []
  const tenant = service(() =>
    Effect.flatMap(TestClock.currentTimeMillis, (now) => {
      at.push(now / 1000)
      return state.isUp ? Effect.void : response
    })
  )
  return { at, state, tenant }
}

describe("the log of a run", () => {
  it.effect("has no text of the service, whatever its calls fail with", () =>
    Effect.gen(function*() {
      const conflict = Effect.fail(new Errors.Conflict(failure))
      const { lines, value } = yield* allLines(run(ids(9), {}, service(() => conflict)))
      assert.isTrue(value.every(({ outcome }) => outcome === "notFailed"))
      assert.deepStrictEqual(lines, [])
    }))
})

describe("a service that is unavailable", () => {
  const failures: ReadonlyArray<readonly [string, Handled]> = [
    ["nothing can be sent", Effect.fail(transport("not-sent"))],
    [
      "an open circuit",
      Effect.fail(new Errors.TransportError({ ...failure, outcome: "not-sent", code: "CIRCUIT_OPEN" }))
    ],
    ["no token because of 503", Effect.fail(new Errors.TokenError({ ...failure, status: 503 }))],
    [
      "no response to the request for a token",
      Effect.fail(new Errors.TokenError({ ...failure, code: "ECONNREFUSED" }))
    ],
    ["429 after all retries", Effect.fail(new Errors.RateLimited(failure))]
  ]
  for (const [title, response] of failures) {
    it.effect(`pauses the run and loses nothing: ${title}`, () =>
      Effect.gen(function*() {
        const { entries, store } = memory()
        const progress = yield* Redelivery.makeProgress
        const { at, state, tenant } = away(response)
        const fiber = yield* Effect.fork(run(ids(100), { journal: store, concurrency: 4, progress }, tenant))
        yield* TestClock.adjust("20 seconds")
        const tag = (yield* SubscriptionRef.get(progress)).paused?._tag
        assert.strictEqual(tag, (yield* Effect.flip(response))._tag)
        assert.isAtMost(at.filter((time) => time === 0).length, 5 + 4)
        assert.deepStrictEqual(at.filter((time) => time > 0), [1, 3, 7, 15])
        assert.deepStrictEqual(outcomesIn(entries), {})
        state.isUp = true
        yield* TestClock.adjust("20 seconds")
        const results = yield* Fiber.join(fiber)
        assert.deepStrictEqual(results.map(({ id }) => id).sort(), ids(100))
        assert.isTrue(results.every(({ outcome, recalled }) => outcome === "accepted" && !recalled))
        assert.isUndefined((yield* SubscriptionRef.get(progress)).paused)
      }))
  }

  it.effect("names the failure for which it pauses in the log, without the text of the service", () =>
    Effect.gen(function*() {
      const { state, tenant } = away(Effect.fail(new Errors.TokenError({ ...failure, status: 503 })))
      const fiber = yield* Effect.fork(warnings(run(ids(20), {}, tenant)))
      yield* TestClock.adjust("10 seconds")
      state.isUp = true
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual((yield* Fiber.join(fiber)).messages, [
        "the service is unavailable; the run pauses: TokenError (status 503)"
      ])
    }))

  it.effect("takes no more ids while it is paused, and ends after `giveUpAfter`; the same ids and journal resume it", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const progress = yield* Redelivery.makeProgress
      let taken = 0
      const list = Stream.fromIterable(ids(1000)).pipe(
        Stream.rechunk(1),
        Stream.tap(() => Effect.sync(() => void taken++))
      )
      const { at, tenant } = away(Effect.fail(transport("not-sent")))
      const options = { stream, journal: store, concurrency: 3, progress }
      const fiber = yield* Effect.fork(Effect.flip(collect(Redelivery.run(list, options), tenant)))
      yield* TestClock.adjust("299 seconds")
      assert.isDefined((yield* SubscriptionRef.get(progress)).paused)
      yield* TestClock.adjust("1 seconds")
      const error = yield* Fiber.join(fiber)
      assert.deepInclude(error, {
        _tag: "RunError",
        reason: "unavailable",
        message: "the service is unavailable, for 5m since the run paused: redeliverEvent: No.",
        error: transport("not-sent")
      })
      assert.isAtMost(taken, 3 + 1)
      assert.deepStrictEqual(at.filter((time) => time > 0), [
        1,
        3,
        7,
        15,
        31,
        61,
        91,
        121,
        151,
        181,
        211,
        241,
        271,
        300
      ])
      assert.deepStrictEqual(outcomesIn(entries), {})
      const { done, paused } = yield* SubscriptionRef.get(progress)
      assert.deepStrictEqual({ done, paused }, { done: 0, paused: undefined })
      const again = service()
      assert.lengthOf(yield* run(ids(1000), { journal: store, repeat: [] }, again), 1000)
      assert.lengthOf(again.sent, 1000)
    }))

  it.effect("makes few events unknown that it may have accepted, and does not retry them", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const { state, tenant } = away(Effect.fail(unexpected(503)))
      const fiber = yield* Effect.fork(run(ids(100), { journal: store, concurrency: 3 }, tenant))
      yield* TestClock.adjust("20 seconds")
      const unknown = tenant.sent.length
      assert.isAtMost(unknown, 5 + 2 + 4)
      assert.deepStrictEqual(outcomesIn(entries), Object.fromEntries(tenant.sent.map((id) => [id, "unknown"])))
      state.isUp = true
      yield* TestClock.adjust("20 seconds")
      const results = yield* Fiber.join(fiber)
      assert.lengthOf(results, 100)
      assert.lengthOf(results.filter(({ outcome }) => outcome === "unknown"), unknown)
      assert.lengthOf(new Set(tenant.sent), 100)
    }))

  it.effect("makes at most 30 events unknown in an hour, whatever the number of events", () =>
    Effect.gen(function*() {
      const progress = yield* Redelivery.makeProgress
      const { tenant } = away(Effect.zipRight(Effect.sleep("10 millis"), Effect.fail(unexpected(503))))
      const list = Array.from({ length: 1081 }, (_, nth) => idOf(nth))
      const fiber = yield* Effect.fork(Effect.flip(run(list, { progress }, tenant)))
      yield* TestClock.adjust("1 hours")
      assert.deepInclude(yield* Fiber.join(fiber), { reason: "unavailable" })
      const { done, outcomes: { unknown } } = yield* SubscriptionRef.get(progress)
      assert.strictEqual(done, unknown)
      assert.isAtMost(unknown, 30)
      assert.isAtLeast(unknown, 14)
    }))

  it.effect("waits as long as the service asks, but not beyond `giveUpAfter`", () =>
    Effect.gen(function*() {
      const asking = new Errors.RateLimited({ ...failure, retryAfter: Duration.seconds(40) })
      const { at, tenant } = away(Effect.fail(asking))
      const fiber = yield* Effect.fork(Effect.flip(
        run(ids(9), { concurrency: 1, pauseAfter: 2, giveUpAfter: "1 minutes" }, tenant)
      ))
      yield* TestClock.adjust("1 minutes")
      assert.deepInclude(yield* Fiber.join(fiber), { reason: "unavailable" })
      assert.deepStrictEqual(at, [0, 0, 40, 60])
    }))

  it.effect("ends the run without a pause if `giveUpAfter` is zero", () =>
    Effect.gen(function*() {
      const { at, tenant } = away(Effect.fail(transport("not-sent")))
      const options = { concurrency: 1, pauseAfter: 3, giveUpAfter: 0 }
      assert.deepInclude(yield* Effect.flip(run(ids(9), options, tenant)), { reason: "unavailable" })
      assert.deepStrictEqual(at, [0, 0, 0])
    }))

  it.effect("is not assumed after single failures: only those in a row count", () =>
    Effect.gen(function*() {
      const progress = yield* Redelivery.makeProgress
      const tenant = service((_, nth): Handled => nth % 3 === 0 ? Effect.void : Effect.fail(unexpected(500)))
      yield* run(ids(50), { concurrency: 1, pauseAfter: 3, progress }, tenant)
      assert.deepInclude((yield* SubscriptionRef.get(progress)).outcomes, { accepted: 17, unknown: 33 })
    }))

  it.effect("does not let an event be tried for ever that alone cannot be sent", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const tenant = service((id): Handled => id === idOf(0) ? Effect.fail(transport("not-sent")) : Effect.void)
      const results = yield* run(ids(100), { journal: store, concurrency: 2 }, tenant)
      assert.deepStrictEqual(results.filter(({ outcome }) => outcome === "failed").map(({ id }) => id), [idOf(0)])
      assert.lengthOf(tenant.sent.filter((id) => id === idOf(0)), 5)
      assert.deepInclude(outcomesIn(entries), { [idOf(0)]: "failed", [idOf(1)]: "accepted" })
    }))

  it.effect("keeps the entry that an event had: what may have been accepted is not retried unless asked", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      yield* run(
        ids(2),
        { journal: store, concurrency: 1 },
        service((_, nth) => Effect.fail(nth === 0 ? unexpected(500) : unexpected(422)))
      )
      assert.deepStrictEqual(outcomesIn(entries), { [idOf(0)]: "unknown", [idOf(1)]: "failed" })
      const { tenant } = away(Effect.fail(transport("not-sent")))
      const repeat = ["failed", "unknown"] as const
      const options = { journal: store, giveUpAfter: 0, repeat, concurrency: 1 }
      yield* Effect.flip(run(ids(2), options, tenant))
      assert.deepStrictEqual(outcomesIn(entries), { [idOf(0)]: "unknown", [idOf(1)]: "failed" })
      // Certainly not accepted now says nothing about the run before.
      yield* run(ids(2), { journal: store, repeat }, service(() => Effect.fail(unexpected(422))))
      assert.deepStrictEqual(outcomesIn(entries), { [idOf(0)]: "unknown", [idOf(1)]: "failed" })
    }))

  it.effect("goes on at once when a call that began before the pause gets a response", () =>
    Effect.gen(function*() {
      const response = yield* Deferred.make<void>()
      const { state, tenant } = away(Effect.fail(transport("not-sent")))
      const late = Testing.handle(redeliverEvent, ({ event_id }) =>
        event_id === idOf(0) ?
          Deferred.await(response) :
          Effect.flatMap(
            IdentityClient.IdentityClient,
            (client) => client.execute(redeliverEvent.endpoint, { id: stream, event_id })
          ).pipe(Effect.provide(tenant.layer)))
      const fiber = yield* Effect.fork(run(ids(50), { concurrency: 6 }, { layer: Testing.layer(late) }))
      yield* TestClock.adjust("500 millis")
      const before = tenant.sent.length
      yield* TestClock.adjust("400 millis")
      assert.lengthOf(tenant.sent, before)
      state.isUp = true
      yield* Deferred.succeed(response, undefined)
      assert.lengthOf(yield* Fiber.join(fiber), 50)
    }))

  it.effect("does not count a failure of a call that began before the pause as one of the pause", () =>
    Effect.gen(function*() {
      const tenant = service((_, nth): Handled =>
        Effect.zipRight(nth === 0 ? Effect.sleep("1500 millis") : Effect.void, Effect.fail(unexpected(500)))
      )
      const fiber = yield* Effect.fork(run(ids(50), { concurrency: 6 }, tenant))
      yield* TestClock.adjust("900 millis")
      const before = tenant.sent.length
      yield* TestClock.adjust("2 seconds")
      assert.lengthOf(tenant.sent, before + 1)
      yield* TestClock.adjust("100 millis")
      assert.lengthOf(tenant.sent, before + 2)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("lets a run be interrupted in a pause, which leaves no entry", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const { at, tenant } = away(Effect.fail(transport("not-sent")))
      const fiber = yield* Effect.fork(run(ids(50), { journal: store, concurrency: 3 }, tenant))
      yield* TestClock.adjust("2 seconds")
      const before = at.length
      yield* Fiber.interrupt(fiber)
      assert.lengthOf(at, before)
      assert.deepStrictEqual([...entries.keys()], ["journal"])
    }))

  it.effect("lets `stopWhen` end the run in a pause: events that wait have no result", () =>
    Effect.gen(function*() {
      const { entries, store } = memory()
      const progress = yield* Redelivery.makeProgress
      const { tenant } = away(Effect.fail(unexpected(500)))
      const fiber = yield* Effect.fork(run([...ids(50), ...ids(50)], {
        journal: store,
        concurrency: 3,
        progress,
        pauseAfter: 2,
        stopWhen: ({ outcomes }) => outcomes.unknown >= 6
      }, tenant))
      yield* TestClock.adjust("20 seconds")
      assert.lengthOf(yield* Fiber.join(fiber), 6)
      assert.isTrue((yield* SubscriptionRef.get(progress)).stopped)
      assert.lengthOf(Object.keys(outcomesIn(entries)), 6)
    }))
})

describe("failures that were certainly not accepted", () => {
  it.effect("end the run after 50 by default, and the next run retries them", () =>
    Effect.gen(function*() {
      const { store } = memory()
      const progress = yield* Redelivery.makeProgress
      const options = { journal: store, progress, concurrency: 1 }
      const results = yield* run(ids(100), options, service(() => Effect.fail(unexpected(422))))
      assert.lengthOf(results, 50)
      assert.isTrue((yield* SubscriptionRef.get(progress)).stopped)
      assert.lengthOf(yield* run(ids(100), { journal: store }, service()), 100)
    }))

  it.effect("end it after another number, or never; those of earlier runs do not count", () =>
    Effect.gen(function*() {
      const { store } = memory()
      const failing = service(() => Effect.fail(unexpected(422)))
      assert.lengthOf(yield* run(ids(100), { concurrency: 1, stopAfter: 7 }, failing), 7)
      assert.lengthOf(yield* run(ids(100), { journal: store, stopAfter: Infinity }, failing), 100)
      assert.lengthOf(yield* run(ids(150), { journal: store, repeat: [], concurrency: 1 }, failing), 150)
    }))
})
