/** The client of Node within others: what wraps it sees each request and each response, and calls mean the same. */
import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import type { Socket } from "node:net"
import * as IdentityClient from "../../src/IdentityClient.js"
import * as Node from "../../src/Node.js"
import { createUsersExport, deleteEventStream, getJob } from "../../src/operations/index.js"
import * as Retry from "../../src/Retry.js"
import { over } from "../support/client.js"
import { requestError } from "../support/httpErrors.js"
import { rawServer, responseBytes } from "../support/rawServer.js"

const json = { "content-type": "application/json" }
const job = "{\"id\":\"job_1\",\"type\":\"users_export\",\"status\":\"pending\",\"connection\":\"ü\"}"
const exported = createUsersExport({ format: "csv" })
const exportOnce = Retry.withoutRetries(exported)

/** The error of an attempt that is given up. */
const late = () => requestError(HttpClientRequest.get("/"), "Transport", { cause: new Error("late") })

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
      const cookies = { ...json, "set-cookie": "a=1\r\nset-cookie: b=2" }
      const server = yield* rawServer((_, socket) => void socket.write(responseBytes(200, cookies, job)))
      const seen: Array<unknown> = []
      const tapped = HttpClient.tap((response) =>
        Effect.gen(function*() {
          const body = yield* Effect.orDie(response.json)
          seen.push(response.status, response.headers["content-type"], Object.keys(response.cookies.cookies), body)
        })
      )
      yield* Effect.provide(getJob({ id: "job_1" }), wrapped(server.url, tapped))
      assert.deepStrictEqual(seen.slice(0, 2), [200, "application/json"])
      assert.deepStrictEqual(seen[2], ["a", "b"])
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

  it.scopedLive("that gives up an attempt while that waits for a connection keeps it from being sent later", () =>
    Effect.gen(function*() {
      const first = yield* Deferred.make<Socket>()
      const server = yield* rawServer((request, socket) => {
        if (request.line.includes("8902")) Deferred.unsafeDone(first, Effect.succeed(socket))
        else socket.write(responseBytes(204))
      })
      const context = yield* Layer.build(
        wrapped(
          server.url,
          HttpClient.transform((sent, { method }) =>
            method === "POST" ? Effect.timeoutFail(sent, { duration: "50 millis", onTimeout: late }) : sent
          ),
          {
            connections: 1
          }
        )
      )
      const held = yield* Effect.fork(Effect.provide(deleteEventStream({ id: "est_0123456789012345678902" }), context))
      const socket = yield* Deferred.await(first)
      assert.deepInclude(yield* Effect.flip(Effect.provide(exportOnce, context)), { outcome: "unknown" })
      socket.write(responseBytes(204))
      yield* Effect.exit(Fiber.join(held))
      yield* Effect.provide(remove, context)
      assert.deepStrictEqual(server.requests.filter(({ line }) => line.startsWith("POST")), [])
    }))

  it.scopedLive("makes requests of its own, which no limit of the call concerns", () =>
    Effect.gen(function*() {
      const large = "x".repeat(100_000)
      const server = yield* rawServer((request, socket) =>
        void socket.write(request.line.includes("/key") ? responseBytes(200, {}, large) : responseBytes(204))
      )
      const read: Array<number> = []
      const asking = (client: HttpClient.HttpClient) =>
        HttpClient.tap(client, () =>
          Effect.map(
            Effect.flatMap(client.get(`${server.url}/key`), ({ text }) => text),
            ({ length }) => read.push(length)
          ))
      yield* Effect.provide(remove, wrapped(server.url, asking))
      assert.deepStrictEqual(read, [large.length])
    }))

  it.scopedLive("that follows redirects, or changes a response, is noticed", () =>
    Effect.gen(function*() {
      const other = yield* rawServer((_, socket) => void socket.write(responseBytes(200, json, job)))
      const server = yield* rawServer((_, socket) =>
        void socket.write(responseBytes(302, { location: `${other.url}/jobs/job_1` }))
      )
      const call = getJob({ id: "job_1" })
      const followed = yield* Effect.flip(Effect.provide(call, wrapped(server.url, HttpClient.followRedirects(3))))
      assert.deepInclude(followed, { _tag: "UnexpectedResponse", reason: "redirect" })
      const changed = HttpClient.transformResponse(Effect.map(({ request }: HttpClientResponse.HttpClientResponse) =>
        HttpClientResponse.fromWeb(request, new Response(job.replace("job_1", "job_2"), { headers: json }))
      ))
      assert.strictEqual((yield* Effect.provide(call, wrapped(other.url, changed))).id, "job_2")
    }))

  it.scopedLive("that takes too long itself ends at the time limit, too", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((_, socket) => void socket.write(responseBytes(204, {}, "")))
      const slow = HttpClient.tap(() => Effect.never)
      const call = Effect.provide(IdentityClient.withTimeout(remove, "50 millis"), wrapped(server.url, slow))
      assert.deepInclude(yield* Effect.flip(call), { outcome: "unknown", code: "TIMEOUT" })
    }))
})
