/** Tests of the client in process. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as Tenant from "../../../src/Tenant.js"
import * as InProcess from "../../../src/tenant/server/inProcessClient.js"
import { reasonOf } from "../../support/httpErrors.js"
import { host, itInProcess, waitForSleep } from "../support/calls.js"

describe("the client in process", () => {
  itInProcess("sends every kind of body", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const bytes = new TextEncoder().encode("{\"a\":1}")
      const data = new FormData()
      data.append("a", "1")
      for (
        const body of [
          HttpBody.uint8Array(bytes, "application/json"),
          HttpBody.stream(Stream.make(bytes.subarray(0, 3), bytes.subarray(3)), "application/json"),
          HttpBody.raw("{\"a\":1}", { contentType: "application/json" }),
          HttpBody.formData(data)
        ]
      ) {
        yield* HttpClient.post(`${host}/`, { body })
      }
      const received = yield* tenant.requests
      assert.deepStrictEqual(received.slice(0, 3).map(({ body }) => body), [{ a: 1 }, { a: 1 }, { a: 1 }])
      assert.match(String(received[3]!.contentType), /^multipart\/form-data; boundary=/)
    }))

  itInProcess("fails for a request that no transport can send", () =>
    Effect.gen(function*() {
      const request = HttpClientRequest.setBody(HttpClientRequest.get(host), HttpBody.text("a body"))
      assert.strictEqual(reasonOf(yield* Effect.flip(HttpClient.execute(request))), "Transport")
    }))

  itInProcess("refuses an interrupted body, and keeps none of it", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const body = HttpBody.stream(Stream.fail("gone"), "application/json")
      const response = yield* HttpClient.post(`${host}/oauth/token`, { body })
      assert.strictEqual(response.status, 400)
      assert.deepStrictEqual(yield* response.json, {
        statusCode: 400,
        error: "Bad Request",
        message: "The body is incomplete",
        errorCode: "invalid_body"
      })
      const requests = yield* tenant.requests
      assert.lengthOf(requests, 1)
      assert.isUndefined(requests[0]!.body)
    }))

  itInProcess("gives no body to HEAD and sends no fragment", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const response = yield* HttpClient.head(`${host}/x?y#z`)
      assert.strictEqual(yield* response.text, "")
      assert.deepStrictEqual((yield* tenant.requests).map(({ path, query }) => [path, query]), [["/x", [["y", ""]]]])
    }))

  itInProcess("does not interrupt an uninterruptible caller", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      yield* tenant.injectFault({ delay: "1 minute" })
      const responseStatus = yield* Deferred.make<number>()
      const get = Effect.tap(HttpClient.get(`${host}/`), ({ status }) => Deferred.succeed(responseStatus, status))
      const fiber = yield* Effect.fork(Effect.uninterruptible(get))
      yield* waitForSleep
      yield* Fiber.interruptFork(fiber)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Deferred.await(responseStatus), 404)
    }))

  it.effect("reports a defect of the application as it is", () =>
    Effect.gen(function*() {
      const client = InProcess.make(Effect.die("broken"))
      assert.strictEqual(yield* Effect.catchAllDefect(client.get(host), Effect.succeed), "broken")
    }))
})
