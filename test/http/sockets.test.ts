/** Responses and failures over real sockets, with each transport. */
import type { HttpClient } from "@effect/platform"
import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Layer, Redacted, Schema } from "effect"
import { gzipSync } from "node:zlib"
import {
  createUsersExport,
  deleteEventStream,
  Errors,
  IdentityClient,
  listActionVersions,
  Operation,
  RateLimiter,
  redeliverEvent
} from "../../src/index.js"
import * as Node from "../../src/Node.js"
import { bearer, call, over } from "../support/client.js"
import { operations, sample } from "../support/operations.js"
import { rawServer, responseBytes } from "../support/rawServer.js"

const id = "est_1234567890123456789012"
const job = { id: "job_0000000000000001", type: "users_export", status: "pending", connection: "größe" }

const networks: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["undici", NodeHttpClient.layerUndici],
  ["fetch", FetchHttpClient.layer],
  ["lean", Layer.orDie(Node.layerHttpClient)]
]

/** Creates an export on a server that responds with these bytes and, if `end`, closes the connection. */
const exported = (network: Layer.Layer<HttpClient.HttpClient>, bytes: Uint8Array, end = false) =>
  Effect.gen(function*() {
    const server = yield* rawServer((_, socket) => end ? socket.end(bytes) : socket.write(bytes))
    return yield* Effect.either(createUsersExport({})).pipe(Effect.provide(over(network, server.url)))
  })

const unexpected = <A, E>(result: Either.Either<A, E>) => {
  const error: unknown = Either.isLeft(result) ? result.left : result
  assert.instanceOf(error, Errors.UnexpectedResponse)
  return error as Errors.UnexpectedResponse
}

/** The head of a response with an endless body. */
const endless = (status: number) =>
  `HTTP/1.1 ${status} Reason\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n`
