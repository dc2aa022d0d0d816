/** Redelivery by filter: one call, and one result for each delivery that was failed before it. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Duration, Effect, Fiber, Logger, Stream, SubscriptionRef, TestClock } from "effect"
import {
  type Delivery,
  Errors,
  listDeliveries,
  type Operation,
  redeliverEvents,
  Redelivery,
  Timestamp
} from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { skewed } from "../support/fleet.js"
import { failure, idOf, ids, stream, transport, unexpected } from "../support/redelivery.js"

type ListInput = Operation.Input<typeof listDeliveries>
type CallInput = Operation.Input<typeof redeliverEvents>

const timestampAt = (seconds: number) => Timestamp.make(new Date(seconds * 1000).toISOString())

/** A service of failed deliveries, which a test changes. By its date a failure is that of the last attempt. */
const service = (
  count: number,
  response: Effect.Effect<void, Operation.Failure<typeof redeliverEvents>> = Effect.void
) => {
  const failed = new Map<string, Array<{ at: number; error?: string }>>(ids(count).map((id) => [id, [{ at: -1000 }]]))
  const lists: Array<ListInput & { readonly at: number }> = []
  const calls: Array<CallInput> = []
  const state: { listFailure?: Operation.Failure<typeof listDeliveries>; listTakes?: Duration.DurationInput } = {}
  const deliveryOf = (
    id: string,
    attempts: ReadonlyArray<{ readonly at: number; readonly error?: string }>
  ): Delivery => ({
    id,
    event_stream_id: stream,
    status: "failed",
    event_type: "user.created",
    attempts: attempts.map(({ at, error }) => ({
      status: "failed",
      timestamp: timestampAt(at),
      ...(error !== undefined && { error_message: error })
    }))
  })
  const layer = Testing.layer(
    Testing.handle(listDeliveries, (input) =>
      Effect.flatMap(TestClock.currentTimeMillis, (now) => {
        lists.push({ ...input, at: now / 1000 })
        if (state.listFailure !== undefined) return Effect.fail(state.listFailure)
        const { date_from = "", date_to = "9", from = "", take = 50 } = input
        const matching = [...failed].sort().filter(([id, attempts]) => {
          const time = timestampAt(attempts.at(-1)?.at ?? 0)
          return id > from && time >= date_from && time <= date_to
        })
        const page = matching.slice(0, take).map(([id, attempts]) => deliveryOf(id, attempts))
        return Effect.delay(Effect.succeed(page), state.listTakes ?? 0)
      })),
    Testing.handle(redeliverEvents, (input) =>
      Effect.as(
        Effect.zipRight(Effect.sync(() => void calls.push(input)), response),
        { statuses: [], event_types: [] }
      ))
  )
  return { calls, failed, layer, lists, state }
}

const runFiltered = (
  options: Partial<Redelivery.FilteredOptions>,
  { layer }: Pick<ReturnType<typeof service>, "layer">
) =>
  Effect.fork(Effect.map(
    Effect.provide(
      Stream.runCollect(Redelivery.runFiltered({ stream, deliveredAfter: "10 seconds", ...options })),
      layer
    ),
    Chunk.toReadonlyArray
  ))

const counts = (results: ReadonlyArray<Redelivery.FilteredResult>) => {
  const found: Record<string, number> = {}
  for (const { outcome } of results) found[outcome] = (found[outcome] ?? 0) + 1
  return found
}

