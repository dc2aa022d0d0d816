/** Tests of the tenant's deliveries: those that failed, and their redelivery. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as operations from "../../../src/operations/index.js"
import * as Tenant from "../../../src/Tenant.js"
import { call, itInProcess, largeBuckets, redeliverEvent } from "../support/calls.js"

const getDelivery = operations.getDelivery.endpoint
const listDeliveries = operations.listDeliveries.endpoint
const redeliverEvents = operations.redeliverEvents.endpoint

const id = "est_0000000000000000000001"
const disabledId = "est_0000000000000000000002"
const noId = "est_0000000000000000000003"

const eventId = (number: number) => `evt_${String(number).padStart(22, "0")}`
const minute = (number: number) => `2026-01-01T00:0${number}:00.000Z`

/** Six events: 1, 2, 3 and 5 failed, in these minutes; 5 fails once more. */
const events: ReadonlyArray<Tenant.StreamEvent> = [
  { id: eventId(1), state: "failed", attempts: [{ timestamp: minute(1), error_message: "503" }] },
  {
    id: eventId(2),
    state: "failed",
    event_type: "user.updated",
    attempts: [{ timestamp: minute(0) }, { timestamp: minute(2) }]
  },
  { id: eventId(3), state: "failed", attempts: [{ timestamp: minute(3) }] },
  { id: eventId(4), state: "delivered" },
  {
    id: eventId(5),
    state: "failed",
    event_type: "user.deleted",
    attempts: [{ timestamp: minute(5) }],
    failsAgain: 1
  }
]

const options: Tenant.Options = {
  seed: { streams: [{ id, events }, { id: disabledId, status: "disabled", events: events.slice(0, 1) }] },
  buckets: largeBuckets
}

const event = {
  id: eventId(1),
  source: "urn:auth0:tenant.example.com",
  specversion: "1.0",
  type: "user.created",
  data: { object: { user_id: `auth0|${eventId(1).slice(4)}` } },
  a0tenant: "tenant.example.com",
  a0stream: id
}

const list = (query = "", stream = id) => call(listDeliveries, { params: { id: stream }, query })

/** The numbers of the events that a query lists. */
const numbers = (query = "") =>
  Effect.map(
    list(query),
    ({ json }): ReadonlyArray<number> => json.deliveries.map(({ id }: any) => Number(id.slice(4)))
  )

const redeliver = (body: object, stream = id) => call(redeliverEvents, { params: { id: stream }, body })

const get = (number: number, stream = id) => call(getDelivery, { params: { id: stream, event_id: eventId(number) } })

describe("failed deliveries", () => {
  itInProcess("are listed with their attempts and the event", () =>
    Effect.gen(function*() {
      const { deliveries: [first, second] } = (yield* list()).json
      assert.deepStrictEqual(first, {
        id: eventId(1),
        event_stream_id: id,
        status: "failed",
        event_type: "user.created",
        attempts: [{ status: "failed", timestamp: minute(1), error_message: "503" }],
        event: { ...event, time: minute(1) }
      })
      assert.strictEqual(second.event.time, minute(0))
      assert.deepStrictEqual(second.attempts.map(({ timestamp }: any) => timestamp), [minute(0), minute(2)])
    }), options)

  itInProcess(
    "are paged by checkpoints, which come with short pages, too; an empty page is the end",
    () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* numbers(), [1, 2, 3, 5])
        assert.deepStrictEqual(yield* numbers("?take=3"), [1, 2, 3])
        const { next } = (yield* list("?take=3")).json
        assert.notInclude(events.map(({ id }) => id), next)
        assert.deepStrictEqual(yield* numbers(`?take=3&from=${next}`), [5])
        const last = (yield* list(`?take=3&from=${next}`)).json
        assert.deepStrictEqual((yield* list(`?from=${last.next}`)).json, { deliveries: [] })
        const unknown = yield* list("?from=evt_none")
        assert.deepStrictEqual(
          [unknown.status, unknown.json.message],
          [400, "Query validation error: 'The checkpoint does not exist' on property from"]
        )
        for (const query of ["?take=0", "?take=101"]) assert.strictEqual((yield* list(query)).status, 400)
      }),
    options
  )

  itInProcess("are paged on when those of the page before are redelivered meanwhile", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* numbers("?take=2"), [1, 2])
      const { next } = (yield* list("?take=2")).json
      yield* redeliver({ date_to: "2026-01-01T00:02:01Z" })
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* numbers(`?take=2&from=${next}`), [3, 5])
    }), options)

  itInProcess("are filtered by status, type and the time of the last attempt", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* numbers("?statuses=failed"), [1, 2, 3, 5])
      assert.deepStrictEqual(yield* numbers("?event_types=user.updated,%20user.deleted"), [2, 5])
      assert.deepStrictEqual(yield* numbers("?event_types=user.created"), [1, 3])
      assert.deepStrictEqual(yield* numbers("?event_types=other"), [])
      assert.deepStrictEqual(yield* numbers("?date_from=2026-01-01T00:02:00Z"), [2, 3, 5])
      assert.deepStrictEqual(yield* numbers("?date_to=2026-01-01T00:02:00Z"), [1])
      assert.deepStrictEqual(yield* numbers("?date_from=2026-01-01T00:02:00Z&date_to=2026-01-01T00:03:00Z"), [2])
      for (
        const [query, message] of [
          ["statuses=ok", "'Expected \"failed\"' on property statuses"],
          ["statuses=failed,ok", "'Expected \"failed\"' on property statuses"],
          ["date_from=x", "'Expected a date and time' on property date_from"],
          ["date_to=", "'Expected a date and time' on property date_to"]
        ]
      ) {
        const { json, status } = yield* list(`?${query}`)
        assert.deepStrictEqual([status, json.message], [400, `Query validation error: ${message}`])
      }
    }), options)

  itInProcess("have no times if no attempt is known, and match no filter by time", () =>
    Effect.gen(function*() {
      const { seed } = yield* Tenant.Tenant
      yield* seed({ streams: [{ id, events: [{ id: eventId(1), state: "failed", attempts: [] }] }] })
      assert.deepStrictEqual((yield* list()).json.deliveries, [{
        id: eventId(1),
        event_stream_id: id,
        status: "failed",
        event_type: "user.created",
        attempts: [],
        event
      }])
      for (const query of ["?date_from=1970-01-01T00:00:00Z", "?date_to=2100-01-01T00:00:00Z"]) {
        const { json, status } = yield* list(query)
        assert.deepStrictEqual([status, json], [200, { deliveries: [] }])
      }
    }), options)

  itInProcess("are 50 a page by default", () =>
    Effect.gen(function*() {
      const { seed } = yield* Tenant.Tenant
      const many = Array.from({ length: 60 }, (_, index) => ({ id: eventId(index), state: "failed" } as const))
      yield* seed({ streams: [{ id, events: many }] })
      assert.lengthOf(yield* numbers(), 50)
      assert.lengthOf(yield* numbers("?take=100"), 60)
    }), options)

  itInProcess("are found one by one, until they are delivered", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* get(2)).json, (yield* list()).json.deliveries[1])
      for (const number of [4, 9]) {
        const { json, status } = yield* get(number)
        assert.deepStrictEqual([status, json.message], [404, "The requested delivery does not exist."])
      }
      yield* call(redeliverEvent, { params: { id, event_id: eventId(2) } })
      assert.deepStrictEqual((yield* get(2)).json.attempts.at(-1), {
        status: "retrying",
        timestamp: "1970-01-01T00:00:00.000Z"
      })
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* get(2)).status, 404)
    }), options)

  itInProcess("of a stream that does not exist are a 404", () =>
    Effect.gen(function*() {
      for (const response of [yield* list("", noId), yield* get(1, noId), yield* redeliver({}, noId)]) {
        assert.deepStrictEqual([response.status, response.json.message], [
          404,
          "The requested stream does not exist."
        ])
      }
    }), options)
})

