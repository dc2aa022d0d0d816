/** Tests of injected faults. */
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import * as Tenant from "../../../src/Tenant.js"
import * as Faults from "../../../src/tenant/server/faults.js"
import { causeOf, reasonOf } from "../../support/httpErrors.js"
import {
  action,
  deleteEventStream,
  host,
  itInProcess,
  listActionVersions,
  requestToken,
  send,
  stream,
  tokenOf,
  waitForSleep
} from "../support/calls.js"

describe("faults", () => {
  const list = (token: string) => send(listActionVersions, { params: { actionId: action.id }, token })
  const remove = (token: string) => send(deleteEventStream, { params: { id: stream.id }, token })

  itInProcess(
    "replace the response of the given number of calls, which are not carried out",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const token = yield* tokenOf()
        yield* tenant.injectFault({ status: 503, times: 2 })
        for (const _ of [1, 2]) {
          const response = yield* remove(token)
          assert.strictEqual(response.status, 503)
          assert.deepStrictEqual(response.json.error, "Service Unavailable")
          assert.isUndefined(response.headers["x-ratelimit-limit"])
        }
        assert.lengthOf((yield* tenant.state).streams, 2)
        assert.strictEqual((yield* remove(token)).status, 204)
      })
  )

  itInProcess("give the reason phrase of the status", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      for (
        const [statusCode, error] of [
          [400, "Bad Request"],
          [429, "Too Many Requests"],
          [500, "Internal Server Error"],
          [502, "Bad Gateway"],
          [504, "Gateway Timeout"],
          [599, "Error"]
        ] as const
      ) {
        yield* tenant.injectFault({ status: statusCode })
        const response = yield* send(listActionVersions, { params: { actionId: action.id } })
        assert.strictEqual(response.status, statusCode)
        assert.deepStrictEqual(response.json, { statusCode, error, message: "An injected fault" })
      }
    }))

  itInProcess("apply in their order, each to the first call that it matches", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.injectFault({ status: 500, times: 0 })
      yield* tenant.injectFault({ operation: "deleteEventStream", status: 501 })
      yield* tenant.injectFault({ operation: "token", status: 502 })
      yield* tenant.injectFault({ status: 503 })
      const statuses = [
        (yield* list(token)).status,
        (yield* list(token)).status,
        (yield* remove(token)).status,
        (yield* requestToken({})).status,
        (yield* remove(token)).status
      ]
      assert.deepStrictEqual(statuses, [503, 200, 501, 502, 204])
    }))

  itInProcess(
    "send text as it is, anything else as JSON, and an empty body with a success",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const get = Effect.flatMap(
          HttpClient.get(`${host}/`),
          (response) => Effect.map(response.text, (text) => [response.status, response.headers["content-type"], text])
        )
        yield* tenant.injectFault({ body: "<html>" })
        yield* tenant.injectFault({ status: 502, body: "<html>", headers: { "Content-Type": "text/html" } })
        yield* tenant.injectFault({ body: { a: null } })
        yield* tenant.injectFault({ status: 500, body: [] })
        yield* tenant.injectFault({ status: 201 })
        yield* tenant.injectFault({ status: 204, body: "lost" })
        const responses = yield* Effect.all(Arr.makeBy(6, () => get))
        assert.deepStrictEqual(responses, [
          [200, "text/plain; charset=utf-8", "<html>"],
          [502, "text/html", "<html>"],
          [200, "application/json; charset=utf-8", "{\"a\":null}"],
          [500, "application/json; charset=utf-8", "[]"],
          [201, "application/json", ""],
          [204, "text/plain; charset=utf-8", ""]
        ])
      })
  )

  itInProcess("add, replace and remove headers of the genuine response", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.injectFault({
        headers: { "X-RateLimit-Reset": "1", "X-RateLimit-Limit": undefined, Date: "never", more: "x" }
      })
      const { headers, status } = yield* list(token)
      assert.deepStrictEqual(
        [status, headers["x-ratelimit-reset"], headers["x-ratelimit-remaining"], headers["date"], headers["more"]],
        [200, "1", "49", "never", "x"]
      )
      assert.isFalse("x-ratelimit-limit" in headers)
    }))

  itInProcess("remove headers however they are spelt, and put nothing in their place", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const removed = { "Content-Type": undefined, DATE: undefined, "x-ratelimit-limit": undefined }
      for (const fault of [{}, { body: "text" }, { status: 201 }, { cut: "within" }] as const) {
        yield* tenant.injectFault({ ...fault, headers: removed })
        const { headers } = yield* HttpClient.get(`${host}/`)
        for (const name of ["content-type", "date"]) assert.isNotOk(headers[name], `${name} ${JSON.stringify(fault)}`)
      }
    }))

  itInProcess("delay the genuine response by the Clock", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.injectFault({ delay: "1 minute" })
      const fiber = yield* Effect.fork(remove(token))
      yield* waitForSleep
      assert.lengthOf((yield* tenant.state).streams, 2)
      yield* TestClock.adjust("59 seconds")
      const { operation, status } = (yield* tenant.requests).at(-1)!
      assert.deepStrictEqual([operation, status], ["deleteEventStream", undefined])
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).status, 204)
      assert.strictEqual((yield* tenant.requests).at(-1)!.status, 204)
    }))

  itInProcess(
    "end with the caller: a delayed call is not carried out after an interruption",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const token = yield* tokenOf()
        yield* tenant.injectFault({ delay: "1 minute" })
        const fiber = yield* Effect.fork(remove(token))
        yield* waitForSleep
        yield* Fiber.interrupt(fiber)
        yield* TestClock.adjust("2 minutes")
        assert.lengthOf((yield* tenant.state).streams, 2)
        assert.strictEqual((yield* tenant.requests).at(-1)!.status, undefined)
      })
  )

  itInProcess("carry the call out before the delay if they say so", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      yield* tenant.injectFault({ delay: "1 minute", status: 504, carriedOut: true })
      const fiber = yield* Effect.fork(remove(token))
      yield* waitForSleep
      assert.lengthOf((yield* tenant.state).streams, 1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(fiber)).status, 504)
    }))

  itInProcess("cut the connection before the response", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const token = yield* tokenOf()
      const faults: ReadonlyArray<Tenant.Fault> = [
        {},
        { status: 500 },
        { body: "text" },
        { carriedOut: false },
        { carriedOut: true }
      ]
      for (const fault of faults) {
        yield* tenant.injectFault({ cut: "before", ...fault })
        const error = yield* Effect.flip(remove(token))
        assert.strictEqual(reasonOf(error), "Transport")
        assert.propertyVal(causeOf(error), "code", "ECONNRESET")
        assert.strictEqual(String(causeOf(error)), "ConnectionReset: An injected fault cut the connection")
        assert.lengthOf((yield* tenant.state).streams, fault.carriedOut === true ? 1 : 2)
        assert.isUndefined((yield* tenant.requests).at(-1)!.status)
      }
    }))

  itInProcess(
    "cut the connection within any body, or before one that is too short",
    () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        const token = yield* tokenOf()
        for (const fault of [{}, { status: 500 }, { body: "ab" }]) {
          yield* tenant.injectFault({ cut: "within", ...fault })
          const error = yield* Effect.flip(list(token))
          assert.strictEqual(reasonOf(error), "Decode")
          assert.propertyVal(causeOf(error), "code", "ECONNRESET")
          assert.isDefined((yield* tenant.requests).at(-1)!.status)
        }
        for (const fault of [{ body: "a" }, {}]) {
          yield* tenant.injectFault({ cut: "within", ...fault })
          assert.strictEqual(reasonOf(yield* Effect.flip(remove(token))), "Transport")
        }
      })
  )

  itInProcess("are refused if HTTP does not allow their status or headers", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      for (
        const fault of [
          { status: 600 },
          { status: 101 },
          { status: 200.5 },
          { headers: { "a b": "" } },
          { headers: { a: "1\r\nb: 2" } },
          { headers: { "Content-Length": "3" } },
          { headers: { "transfer-encoding": "chunked" } },
          { headers: { trailer: "date" } }
        ]
      ) {
        const defect = yield* Effect.catchAllDefect(tenant.injectFault(fault), Effect.succeed)
        assert.propertyVal(
          defect,
          "message",
          "Invalid fault: status must be an integer from 200 to 599, and headers must be valid in HTTP and say nothing about " +
            "the length of the body"
        )
      }
    }))

  it.effect("are removed by their id, or all at once", () =>
    Effect.gen(function*() {
      const faults = Faults.make()
      const added = yield* Effect.forEach([500, 501, 502, 503], (status) => faults.add({ status }))
      assert.deepStrictEqual(added.map(({ id, left }) => [id, left]), [[1, 1], [2, 1], [3, 1], [4, 1]])
      assert.strictEqual(yield* faults.remove(2), 1)
      assert.strictEqual(yield* faults.remove(2), 0)
      assert.deepStrictEqual(yield* faults.all, added.filter(({ id }) => id !== 2))
      assert.strictEqual(yield* faults.remove(), 3)
      assert.isUndefined(yield* faults.take(undefined))
      assert.strictEqual((yield* faults.add({})).id, 5)
    }))
})