describe("a redelivery by filter", () => {
  it.effect("makes one call with the filter, and gives one result for each delivery", () =>
    Effect.gen(function*() {
      const tenant = service(250)
      const progress = yield* Redelivery.makeFilteredProgress
      const filter = { eventTypes: ["user.created"], from: new Date(-2_000_500), to: new Date(-999_500) }
      const fiber = yield* runFiltered({ filter, progress }, tenant)
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(tenant.calls, [{
        id: stream,
        statuses: ["failed"],
        event_types: ["user.created"],
        date_from: "1969-12-31T23:26:39Z",
        date_to: "1969-12-31T23:43:21Z"
      }])
      assert.deepStrictEqual(yield* SubscriptionRef.get(progress), {
        done: 0,
        total: 250,
        outcomes: { delivered: 0, failedAgain: 0, pending: 0 },
        request: "accepted",
        elapsed: Duration.zero,
        rate: 0,
        remaining: undefined
      })
      for (const id of ids(200)) tenant.failed.delete(id)
      for (const id of ids(240).slice(200)) {
        tenant.failed.set(id, [{ at: -1000 }, { at: 1, error: "connection refused" }])
      }
      yield* TestClock.adjust("13 seconds")
      const { done, elapsed, outcomes, rate, remaining } = yield* SubscriptionRef.get(progress)
      assert.deepStrictEqual(outcomes, { delivered: 200, failedAgain: 40, pending: 0 })
      assert.deepStrictEqual([done, Duration.toSeconds(elapsed)], [240, 14])
      assert.approximately(rate, 240 / 14, 0.001)
      assert.approximately(Duration.toSeconds(remaining ?? Duration.zero), 10 / (240 / 14), 0.001)
      yield* TestClock.adjust("10 minutes")
      const results = yield* Fiber.join(fiber)
      assert.deepStrictEqual(counts(results), { delivered: 200, failedAgain: 40, pending: 10 })
      assert.deepStrictEqual(results.map(({ id }) => id).sort(), ids(250))
      assert.deepInclude(results.find(({ id }) => id === idOf(220)), { attempts: 2, error: "connection refused" })
      assert.deepStrictEqual(results.find(({ id }) => id === idOf(245)), {
        id: idOf(245),
        outcome: "pending",
        attempts: 1
      })
      assert.lengthOf(tenant.calls, 1)
    }))

  it.effect("lists after growing waits, a page for 100 failed deliveries, and without `to`", () =>
    Effect.gen(function*() {
      const tenant = service(150)
      const fiber = yield* runFiltered({ filter: { from: "1960-01-01", to: "1970-01-01" } }, tenant)
      yield* TestClock.adjust("1 hours")
      assert.deepStrictEqual(counts(yield* Fiber.join(fiber)), { pending: 150 })
      const times = [...new Set(tenant.lists.map(({ at }) => at))]
      assert.deepStrictEqual(times, [0, 2, 6, 14, 30, 62, 122, 182, 242, 302, 362, 422, 482, 542, 600])
      assert.lengthOf(tenant.lists, 2 * times.length)
      for (const { at, date_from, date_to } of tenant.lists) {
        assert.strictEqual(date_from, "1960-01-01T00:00:00Z")
        assert.strictEqual(date_to, at === 0 ? "1970-01-01T00:00:00Z" : undefined)
      }
    }))

  it.effect("does not take a delivery that is on its way as delivered", () =>
    Effect.gen(function*() {
      const tenant = service(1)
      const fiber = yield* runFiltered({}, tenant)
      yield* TestClock.adjust("1 seconds")
      tenant.failed.clear()
      yield* TestClock.adjust("8 seconds") // it was missing at 2 s and at 6 s
      tenant.failed.set(idOf(0), [{ at: -1000 }, { at: 9 }])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), [{ id: idOf(0), outcome: "failedAgain", attempts: 2 }])
    }))

  it.effect("waits a minute by default until it counts one as delivered", () =>
    Effect.gen(function*() {
      const tenant = service(1)
      const fiber = yield* runFiltered({ deliveredAfter: undefined }, tenant)
      yield* TestClock.adjust("1 seconds")
      tenant.failed.clear()
      yield* TestClock.adjust("60 seconds")
      assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust("1 seconds")
      assert.deepInclude((yield* Fiber.join(fiber))[0], { outcome: "delivered" })
    }))

  it.effect.each([90_000, 3_600_000, -600_000])(
    "measures its times though the time of day leaps by %d ms",
    (leap) =>
      Effect.gen(function*() {
        const tenant = service(1)
        const progress = yield* Redelivery.makeFilteredProgress
        const { clock, skew } = skewed(yield* Effect.clock)
        const fiber = yield* Effect.withClock(runFiltered({ progress, followFor: "30 minutes" }, tenant), clock)
        yield* TestClock.adjust("1 seconds")
        tenant.failed.clear()
        yield* TestClock.adjust("2 seconds")
        skew.millis = leap
        yield* TestClock.adjust("10 seconds")
        assert.isNull(fiber.unsafePoll())
        yield* TestClock.adjust("1 seconds")
        assert.isNotNull(fiber.unsafePoll())
        assert.deepStrictEqual(yield* Fiber.join(fiber), [{ id: idOf(0), outcome: "delivered", attempts: 1 }])
        const { elapsed, rate } = yield* SubscriptionRef.get(progress)
        assert.deepStrictEqual([Duration.toSeconds(elapsed), rate], [14, 1 / 14])
      })
  )

  it.effect("counts the time for which one is missing from the end of a list to the begin of a later one", () =>
    Effect.gen(function*() {
      const tenant = service(1)
      const fiber = yield* runFiltered({}, tenant)
      yield* TestClock.adjust("1 seconds")
      tenant.failed.clear()
      tenant.state.listTakes = "20 seconds"
      yield* TestClock.adjust("2 seconds")
      delete tenant.state.listTakes
      yield* TestClock.adjust("30 seconds") // the list at 2 s ended at 22 s, and that at 26 s at once
      assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust("1 seconds")
      assert.deepInclude((yield* Fiber.join(fiber))[0], { outcome: "delivered" })
      assert.deepStrictEqual(tenant.lists.map(({ at }) => at), [0, 2, 26, 34])
    }))

  it.effect("begins anew to count the time for which one is missing that is listed again", () =>
    Effect.gen(function*() {
      const tenant = service(1)
      const attempts = tenant.failed.get(idOf(0)) ?? []
      const fiber = yield* runFiltered({ deliveredAfter: "5 seconds" }, tenant)
      yield* TestClock.adjust("1 seconds")
      tenant.failed.clear()
      yield* TestClock.adjust("2 seconds")
      tenant.failed.set(idOf(0), attempts)
      yield* TestClock.adjust("4 seconds")
      tenant.failed.clear()
      yield* TestClock.adjust("9 seconds")
      assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust("15 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), [{ id: idOf(0), outcome: "delivered", attempts: 1 }])
      assert.strictEqual(tenant.lists.at(-1)?.at, 30)
    }))

  it.effect("sees a new attempt by its time if the service keeps only some attempts, in any order", () =>
    Effect.gen(function*() {
      const tenant = service(1)
      tenant.failed.set(idOf(0), [{ at: -1000 }, { at: -2000 }])
      const fiber = yield* runFiltered({}, tenant)
      yield* TestClock.adjust("3 seconds")
      assert.isNull(fiber.unsafePoll())
      tenant.failed.set(idOf(0), [{ at: 4, error: "new" }, { at: -1000, error: "old" }])
      yield* TestClock.adjust("3 seconds")
      assert.deepInclude((yield* Fiber.join(fiber))[0], { outcome: "failedAgain", attempts: 2, error: "new" })
    }))

  it.effect("ignores deliveries that fail meanwhile for the first time, and those without attempts", () =>
    Effect.gen(function*() {
      const tenant = service(1)
      tenant.failed.set(idOf(0), [])
      const fiber = yield* runFiltered({ followFor: "20 seconds" }, tenant)
      yield* TestClock.adjust("1 seconds")
      tenant.failed.set(idOf(7), [{ at: 1 }])
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), [{ id: idOf(0), outcome: "pending", attempts: 0 }])
    }))

  it.effect("makes no call if nothing matches", () =>
    Effect.gen(function*() {
      const tenant = service(3)
      const fiber = yield* runFiltered({ filter: { from: "2000-01-01" } }, tenant)
      assert.deepStrictEqual(yield* Fiber.join(fiber), [])
      assert.deepStrictEqual([tenant.lists.length, tenant.calls.length], [1, 0])
    }))

  for (
    const [title, error, name] of [
      ["no response", transport("unknown"), "TransportError"],
      ["503", unexpected(503), "UnexpectedResponse (status 503)"]
    ] as const
  ) {
    it.effect(`is reported as unknown and never repeated, but followed, after ${title}`, () =>
      Effect.gen(function*() {
        const tenant = service(2, Effect.fail(error))
        const progress = yield* Redelivery.makeFilteredProgress
        const messages: Array<string> = []
        const logger = Logger.make(({ message }) => void messages.push(String(message)))
        const fiber = yield* runFiltered({ progress }, tenant).pipe(
          Effect.provide(Logger.replace(Logger.defaultLogger, logger))
        )
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual((yield* SubscriptionRef.get(progress)).request, "unknown")
        assert.deepStrictEqual(messages, [`the redelivery may have been accepted, and is followed: ${name}`])
        tenant.failed.clear()
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(counts(yield* Fiber.join(fiber)), { delivered: 2 })
        assert.lengthOf(tenant.calls, 1)
      }))
  }

  for (
    const error of [
      new Errors.NotFound(failure),
      new Errors.Conflict(failure),
      new Errors.RateLimited(failure),
      new Errors.InsufficientScope({ ...failure, required: ["update:event_deliveries"] }),
      transport("not-sent"),
      unexpected(400)
    ]
  ) {
    it.effect(`fails with ${error._tag} if the call was certainly not accepted`, () =>
      Effect.gen(function*() {
        const tenant = service(2, Effect.fail(error))
        const fiber = yield* runFiltered({}, tenant)
        assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), error)
        assert.deepStrictEqual([tenant.lists.length, tenant.calls.length], [1, 1])
      }))
  }

  it.effect("skips lists that fail because the service is unavailable, and fails with other failures of a list", () =>
    Effect.gen(function*() {
      const tenant = service(150)
      const fiber = yield* runFiltered({}, tenant)
      yield* TestClock.adjust("1 seconds")
      tenant.failed.clear()
      tenant.state.listFailure = unexpected(503)
      yield* TestClock.adjust("60 seconds")
      assert.isNull(fiber.unsafePoll())
      delete tenant.state.listFailure
      yield* TestClock.adjust("3 minutes")
      assert.deepStrictEqual(counts(yield* Fiber.join(fiber)), { delivered: 150 })

      for (
        const error of [new Errors.Unauthorized(failure), new Errors.BadRequest(failure), new Errors.NotFound(failure)]
      ) {
        const other = service(1)
        const failing = yield* runFiltered({}, other)
        yield* TestClock.adjust("1 seconds")
        other.state.listFailure = error
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual(yield* Effect.flip(Fiber.join(failing)), error)
      }
    }))

  it.effect("names every invalid option, and sends nothing", () =>
    Effect.gen(function*() {
      const tenant = service(1)
      const fiber = yield* runFiltered({ stream: "short", filter: { from: "now", eventTypes: [] } }, tenant)
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(error, { _tag: "InvalidInput", operation: "Redelivery.runFiltered" })
      assert.deepStrictEqual((error as Errors.InvalidInput).issues.map(({ path }) => path), [
        "stream",
        "filter.eventTypes",
        "filter.from"
      ])
      assert.deepStrictEqual([tenant.lists.length, tenant.calls.length], [0, 0])
    }))
})