describe("redelivery", () => {
  itInProcess("by a filter queues all that match, and echoes the filter", () =>
    Effect.gen(function*() {
      const { state } = yield* Tenant.Tenant
      const states = Effect.map(state, ({ streams }) => streams[0]!.events.map(({ state }) => state[0]).join(""))
      const filter = {
        date_from: "2026-01-01T00:01:00Z",
        date_to: "2026-01-01T00:03:01Z",
        statuses: ["failed"],
        event_types: ["user.created"]
      }
      const response = yield* redeliver(filter)
      assert.deepStrictEqual([response.status, response.json], [202, filter])
      assert.strictEqual(yield* states, "qfqdf")
      yield* TestClock.adjust("29999 millis")
      assert.strictEqual(yield* states, "qfqdf")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* states, "dfddf")
      const all = yield* redeliver({})
      assert.deepStrictEqual([all.status, all.json], [202, {}])
      assert.strictEqual(yield* states, "dqddq")
    }), options)

  itInProcess(
    "fails again as often as the event says, and that is a round of four attempts",
    () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.parse("2026-01-02T00:00:00.000Z"))
        yield* redeliver({ event_types: ["user.deleted"] })
        const queued = [{ status: "failed", timestamp: minute(5) }, {
          status: "retrying",
          timestamp: "2026-01-02T00:00:00.000Z"
        }]
        assert.deepStrictEqual((yield* get(5)).json.attempts, queued)
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual((yield* get(5)).json.attempts, [
          ...queued,
          ...["23", "24", "26", "30"].map((second) => ({
            status: "failed",
            timestamp: `2026-01-02T00:00:${second}.000Z`,
            duration: 20.25,
            error_message: "The destination has refused the event"
          }))
        ])
        assert.deepStrictEqual(yield* numbers("?date_from=2026-01-02T00:00:00Z"), [5])
        yield* call(redeliverEvent, { params: { id, event_id: eventId(5) } })
        yield* TestClock.adjust("30 seconds")
        const { state } = yield* Tenant.Tenant
        assert.strictEqual((yield* state).streams[0]?.events[4]?.state, "delivered")
      }),
    options
  )

  itInProcess("takes as long as the settings say", () =>
    Effect.gen(function*() {
      yield* redeliver({})
      const { state } = yield* Tenant.Tenant
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual((yield* state).streams[0]?.events[0]?.state, "delivered")
    }), { ...options, durations: { delivery: "1 second" } })

  itInProcess("of a disabled stream is a 409", () =>
    Effect.gen(function*() {
      const one = yield* call(redeliverEvent, { params: { id: disabledId, event_id: eventId(1) } })
      for (const { json, status } of [one, yield* redeliver({}, disabledId)]) {
        assert.deepStrictEqual([status, json.message], [409, "The stream is disabled."])
      }
      assert.lengthOf((yield* list("", disabledId)).json.deliveries, 1)
    }), options)

  itInProcess("by a filter that is not valid is a 400", () =>
    Effect.gen(function*() {
      for (
        const body of [{ date_from: "yesterday" }, { date_to: "2026-01-01T00:00:00.000Z" }, { statuses: ["delivered"] }]
      ) {
        const { json, status } = yield* redeliver(body)
        assert.deepStrictEqual([status, json.errorCode], [400, "invalid_body"])
      }
    }), options)
})
