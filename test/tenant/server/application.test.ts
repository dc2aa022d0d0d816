/** Tests of what the application does around its operations: streams, files, and what it shows to observers. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { gunzipSync } from "node:zlib"
import * as operations from "../../../src/operations/index.js"
import * as Tenant from "../../../src/Tenant.js"
import { endStreams } from "../../../src/tenant/server/app.js"
import { eventsResponse } from "../../../src/tenant/server/response.js"
import type { App } from "../../../src/tenant/server/router.js"
import { call, createUsersExport, host, itInProcess, send, tokenOf } from "../support/calls.js"
import { itControlled, snapshot } from "../support/control.js"

/** The application's response to a request for a host. */
const responseOf = (app: App, host = "localhost") =>
  app.pipe(
    Effect.provideService(
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://localhost/", { headers: { host } }))
    ),
    Effect.scoped
  )

describe("the end of streams", () => {
  const bytes = Uint8Array.of(1, 2, 3)

  it.effect("ends a response without length when the server closes, and its connection with it", () =>
    Effect.gen(function*() {
      const closing = yield* Deferred.make<void>()
      const endless = Stream.concat(Stream.make(bytes), Stream.never)
      const events = HttpServerResponse.stream(endless, { contentType: "text/event-stream" })
      const { body, headers } = yield* responseOf(endStreams(Effect.succeed(events), closing))
      assert.deepStrictEqual({ ...headers }, { "content-type": "text/event-stream", connection: "close" })
      const stream = body._tag === "Stream" ? body.stream : Stream.empty
      const fiber = yield* Effect.fork(Stream.runCollect(stream))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(closing, undefined)
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(fiber)), [bytes])
    }))

  it.effect("leaves every other response as it is", () =>
    Effect.gen(function*() {
      const closing = yield* Deferred.make<void>()
      const withLength = HttpServerResponse.stream(Stream.make(bytes), { contentLength: 3 })
      for (const response of [HttpServerResponse.text("text"), HttpServerResponse.empty(), withLength]) {
        assert.strictEqual(yield* responseOf(endStreams(Effect.succeed(response), closing)), response)
      }
    }))
})

it("writes each event as JSON", () => {
  const { body, headers, status } = eventsResponse([{ a: 1 }, "b\nc"])
  assert.deepStrictEqual([status, headers["content-type"]], [200, "text/event-stream"])
  assert.strictEqual(body, "data: {\"a\":1}\n\ndata: \"b\\nc\"\n\n")
})

describe("the file of an export", () => {
  itInProcess(
    "is served by its link, and neither the link's signature nor that of another call is shown",
    () =>
      Effect.gen(function*() {
        const { json: { id } } = yield* call(createUsersExport, { body: { fields: [{ name: "email" }] } })
        yield* TestClock.adjust("2 seconds")
        const { json: { location } } = yield* call(operations.getJob.endpoint, { params: { id } })
        const response = yield* HttpClient.get(`${location}&page=1`)
        assert.strictEqual(response.status, 200)
        const rows = gunzipSync(new Uint8Array(yield* response.arrayBuffer)).toString().trim().split("\n")
        assert.hasAllKeys(JSON.parse(rows[0] ?? ""), ["email"])

        yield* HttpClient.get(`${host}/nothing?signature=mine`)
        const [file, other] = (yield* (yield* Tenant.Tenant).requests).slice(-2)
        assert.deepStrictEqual([file?.operation, file?.query], [
          "exportFile",
          [["signature", "<redacted>"], ["page", "1"]]
        ])
        assert.deepStrictEqual([other?.operation, other?.query], [undefined, [["signature", "mine"]]])
      })
  )
})

describe("an observer", () => {
  itControlled("sees each request as it arrived, with the client of its token", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      yield* TestClock.adjust("1 second")
      const body = { client_id: "not-the-client" }
      yield* send(createUsersExport, { body, token, query: "?a=b" })
      const [request] = (yield* snapshot).requests.items
      const { client, method, operation, path, status, time } = request ?? assert.fail("no request")
      assert.deepStrictEqual({ client, method, operation, path, status, time }, {
        client: "demo-full",
        method: "POST",
        operation: "createUsersExport",
        path: "/api/v2/jobs/users-exports?a=b",
        status: 400,
        time: 1000
      })
    }))
})

itInProcess("names the bodies of errors and of the token endpoint in its document", () =>
  Effect.gen(function*() {
    const response = yield* HttpClient.get(`${host}/openapi.json`)
    // Sound: the assertions fail for any other document.
    const { components: { schemas } } = (yield* response.json) as { components: { schemas: Record<string, object> } }
    assert.containsAllKeys(schemas, ["Failure", "OAuthFailure", "Token", "TokenRequest"])
    assert.deepNestedInclude(schemas, {
      "Failure.required": ["statusCode", "error", "message"],
      "OAuthFailure.required": ["error", "error_description"],
      "TokenRequest.required": ["grant_type", "audience"]
    })
    assert.hasAllKeys(Object(schemas["TokenRequest"]).properties, [
      "grant_type",
      "client_id",
      "client_secret",
      "client_assertion_type",
      "client_assertion",
      "audience"
    ])
  }))
