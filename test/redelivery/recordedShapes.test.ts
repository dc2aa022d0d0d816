/** Deliveries in the shape that tenants send: pages with `next`, rounds of failures, and events whose data is an object. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Duration, Effect, Either, Fiber, Stream, TestClock } from "effect"
import { Deliveries, getDelivery, listDeliveries, Pagination, Redelivery } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { scripted } from "../support/client.js"
import { idOf, ids, stream } from "../support/redelivery.js"

const attempt = (second: number) => ({
  status: "failed",
  error_message: "Post \"https://hooks.example/1\" ...",
  timestamp: `2026-02-03T10:00:${String(second).padStart(2, "0")}.250Z`,
  duration: 19.970573
})

const round = [10, 11, 13, 17].map(attempt)
const retrying = { status: "retrying", timestamp: "2026-02-03T10:00:30.100Z" }

const delivery = (id: string, attempts: ReadonlyArray<object> = round) => ({
  id,
  event_stream_id: stream,
  event_type: "user.created",
  status: "failed",
  attempts,
  event: {
    id,
    source: "urn:auth0:tenant.example.com",
    specversion: "1.0",
    type: "user.created",
    time: "2026-02-03T09:59:59.000Z",
    data: { object: { user_id: "auth0|1", identities: [{ isSocial: false }], logins_count: 42 } },
    a0stream: stream
  }
})

const json = (body: unknown, status = 200) => Testing.reply({ status, body })
const sent = Effect.map(Testing.requests, (requests) => requests.map(({ url }) => new URL(url).search))

describe("deliveries as tenants send them", () => {
  it.effect("a page is decoded, and nothing in it is lost", () =>
    Effect.gen(function*() {
      const body = { deliveries: [delivery(idOf(1), [...round, retrying])], next: "c3VyZQ" }
      const page = yield* listDeliveries({ id: stream })
      assert.deepStrictEqual<unknown>(page, body)
    }).pipe(Effect.provide(scripted(json({ deliveries: [delivery(idOf(1), [...round, retrying])], next: "c3VyZQ" })))))

  it.effect("the bare list of the document is decoded, too", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual<unknown>(yield* listDeliveries({ id: stream }), [delivery(idOf(1))])
    }).pipe(Effect.provide(scripted(json([delivery(idOf(1))])))))

  it.effect.each([
    ["an object", { object: { user_id: "auth0|1" } }],
    ["a text", "{\"object\":{}}"],
    ["a list", [1]],
    ["nothing", undefined]
  ])("the data of an event is %s", ([, data]) => {
    const body = { ...delivery(idOf(1)), event: { id: idOf(1), ...(data !== undefined && { data }) } }
    return Effect.gen(function*() {
      assert.deepStrictEqual<unknown>(yield* getDelivery({ id: stream, event_id: idOf(1) }), body)
    }).pipe(Effect.provide(scripted(json(body))))
  })

  it.effect("a stream follows `next` past a short page, and ends at an empty one", () =>
    Effect.gen(function*() {
      const found = yield* Stream.runCollect(Deliveries.failed(stream))
      assert.deepStrictEqual(Chunk.toReadonlyArray(Chunk.map(found, ({ id }) => id)), ids(5))
      const query = "?statuses=failed&take=100"
      assert.deepStrictEqual(
        (yield* sent).map((search) => [...new URLSearchParams(search)].sort()),
        [query, `${query}&from=after-4`, `${query}&from=after-5`].map((search) =>
          [...new URLSearchParams(search)].sort()
        )
      )
    }).pipe(Effect.provide(scripted(
      json({ deliveries: ids(4).map((id) => delivery(id)), next: "after-4" }),
      json({ deliveries: ids(5).slice(4).map((id) => delivery(id)), next: "after-5" }),
      json({ deliveries: [], next: "after-5" })
    ))))

  it.effect("a stream ends at a full page without `next`", () =>
    Effect.gen(function*() {
      const found = yield* Stream.runCollect(Pagination.stream(listDeliveries, { id: stream, take: 2 }))
      assert.deepStrictEqual(Chunk.toReadonlyArray(Chunk.map(found, ({ id }) => id)), ids(2))
    }).pipe(Effect.provide(scripted(json({ deliveries: ids(2).map((id) => delivery(id)) })))))

  it.effect("an odd delivery costs that one only", () =>
    Effect.gen(function*() {
      const found = yield* Stream.runCollect(Pagination.streamEither(listDeliveries, { id: stream }))
      const results = Chunk.toReadonlyArray(found).map(
        Either.match({ onLeft: ({ path }) => path, onRight: ({ id }) => id })
      )
      assert.deepStrictEqual(results, [idOf(0), "deliveries[1].attempts", idOf(2)])
    }).pipe(Effect.provide(scripted(json({
      deliveries: [delivery(idOf(0)), { ...delivery(idOf(1)), attempts: "none" }, delivery(idOf(2))]
    })))))

  it.effect("a delivery that is being retried has not failed again; four more failures have", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(Stream.runCollect(Redelivery.runFiltered({ stream })))
      yield* TestClock.adjust(Duration.seconds(5))
      assert.isNull(yield* Fiber.poll(fiber).pipe(Effect.map((exit) => exit._tag === "None" ? null : exit)))
      yield* TestClock.adjust(Duration.minutes(1))
      const [result] = Chunk.toReadonlyArray(yield* Fiber.join(fiber))
      assert.deepStrictEqual<unknown>(result, {
        id: idOf(1),
        outcome: "failedAgain",
        attempts: 8,
        error: "Post \"https://hooks.example/1\" ..."
      })
    }).pipe(Effect.provide(scripted(
      json({ deliveries: [delivery(idOf(1))] }),
      json({}, 202),
      json({ deliveries: [delivery(idOf(1), [...round, retrying])] }),
      json({ deliveries: [delivery(idOf(1), [...round, retrying, ...[41, 42, 44, 48].map(attempt)])] })
    ))))
})
