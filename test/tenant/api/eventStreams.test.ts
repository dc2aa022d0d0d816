/** Tests of the tenant's event streams: finding, redelivery and deletion. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as TestClock from "effect/TestClock"
import * as Errors from "../../../src/Errors.js"
import * as Operation from "../../../src/Operation.js"
import * as operations from "../../../src/operations/index.js"
import { omittable, openUnion, string } from "../../../src/Schemas.js"
import * as Tenant from "../../../src/Tenant.js"
import { call, deleteEventStream, itInProcess, redeliverEvent, stream } from "../support/calls.js"
import { withTenant } from "../support/operations.js"

const { demo } = Tenant
const getEventStream = operations.getEventStream.endpoint
const listEventStreams = operations.listEventStreams.endpoint
const [failed, secondFailed, queued, delivered] = stream.events

describe("event streams", () => {
  const redeliver = (event_id: string, id: string = stream.id) => call(redeliverEvent, { params: { id, event_id } })

  itInProcess("redeliver a failed event once, and deliver it 30 seconds later", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const states = Effect.map(tenant.state, ({ streams }) => streams[0]!.events.map(({ state }) => state))
      assert.deepStrictEqual(yield* states, ["failed", "failed", "queued", "delivered"])
      yield* TestClock.adjust("10 seconds")
      const response = yield* redeliver(failed.id)
      assert.deepStrictEqual([response.status, response.text], [202, "{}"])
      assert.strictEqual((yield* redeliver(failed.id)).status, 409)
      assert.deepStrictEqual(yield* states, ["queued", "failed", "queued", "delivered"])
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* states, ["queued", "failed", "delivered", "delivered"])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* states, ["delivered", "failed", "delivered", "delivered"])
      assert.strictEqual((yield* redeliver(failed.id)).status, 409)
      assert.strictEqual((yield* redeliver(secondFailed.id)).status, 202)
    }))

  itInProcess("refuse to redeliver a queued or delivered event", () =>
    Effect.gen(function*() {
      for (const { id } of [queued, delivered]) {
        const response = yield* redeliver(id)
        assert.strictEqual(response.status, 409)
        assert.include(response.json.message, "not in a state that allows redelivery")
      }
    }))

  itInProcess("give a 404 for an unknown event or stream", () =>
    Effect.gen(function*() {
      const noStream = yield* redeliver(failed.id, "est_0000000000000000000000")
      assert.deepStrictEqual(noStream.json, {
        statusCode: 404,
        error: "Not Found",
        message: "The requested stream does not exist."
      })
      for (
        const response of [
          yield* redeliver("evt_0000000000000000000000"),
          yield* redeliver(failed.id, demo.streams[1].id)
        ]
      ) {
        assert.deepStrictEqual([response.status, response.json.message], [404, "The requested event does not exist."])
      }
    }))

  itInProcess("are deleted, any number of times, with an empty body labelled as JSON", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      for (const _ of [1, 2]) {
        const response = yield* call(deleteEventStream, { params: { id: stream.id } })
        assert.deepStrictEqual([response.status, response.text], [204, ""])
        assert.strictEqual(response.headers["content-type"], "application/json")
        assert.deepStrictEqual((yield* tenant.state).streams, [demo.streams[1]])
      }
      assert.strictEqual((yield* redeliver(failed.id)).status, 404)
    }))

  itInProcess("refuse ids that do not have exactly 26 characters", () =>
    Effect.gen(function*() {
      for (const id of ["est_short", `${stream.id}x`, `${stream.id};x`]) {
        const response = yield* call(deleteEventStream, { params: { id } })
        assert.deepStrictEqual([response.status, response.json.errorCode], [400, "validation_error"])
        assert.match(response.json.message, / on property id$/)
      }
      const tenant = yield* Tenant.Tenant
      assert.lengthOf((yield* tenant.state).streams, 2)
    }))
})

describe("event streams, found", () => {
  itInProcess("are given without their events", () =>
    Effect.gen(function*() {
      const own = Struct.omit(stream, "events")
      const found = yield* call(getEventStream, { params: { id: stream.id } })
      assert.deepStrictEqual([found.status, found.json], [200, JSON.parse(JSON.stringify(own))])
      assert.isTrue(Schema.is(operations.EventStream)(found.json))
      const unknown = yield* call(getEventStream, { params: { id: "est_0000000000000000000000" } })
      assert.deepStrictEqual([unknown.status, unknown.json.message], [404, "The requested stream does not exist."])
    }))

  itInProcess(
    "are listed by checkpoints, in the order of their ids, also when some are deleted meanwhile",
    () =>
      Effect.gen(function*() {
        const { seed } = yield* Tenant.Tenant
        const id = (number: number) => `est_000000000000000000000${number}`
        yield* seed({ streams: [3, 1, 5, 2, 4].map((number) => ({ id: id(number), events: [] })) })
        const list = (query: string) => Effect.map(call(listEventStreams, { query }), ({ json }) => json)
        assert.deepStrictEqual(yield* list("?take=2"), {
          eventStreams: [{ id: id(1), status: "enabled" }, { id: id(2), status: "enabled" }],
          next: id(2)
        })
        yield* call(deleteEventStream, { params: { id: id(2) } })
        const last = yield* list(`?take=3&from=${id(2)}`)
        assert.deepStrictEqual(last.eventStreams.map(({ id }: any) => id), [id(3), id(4), id(5)])
        assert.isFalse("next" in last)
      }),
    { seed: {} }
  )

  itInProcess(
    "have webhooks with an authorization, by default a bearer token, and without secrets",
    () =>
      Effect.gen(function*() {
        const { seed } = yield* Tenant.Tenant
        const authorizationOf = (configuration: object) =>
          Effect.gen(function*() {
            yield* seed({
              streams: [{ ...stream, destination: { type: "webhook", configuration: { ...configuration } } }]
            })
            const { json } = yield* call(getEventStream, { params: { id: stream.id } })
            return json.destination.configuration
          })
        const webhook_endpoint = "https://example.com"
        const rows = [
          [{}, { method: "bearer" }],
          [{ webhook_authorization: { method: "bearer", token: "secret" } }, { method: "bearer" }],
          [{ webhook_authorization: { method: "basic", username: "u", password: "secret" } }, {
            method: "basic",
            username: "u"
          }],
          [{ webhook_authorization: { method: "custom_header", header_key: "k", header_value: "secret" } }, {
            method: "custom_header",
            header_key: "k"
          }]
        ] as const
        for (const [given, webhook_authorization] of rows) {
          assert.deepStrictEqual(yield* authorizationOf({ webhook_endpoint, ...given }), {
            webhook_endpoint,
            webhook_authorization
          })
        }
      })
  )

  const kind = <Type extends string>(type: Type, configuration: Schema.Schema.AnyNoContext) =>
    Schema.Struct({ type: Schema.Literal(type), configuration })
  const authorization = openUnion(
    ["method"],
    Schema.Struct({ method: Schema.Literal("bearer") }),
    Schema.Struct({ method: Schema.Literal("custom_header"), header_key: Schema.String })
  )
  const EventStream = Schema.Struct({
    id: omittable(Schema.String),
    destination: omittable(openUnion(
      ["type"],
      kind("webhook", Schema.Struct({ webhook_endpoint: Schema.String, webhook_authorization: authorization })),
      kind("action", Schema.Struct({ action_id: Schema.String }))
    ))
  })
  const shared = {
    scope: "read:event_streams",
    idempotent: true,
    error: [Errors.BadRequest, Errors.NotFound, Errors.RateLimited]
  } as const
  const generated = {
    getEventStream: Operation.make("getEventStream", () => ({
      ...shared,
      method: "GET",
      path: "/event-streams/:id",
      params: { id: string({ min: 26, max: 26 }) },
      success: EventStream
    })),
    listEventStreams: Operation.make("listEventStreams", () => ({
      ...shared,
      method: "GET",
      path: "/event-streams",
      query: { take: Schema.optional(Schema.Number) },
      success: Schema.Struct({ eventStreams: Schema.Array(EventStream) })
    }))
  }

  it.effect("are decoded by operations that are generated, which know the fields of each destination", () =>
    withTenant(
      Effect.gen(function*() {
        const { eventStreams } = yield* generated.listEventStreams({})
        assert.sameMembers(eventStreams.map(({ id }) => id), demo.streams.map(({ id }) => id))
        for (const { destination, id } of demo.streams) {
          assert.deepInclude(yield* generated.getEventStream({ id }), { id, destination })
        }
      }),
      { operations: generated }
    ))
})
