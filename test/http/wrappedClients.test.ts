/** The client of Node within others: what wraps it sees each request and each response, and calls mean the same. */
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import * as IdentityClient from "../../src/IdentityClient.js"
import * as Node from "../../src/Node.js"
import { createUsersExport, deleteEventStream, getJob } from "../../src/operations/index.js"
import * as Retry from "../../src/Retry.js"
import { over } from "../support/client.js"
import { rawServer, responseBytes } from "../support/rawServer.js"

const json = { "content-type": "application/json" }
const job = "{\"id\":\"job_1\",\"type\":\"users_export\",\"status\":\"pending\",\"connection\":\"ü\"}"
const exported = createUsersExport({ format: "csv" })
const remove = Retry.withoutRetries(deleteEventStream({ id: "est_0123456789012345678901" }))

/** Provides the client over the one of Node, wrapped in this way. */
const wrapped = (
  url: string,
  wrap: (client: HttpClient.HttpClient) => HttpClient.HttpClient,
  options: Node.TransportOptions = {}
) => {
  const http = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, wrap))
  return over(Layer.provide(http, Node.layerHttpClientWith(options)), url)
}

describe("a client around the one of Node", () => {
  it.scopedLive("changes requests", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((_, socket) => void socket.write(responseBytes(200, json, job)))
      const changed = HttpClient.mapRequest((request: HttpClientRequest.HttpClientRequest) =>
        request.pipe(HttpClientRequest.setHeader("x-tag", "1"), HttpClientRequest.appendUrlParam("tag", "a b"))
      )
      const { connection } = yield* Effect.provide(exported, wrapped(server.url, changed))
      assert.strictEqual(connection, "ü")
      const [request] = server.requests
      assert.include(request?.line, " /api/v2/jobs/users-exports?tag=a+b ")
      assert.strictEqual(request?.headers["x-tag"], "1")
      assert.strictEqual(request?.body, "{\"format\":\"csv\"}")
    }))

  it.scopedLive("reads status, headers and body of responses, which stay as they are", () =>
    Effect.gen(function*() {
      const cookies = { ...json, "set-cookie": "a=1" }
      const server = yield* rawServer((_, socket) => void socket.write(responseBytes(200, cookies, job)))
      const seen: Array<unknown> = []
      const tapped = HttpClient.tap((response) =>
        Effect.gen(function*() {
          const body = yield* Effect.orDie(response.json)
          seen.push(response.status, response.headers["content-type"], response.cookies.toJSON(), body)
        })
      )
      yield* Effect.provide(getJob({ id: "job_1" }), wrapped(server.url, tapped))
      assert.deepStrictEqual(seen.slice(0, 2), [200, "application/json"])
      assert.include(JSON.stringify(seen[2]), "a")
      assert.deepStrictEqual(seen[3], JSON.parse(job))
    }))

  it.scopedLive("sends again, and an attempt that had begun is not reported as one that was not sent", () =>
    Effect.gen(function*() {
      let connections = 0
      const server = yield* rawServer((_, socket) => {
        connections++
        socket.destroy()
      })
      const again = (client: HttpClient.HttpClient) => HttpClient.retry(client, { times: 2 })
      const error = yield* Effect.flip(Effect.provide(remove, wrapped(server.url, again)))
      assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown" })
      assert.strictEqual(connections, 3)
    }))

  it.scopedLive("knows that a call that waits for a connection until its time is up was not sent", () =>
    Effect.gen(function*() {
      const first = yield* Deferred.make<void>()
      const server = yield* rawServer(() => Deferred.unsafeDone(first, Effect.void))
      const layer = wrapped(server.url, HttpClient.tap(() => Effect.void), { connections: 1 })
      const context = yield* Layer.build(layer)
      const held = yield* Effect.fork(Effect.provide(remove, context))
      yield* Deferred.await(first)
      const late = IdentityClient.withTimeout(remove, "50 millis")
      assert.deepInclude(yield* Effect.flip(Effect.provide(late, context)), { outcome: "not-sent", code: "TIMEOUT" })
      yield* Fiber.interrupt(held)
    }))

  it.scopedLive("that takes too long itself ends at the time limit, too", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((_, socket) => void socket.write(responseBytes(204, {}, "")))
      const slow = HttpClient.tap(() => Effect.never)
      const call = Effect.provide(IdentityClient.withTimeout(remove, "50 millis"), wrapped(server.url, slow))
      assert.deepInclude(yield* Effect.flip(call), { outcome: "unknown", code: "TIMEOUT" })
    }))
})