const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`

/** A server with endless responses. `cut` is done when the client closes the connection. */
const endlessServer = (status: number) =>
  Effect.gen(function*() {
    const cut = yield* Deferred.make<void>()
    const server = yield* rawServer((_, socket) => {
      socket.on("close", () => Deferred.unsafeDone(cut, Effect.void))
      socket.write(endless(status))
      const more = () => {
        while (!socket.destroyed && socket.write(chunk)) continue
      }
      socket.on("drain", more)
      more()
    })
    return { cut, server }
  })

for (const [name, network] of networks) {
  describe(`over ${name}`, () => {
    it.scopedLive("a complete response is decoded", () =>
      Effect.gen(function*() {
        const result = yield* exported(
          network,
          responseBytes(200, { "content-type": "application/json" }, JSON.stringify(job))
        )
        assert.deepStrictEqual(Either.getOrThrow(result), job)
      }))

    it.scopedLive("a response in chunks, with a character split between two, is joined", () =>
      Effect.gen(function*() {
        const bytes = Buffer.from(JSON.stringify(job))
        const at = bytes.indexOf("ö") + 1
        const parts = [bytes.subarray(0, at), bytes.subarray(at), Buffer.alloc(0)]
        const body = Buffer.concat(
          parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")])
        )
        const result = yield* exported(network, responseBytes(200, { "transfer-encoding": "chunked" }, body))
        assert.deepStrictEqual(Either.getOrThrow(result), job)
      }))

    it.scopedLive("gzip is decompressed", () =>
      Effect.gen(function*() {
        const body = gzipSync(JSON.stringify(job))
        const result = yield* exported(network, responseBytes(200, { "content-encoding": "gzip" }, body))
        assert.deepStrictEqual(Either.getOrThrow(result), job)
      }))

    it.scopedLive("gzip without content-encoding is decompressed", () =>
      Effect.gen(function*() {
        const result = yield* exported(network, responseBytes(200, {}, gzipSync(JSON.stringify(job))))
        assert.deepStrictEqual(Either.getOrThrow(result), job)
      }))

    it.scopedLive("an error response in gzip is read", () =>
      Effect.gen(function*() {
        const body = gzipSync(JSON.stringify({ message: "A reason." }))
        const result = yield* exported(network, responseBytes(400, { "content-encoding": "gzip" }, body))
        assert.strictEqual(Either.getOrThrow(Either.flip(result)).message, "createUsersExport: A reason.")
      }))

    it.scopedLive.each(["cut off", "damaged"])(
      "gzip that is %s is a failure, whether the client or the platform unpacks it",
      (how) =>
        Effect.gen(function*() {
          const whole = gzipSync(JSON.stringify({ ...job, filler: "0123456789".repeat(500) }), { level: 0 })
          const body = how === "cut off"
            ? whole.subarray(0, whole.length - 40)
            : Buffer.concat([whole.subarray(0, 2000), Buffer.from("damaged"), whole.subarray(2007)])
          const result = yield* exported(network, responseBytes(200, { "content-encoding": "gzip" }, body))
          assert.include(["UnexpectedResponse", "TransportError"], Either.getOrThrow(Either.flip(result))._tag)
        })
    )

    it.scopedLive("an error response in corrupt gzip keeps its status", () =>
      Effect.gen(function*() {
        const body = gzipSync("x".repeat(5000), { level: 0 }).subarray(0, 100)
        const result = yield* exported(network, responseBytes(400, { "content-encoding": "gzip" }, body))
        assert.instanceOf(Either.getOrThrow(Either.flip(result)), Errors.BadRequest)
      }))

    it.scopedLive("an endless error response keeps its status, and the connection is closed", () =>
      Effect.gen(function*() {
        const { cut, server } = yield* endlessServer(500)
        const result = yield* Effect.either(createUsersExport({})).pipe(Effect.provide(over(network, server.url)))
        const { reason, shape, status } = unexpected(result)
        assert.deepStrictEqual([status, reason, shape], [500, "status", "text/plain, more than 65536 bytes"])
        yield* Deferred.await(cut)
      }))

    it.scopedLive("an endless response of an operation without a value is a success, and the connection is closed", () =>
      Effect.gen(function*() {
        const { cut, server } = yield* endlessServer(202)
        assert.isUndefined(yield* redeliverEvent({ id, event_id: id }).pipe(Effect.provide(over(network, server.url))))
        yield* Deferred.await(cut)
      }))

    it.scopedLive("64 KiB of an endless error response are kept", () =>
      Effect.gen(function*() {
        const { server } = yield* endlessServer(400)
        const result = yield* Effect.either(createUsersExport({})).pipe(Effect.provide(over(network, server.url)))
        const { raw } = Either.getOrThrow(Either.flip(result)) as Errors.BadRequest
        assert.strictEqual(raw && Redacted.value(raw).length, 65536)
      }))

    it.scopedLive("an interrupted success of a change is TransportError with outcome done, unless it may be a proxy's", () =>
      Effect.gen(function*() {
        const isDone = {
          "application/json": true,
          "application/json; charset=utf-8": true,
          "text/plain": false,
          "text/html": false
        }
        for (const [type, done] of Object.entries(isDone)) {
          const head = { "content-type": type, "content-length": "1000" }
          const server = yield* rawServer((_, socket) => socket.end(responseBytes(200, head, "{\"id\":")))
          const { host } = new URL(server.url)
          const result = yield* Effect.either(createUsersExport({})).pipe(Effect.provide(over(network, server.url)))
          const error = Either.getOrThrow(Either.flip(result))
          assert.instanceOf(error, Errors.TransportError)
          assert.deepInclude(error, {
            outcome: done ? "done" : "unknown",
            message: `createUsersExport: ${done ? "the change was carried out, but " : ""}the connection to ${host} ` +
              "broke while the response was read (status 200)"
          })
        }
      }))

    it.scopedLive("an interrupted success is not corrupt gzip, whatever is in the URL", () =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) =>
          socket.end(responseBytes(200, { "content-length": "1000" }, "{"))
        )
        const error = yield* Effect.flip(call(listActionVersions, { actionId: "decompress" })).pipe(
          Effect.provide(over(network, server.url))
        )
        assert.instanceOf(error, Errors.TransportError)
      }))

    it.scopedLive("an interrupted success of an operation without a schema is a success", () =>
      Effect.gen(function*() {
        const bytes = responseBytes(202, { "content-length": "1000" }, "{")
        const server = yield* rawServer((_, socket) => socket.end(bytes))
        yield* redeliverEvent({ id, event_id: id }).pipe(Effect.provide(over(network, server.url)))
        assert.lengthOf(server.requests, 1)
      }))

    it.scopedLive("an interrupted error response keeps its status", () =>
      Effect.gen(function*() {
        for (const type of ["text/plain", "application/json"]) {
          const head = { "content-type": type, "content-length": "1000" }
          const error = unexpected(yield* exported(network, responseBytes(502, head, "Bad"), true))
          assert.deepStrictEqual([error.status, error.shape], [502, `${type}, 3 bytes, interrupted`])
        }
      }))

    it.scopedLive("the path of an operation is sent as URL parsers write it", () =>
      Effect.gen(function*() {
        const odd = Operation.make("odd", () => ({
          method: "GET",
          path: "/ä b/:straße",
          params: { straße: Schema.String },
          scope: "read:odd",
          idempotent: true,
          error: [Errors.RateLimited]
        }))
        const server = yield* rawServer((_, socket) => socket.write(responseBytes(204, {}, "")))
        yield* Effect.provide(odd({ straße: "x" }), over(network, server.url))
        assert.include(JSON.stringify(server.requests[0]), "/%C3%A4%20b/x")
      }))

    it.scopedLive("an interrupted web page is not a success, even without a schema", () =>
      Effect.gen(function*() {
        const page = responseBytes(
          200,
          { "content-type": "text/html", "content-length": "5000" },
          "<!DOCTYPE html><title>Hi"
        )
        const server = yield* rawServer((_, socket) => socket.end(page))
        const result = yield* Effect.either(call(deleteEventStream, { id })).pipe(
          Effect.provide(over(network, server.url))
        )
        assert.strictEqual(unexpected(result).reason, "html")
      }))

    it.scopedLive("a response is decoded up to maxBodySize, and refused beyond", () =>
      Effect.gen(function*() {
        const large = { ...job, more: "x".repeat(3_000_000) }
        const bytes = responseBytes(200, { "content-type": "application/json" }, JSON.stringify(large))
        assert.deepStrictEqual(Either.getOrThrow(yield* exported(network, bytes)), large)
        // The rest never comes: the client knows before that it is too much.
        const server = yield* rawServer((_, socket) => socket.write(bytes.subarray(0, 2_500_000)))
        const client = IdentityClient.layer({ baseUrl: server.url, maxBodySize: 2_000_000 }).pipe(
          Layer.provide([RateLimiter.layerUnlimited, bearer, network])
        )
        const error = unexpected(yield* Effect.either(createUsersExport({})).pipe(Effect.provide(client)))
        assert.deepInclude(error, {
          reason: "size",
          message: `createUsersExport: status 200 from ${
            new URL(server.url).host
          }: the change was carried out, but its response cannot be used: the response body is larger than maxBodySize`
        })
      }))

    it.scopedLive("a byte order mark is ignored", () =>
      Effect.gen(function*() {
        const result = yield* exported(network, responseBytes(200, {}, `\uFEFF${JSON.stringify(job)}`))
        assert.deepStrictEqual(Either.getOrThrow(result), job)
      }))

    it.scopedLive("a success that is not UTF-8 is UnexpectedResponse with reason encoding", () =>
      Effect.gen(function*() {
        const error = unexpected(
          yield* exported(network, responseBytes(200, {}, Buffer.from(JSON.stringify(job), "latin1")))
        )
        assert.strictEqual(error.reason, "encoding")
      }))

    it.scopedLive("an error response that is not UTF-8 is read as far as possible", () =>
      Effect.gen(function*() {
        const body = Buffer.from("{\"message\":\"Gr\xF6\xDFe\"}", "latin1")
        const result = yield* exported(network, responseBytes(400, {}, body))
        assert.strictEqual(Either.getOrThrow(Either.flip(result)).message, "createUsersExport: Gr\uFFFD\uFFFDe")
      }))

    it.scopedLive.each([300, 301, 302, 303, 307, 308])("%i is not followed", (status) =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.write(responseBytes(status, { location: "/elsewhere" })))
        yield* Effect.forEach(operations, (operation) =>
          Effect.gen(function*() {
            const error = yield* Effect.flip(call(operation, sample(operation)))
            assert.instanceOf(error, Errors.UnexpectedResponse)
            assert.deepInclude(error, { reason: "redirect", status })
          })).pipe(Effect.provide(over(network, server.url)))
        assert.lengthOf(server.requests, operations.length)
      }))

    it.scopedLive("the rate-limit headers are read in upper and lower case, with spaces around the values", () =>
      Effect.gen(function*() {
        const headers = { "X-RATELIMIT-LIMIT": "50 ", "x-ratelimit-remaining": "0", "X-RateLimit-Reset": "1700000000" }
        const server = yield* rawServer((_, socket) => socket.write(responseBytes(429, headers)))
        const error = yield* Effect.flip(call(deleteEventStream, { id })).pipe(
          Effect.provide(over(network, server.url))
        )
        assert.deepInclude(error, { limit: 50, remaining: 0 })
      }))

    it.scopedLive("a refused connection is `not-sent`", () =>
      Effect.gen(function*() {
        const { url } = yield* Effect.scoped(rawServer(() => {}))
        const error = yield* Effect.flip(call(deleteEventStream, { id })).pipe(Effect.provide(over(network, url)))
        assert.instanceOf(error, Errors.TransportError)
        assert.deepInclude(error, { outcome: "not-sent", code: "ECONNREFUSED" })
        assert.strictEqual(
          (error as Errors.TransportError).message,
          `deleteEventStream: ${new URL(url).host} could not be reached (ECONNREFUSED)`
        )
      }))

    it.scopedLive("a failed TLS handshake is `not-sent`", () =>
      Effect.gen(function*() {
        const server = yield* rawServer(() => {}, (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
        const error = yield* Effect.flip(call(redeliverEvent, { id, event_id: id })).pipe(
          Effect.provide(over(network, `https://127.0.0.1:${server.port}`))
        )
        assert.deepInclude(error, { _tag: "TransportError", outcome: "not-sent" })
      }))

    it.scopedLive("a connection that is reset after the request is `unknown`", () =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.resetAndDestroy())
        const error = yield* Effect.flip(call(redeliverEvent, { id, event_id: id })).pipe(
          Effect.provide(over(network, server.url))
        )
        assert.instanceOf(error, Errors.TransportError)
        assert.deepInclude(error, { outcome: "unknown", code: "ECONNRESET" })
        assert.lengthOf(server.requests, 1)
      }))

    it.scopedLive("a connection that is closed without a response is `unknown`", () =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.end())
        const error = yield* Effect.flip(call(redeliverEvent, { id, event_id: id })).pipe(
          Effect.provide(over(network, server.url))
        )
        assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown", code: "UND_ERR_SOCKET" })
      }))

    it.scopedLive("a response that is not HTTP is `unknown`, not a defect", () =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.end("220 mail.example.com ESMTP\r\n"))
        const error = yield* Effect.flip(call(deleteEventStream, { id })).pipe(
          Effect.provide(over(network, server.url))
        )
        assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown" })
      }))

    it.scopedLive("a time-out while the body is read closes the connection", () =>
      Effect.gen(function*() {
        const cut = yield* Deferred.make<void>()
        const server = yield* rawServer((_, socket) => {
          socket.on("close", () => Deferred.unsafeDone(cut, Effect.void))
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12")
        })
        const error = yield* Effect.flip(IdentityClient.withTimeout(call(createUsersExport, {}), "50 millis")).pipe(
          Effect.provide(over(network, server.url))
        )
        assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown", code: "TIMEOUT" })
        yield* Deferred.await(cut)
      }))

    it.scopedLive("a connection is reused after its response was read to the end", () =>
      Effect.gen(function*() {
        const ports = new Set<number | undefined>()
        const server = yield* rawServer((_, socket) => {
          ports.add(socket.remotePort)
          socket.write(responseBytes(404, {}, "not found"))
        })
        yield* Effect.exit(call(redeliverEvent, { id, event_id: id })).pipe(
          Effect.repeatN(19),
          Effect.provide(over(network, server.url))
        )
        assert.lengthOf(server.requests, 20)
        assert.isAtMost(ports.size, 3)
      }))
  })
}
