/** What becomes of an answer: over real sockets, whole, packed, broken, endless; and of no answer at all. */
import { FetchHttpClient, HttpClient, HttpClientError } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Layer, Redacted, Schema, Stream } from "effect"
import { gzipSync } from "node:zlib"
import {
  createUsersExport,
  deleteEventStream,
  Errors,
  IdentityClient,
  listActionVersions,
  Operation,
  RateLimiter,
  redeliverEvent,
  updateTokenExchangeProfile
} from "../../src/index.js"
import { concat } from "../../src/internal/http/body.js"
import { codeOf, completenessOf } from "../../src/internal/http/transportFailure.js"
import * as Node from "../../src/Node.js"
import * as Testing from "../../src/Testing.js"
import { bearer, call, failed, over, resultOf, token } from "../support/client.js"
import { operations, sample, type Subject } from "../support/operations.js"
import { answer, rawServer } from "../support/rawServer.js"

const id = "est_1234567890123456789012"
const job = { id: "job_0000000000000001", type: "users_export", status: "pending", connection: "größe" }

const networks: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["undici", NodeHttpClient.layerUndici],
  ["fetch", FetchHttpClient.layer],
  ["lean", Layer.orDie(Node.layerHttpClient())]
]

/** What an export gives when a server answers with these bytes, and then ends the connection or does not. */
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

/** The head of an answer with a body that is told to be endless. */
const endless = (status: number) =>
  `HTTP/1.1 ${status} Reason\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n`
const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`

/** A server that never ends its answers; tells when its connection was cut. */
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
    it.scopedLive("a whole answer is decoded", () =>
      Effect.gen(function*() {
        const result = yield* exported(
          network,
          answer(200, { "content-type": "application/json" }, JSON.stringify(job))
        )
        assert.deepStrictEqual(Either.getOrThrow(result), job)
      }))

    it.scopedLive("an answer in chunks, a character broken between two, is put together", () =>
      Effect.gen(function*() {
        const bytes = Buffer.from(JSON.stringify(job))
        const at = bytes.indexOf("ö") + 1
        const parts = [bytes.subarray(0, at), bytes.subarray(at), Buffer.alloc(0)]
        const body = Buffer.concat(
          parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")])
        )
        const result = yield* exported(network, answer(200, { "transfer-encoding": "chunked" }, body))
        assert.deepStrictEqual(Either.getOrThrow(result), job)
      }))

    it.scopedLive("gzip is unpacked", () =>
      Effect.gen(function*() {
        const body = gzipSync(JSON.stringify(job))
        const result = yield* exported(network, answer(200, { "content-encoding": "gzip" }, body))
        assert.deepStrictEqual(Either.getOrThrow(result), job)
      }))

    it.scopedLive("gzip that no header tells of is unpacked", () =>
      Effect.gen(function*() {
        const result = yield* exported(network, answer(200, {}, gzipSync(JSON.stringify(job))))
        assert.deepStrictEqual(Either.getOrThrow(result), job)
      }))

    it.scopedLive("a failure in gzip is read", () =>
      Effect.gen(function*() {
        const body = gzipSync(JSON.stringify({ message: "A reason." }))
        const result = yield* exported(network, answer(400, { "content-encoding": "gzip" }, body))
        assert.strictEqual(Either.getOrThrow(Either.flip(result)).message, "A reason.")
      }))

    it.scopedLive.each(["cut off", "damaged"])(
      "gzip that is %s is a failure, whoever unpacks it",
      (how) =>
        Effect.gen(function*() {
          const whole = gzipSync(JSON.stringify({ ...job, filler: "0123456789".repeat(500) }), { level: 0 })
          const body = how === "cut off"
            ? whole.subarray(0, whole.length - 40)
            : Buffer.concat([whole.subarray(0, 2000), Buffer.from("damaged"), whole.subarray(2007)])
          const result = yield* exported(network, answer(200, { "content-encoding": "gzip" }, body))
          assert.include(["UnexpectedResponse", "TransportError"], Either.getOrThrow(Either.flip(result))._tag)
        })
    )

    it.scopedLive("a failure in gzip that is broken keeps its status", () =>
      Effect.gen(function*() {
        const body = gzipSync("x".repeat(5000), { level: 0 }).subarray(0, 100)
        const result = yield* exported(network, answer(400, { "content-encoding": "gzip" }, body))
        assert.instanceOf(Either.getOrThrow(Either.flip(result)), Errors.BadRequest)
      }))

    it.scopedLive("an endless failure keeps its status, and the connection is cut", () =>
      Effect.gen(function*() {
        const { cut, server } = yield* endlessServer(500)
        const result = yield* Effect.either(createUsersExport({})).pipe(Effect.provide(over(network, server.url)))
        const { reason, shape, status } = unexpected(result)
        assert.deepStrictEqual([status, reason, shape], [500, "status", "text/plain, more than 65536 bytes"])
        yield* Deferred.await(cut)
      }))

    it.scopedLive("an endless answer where none is promised is success, and the connection is cut", () =>
      Effect.gen(function*() {
        const { cut, server } = yield* endlessServer(202)
        yield* redeliverEvent({ id, event_id: id }).pipe(Effect.provide(over(network, server.url)))
        yield* Deferred.await(cut)
      }))

    it.scopedLive("of an endless failure 64 KiB are kept", () =>
      Effect.gen(function*() {
        const { server } = yield* endlessServer(400)
        const result = yield* Effect.either(createUsersExport({})).pipe(Effect.provide(over(network, server.url)))
        const { raw } = Either.getOrThrow(Either.flip(result)) as Errors.BadRequest
        assert.strictEqual(raw && Redacted.value(raw).length, 65536)
      }))

    it.scopedLive("a success that breaks off is TransportError: the service has acted, perhaps", () =>
      Effect.gen(function*() {
        for (const type of ["text/plain", "application/json"]) {
          const head = { "content-type": type, "content-length": "1000" }
          const result = yield* exported(network, answer(200, head, "{\"id\":"), true)
          const error = Either.getOrThrow(Either.flip(result))
          assert.instanceOf(error, Errors.TransportError)
          assert.deepInclude(error, {
            outcome: "unknown",
            message: "the connection broke while the response was read (status 200)"
          })
        }
      }))

    it.scopedLive("a success that breaks off is no broken gzip, whatever is in the URL", () =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.end(answer(200, { "content-length": "1000" }, "{")))
        const error = yield* Effect.flip(call(listActionVersions, { actionId: "decompress" })).pipe(
          Effect.provide(over(network, server.url))
        )
        assert.instanceOf(error, Errors.TransportError)
      }))

    it.scopedLive("a success that breaks off where no value is promised is a success", () =>
      Effect.gen(function*() {
        const bytes = answer(202, { "content-length": "1000" }, "{")
        const server = yield* rawServer((_, socket) => socket.end(bytes))
        yield* redeliverEvent({ id, event_id: id }).pipe(Effect.provide(over(network, server.url)))
        assert.lengthOf(server.requests, 1)
      }))

    it.scopedLive("a failure that breaks off keeps its status", () =>
      Effect.gen(function*() {
        for (const type of ["text/plain", "application/json"]) {
          const head = { "content-type": type, "content-length": "1000" }
          const error = unexpected(yield* exported(network, answer(502, head, "Bad"), true))
          assert.deepStrictEqual([error.status, error.shape], [502, `${type}, 3 bytes, interrupted`])
        }
      }))

    it.scopedLive("an operation's path is sent as URLs are written", () =>
      Effect.gen(function*() {
        const odd = Operation.make("odd", {
          method: "GET",
          path: "/ä b/:straße",
          params: { straße: Schema.String },
          scope: "read:odd",
          idempotent: true,
          error: [Errors.RateLimited]
        })
        const server = yield* rawServer((_, socket) => socket.write(answer(204, {}, "")))
        yield* Effect.provide(odd({ straße: "x" }), over(network, server.url))
        assert.include(JSON.stringify(server.requests[0]), "/%C3%A4%20b/x")
      }))

    it.scopedLive("a page that breaks off is no success, even where nothing is promised", () =>
      Effect.gen(function*() {
        const page = answer(200, { "content-type": "text/html", "content-length": "5000" }, "<!DOCTYPE html><title>Hi")
        const server = yield* rawServer((_, socket) => socket.end(page))
        const result = yield* Effect.either(call(deleteEventStream, { id })).pipe(
          Effect.provide(over(network, server.url))
        )
        assert.strictEqual(unexpected(result).reason, "html")
      }))

    it.scopedLive("a large answer is decoded, and none that is larger than allowed", () =>
      Effect.gen(function*() {
        const large = { ...job, more: "x".repeat(3_000_000) }
        const bytes = answer(200, { "content-type": "application/json" }, JSON.stringify(large))
        assert.deepStrictEqual(Either.getOrThrow(yield* exported(network, bytes)), large)
        // The rest never comes: that it would be too much is clear before.
        const server = yield* rawServer((_, socket) => socket.write(bytes.subarray(0, 2_500_000)))
        const client = IdentityClient.layer({ baseUrl: server.url, maxBodySize: 2_000_000 }).pipe(
          Layer.provide([RateLimiter.layerUnlimited, bearer, network])
        )
        const error = unexpected(yield* Effect.either(createUsersExport({})).pipe(Effect.provide(client)))
        assert.deepInclude(error, { reason: "size", message: "the response body is larger than maxBodySize" })
      }))

    it.scopedLive("a byte order mark is no part of the JSON", () =>
      Effect.gen(function*() {
        const result = yield* exported(network, answer(200, {}, `\uFEFF${JSON.stringify(job)}`))
        assert.deepStrictEqual(Either.getOrThrow(result), job)
      }))

    it.scopedLive("what is not UTF-8 is UnexpectedResponse of reason encoding, never changed silently", () =>
      Effect.gen(function*() {
        const error = unexpected(yield* exported(network, answer(200, {}, Buffer.from(JSON.stringify(job), "latin1"))))
        assert.strictEqual(error.reason, "encoding")
      }))

    it.scopedLive("a failure that is not UTF-8 is read as far as it can be", () =>
      Effect.gen(function*() {
        const body = Buffer.from("{\"message\":\"Gr\xF6\xDFe\"}", "latin1")
        const result = yield* exported(network, answer(400, {}, body))
        assert.strictEqual(Either.getOrThrow(Either.flip(result)).message, "Gr\uFFFD\uFFFDe")
      }))

    it.scopedLive.each([300, 301, 302, 303, 307, 308])("%i is not followed", (status) =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.write(answer(status, { location: "/elsewhere" })))
        yield* Effect.forEach(operations, (operation) =>
          Effect.gen(function*() {
            const error = yield* Effect.flip(call(operation, sample(operation)))
            assert.instanceOf(error, Errors.UnexpectedResponse)
            assert.deepInclude(error, { reason: "redirect", status })
          })).pipe(Effect.provide(over(network, server.url)))
        assert.lengthOf(server.requests, operations.length)
      }))

    it.scopedLive("the headers of the rate limit are read in any case, with spaces around them", () =>
      Effect.gen(function*() {
        const headers = { "X-RATELIMIT-LIMIT": "50 ", "x-ratelimit-remaining": "0", "X-RateLimit-Reset": "1700000000" }
        const server = yield* rawServer((_, socket) => socket.write(answer(429, headers)))
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
        assert.strictEqual((error as Errors.TransportError).message, "the service could not be reached (ECONNREFUSED)")
      }))

    it.scopedLive("a TLS handshake that fails is `not-sent`", () =>
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

    it.scopedLive("a connection that is closed without an answer is `unknown`", () =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.end())
        const error = yield* Effect.flip(call(redeliverEvent, { id, event_id: id })).pipe(
          Effect.provide(over(network, server.url))
        )
        assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown", code: "UND_ERR_SOCKET" })
      }))

    it.scopedLive("an answer that is no HTTP is `unknown`, not a defect", () =>
      Effect.gen(function*() {
        const server = yield* rawServer((_, socket) => socket.end("220 mail.example.com ESMTP\r\n"))
        const error = yield* Effect.flip(call(deleteEventStream, { id })).pipe(
          Effect.provide(over(network, server.url))
        )
        assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown" })
      }))

    it.scopedLive("time that runs out interrupts the exchange: the connection is cut", () =>
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

    it.scopedLive("a connection whose answer was read to its end serves the next call", () =>
      Effect.gen(function*() {
        const ports = new Set<number | undefined>()
        const server = yield* rawServer((_, socket) => {
          ports.add(socket.remotePort)
          socket.write(answer(404, {}, "not found"))
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

describe("an answer", () => {
  const packed = gzipSync(JSON.stringify({ ...job, filler: "0123456789".repeat(500) }), { level: 0 })

  it.effect.each(
    [
      ["cut off", packed.subarray(0, packed.length - 40)],
      ["damaged", Buffer.concat([packed.subarray(0, 2000), Buffer.from("damaged"), packed.subarray(2007)])]
    ] as const
  )("of gzip that is %s is UnexpectedResponse of reason encoding", ([, body]) =>
    Effect.gen(function*() {
      const error = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
      assert.deepStrictEqual([error.status, error.reason, error.shape.includes("corrupt gzip")], [
        200,
        "encoding",
        true
      ])
    }))

  it.effect("of gzip that unpacks to more than is accepted is UnexpectedResponse of reason size", () =>
    Effect.gen(function*() {
      const body = new Uint8Array(gzipSync(Buffer.alloc(64 * 1024 * 1024 + 1, 0x20)))
      const error = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
      assert.deepInclude(error, { reason: "size", status: 200, shape: "no content type, more than 67108864 bytes" })
    }))

  it.effect("of exactly what is accepted where nothing is decoded is whole", () =>
    Effect.gen(function*() {
      const error = yield* failed(
        deleteEventStream,
        { id },
        Testing.reply({ status: 500, body: new Uint8Array(65536) })
      )
      assert.deepInclude(error, { shape: "no content type, 65536 bytes" })
    }))

  it.effect.each([
    ["[]", ""],
    ["7", ""],
    ["\"text\"", ""],
    ["true", ""],
    ["", ""],
    ["null", ""],
    ["{}", "id"],
    ["{\"id\":7,\"type\":\"t\",\"status\":\"s\"}", "id"],
    ["{\"id\":\"1\",\"type\":\"t\",\"status\":\"s\",\"fields\":[{\"name\":\"a\"},{\"name\":7}]}", "fields[1].name"],
    ["{\"id\":\"1\",\"type\":\"t\",\"status\":\"s\",\"limit\":\"7\",\"created_at\":null}", "limit"]
  ])("%s is not as promised, and the first bad member is named", ([body = "", path = ""]) =>
    Effect.gen(function*() {
      const error = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
      assert.deepStrictEqual([error._tag, error.reason, error.path ?? ""], ["UnexpectedResponse", "schema", path])
      assert.deepStrictEqual(Object.entries(error).filter(([, value]) => value === undefined), [])
      assert.isTrue(
        error.message.startsWith(path === "" ? "unexpected response body: " : `unexpected response body at ${path}: `),
        error.message
      )
    }))

  const page = Buffer.from("<title lang=de>Gr\xF6\xDFe</title>", "latin1")

  it.effect.each(
    [
      ["html", createUsersExport, {}, { body: page }, "a web page"],
      ["html", deleteEventStream, { id }, { body: page }, "a web page"],
      ["html", deleteEventStream, { id }, { body: Buffer.concat([Buffer.from("\r\n\t "), page]) }, "a web page"],
      ["encoding", createUsersExport, {}, { body: Buffer.from("\"Gr\xF6\xDFe\"", "latin1") }, "not valid UTF-8"],
      ["json", createUsersExport, {}, { body: "OK" }, "not JSON"],
      ["json", createUsersExport, {}, { body: "1<2" }, "not JSON"],
      ["redirect", createUsersExport, {}, { status: 302 }, "a redirect"]
    ] as const
  )("%#: reason %s, and the message says so", ([reason, operation, input, reply, message]) =>
    Effect.gen(function*() {
      const error = (yield* failed(operation, input, Testing.reply(reply))) as Errors.UnexpectedResponse
      assert.strictEqual(error.reason, reason)
      assert.include(error.message, message)
      if (reason === "html") assert.include(error.shape, "a web page titled \"Gr\uFFFD\uFFFDe\"")
    }))

  it.effect("that is a web page is told by its title only if that is near the beginning", () =>
    Effect.gen(function*() {
      for (const [before, isTold] of [[16_000, true], [17_000, false]] as const) {
        const body = `<!--${" ".repeat(before)}--><title>Sorry</title>`
        const { shape } = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
        assert.strictEqual(shape.includes("Sorry"), isTold)
      }
    }))

  it.effect("that is no success is not decoded, be it as near as 300", () =>
    Effect.gen(function*() {
      const reply = Testing.reply({ status: 300, body: new Uint8Array(70_000) })
      const shape = "no content type, more than 65536 bytes"
      assert.deepInclude(yield* failed(createUsersExport, {}, reply), { reason: "redirect", shape })
    }))

  it.effect.each(["\x1F is no gzip", "\u010B is none either"])(
    "that begins as gzip by half is text: %j",
    (body) =>
      Effect.gen(function*() {
        const { raw } =
          (yield* failed(createUsersExport, {}, Testing.reply({ status: 400, body }))) as Errors.BadRequest
        assert.strictEqual(raw && Redacted.value(raw), body)
      })
  )

  it.effect("that is no JSON is UnexpectedResponse of reason json", () =>
    Effect.gen(function*() {
      for (const body of ["OK", "{\"id\":", "{id:1}", "\u00A0{}x"]) {
        assert.deepInclude(yield* failed(createUsersExport, {}, Testing.reply({ body })), {
          reason: "json",
          status: 200
        })
      }
    }))

  it.effect("names the service's request identifier, whichever header brings it", () =>
    Effect.forEach(["x-auth0-requestid", "x-request-id", "x-correlation-id"], (name) =>
      Effect.gen(function*() {
        const reply = Testing.reply({ status: 400, headers: { [name]: "request-1" } })
        assert.deepInclude(yield* failed(createUsersExport, {}, reply), { requestId: "request-1" })
      })))

  it.effect("that the operation accepts but cannot be decoded carries what a failure carries", () =>
    Effect.gen(function*() {
      const headers = { "x-request-id": "request-1", "retry-after": "7", "content-type": "application/json" }
      const error = yield* failed(createUsersExport, {}, Testing.reply({ headers, body: "{\"errorCode\":\"a_code\"}" }))
      const { contentType, errorCode, raw, requestId, retryAfter, shape } = error as Errors.UnexpectedResponse
      assert.deepStrictEqual(
        [contentType, errorCode, requestId, String(retryAfter), raw && Redacted.value(raw), shape],
        [
          "application/json",
          "a_code",
          "request-1",
          "Duration(7s)",
          "{\"errorCode\":\"a_code\"}",
          "application/json, 22 bytes, an object of errorCode"
        ]
      )
    }))

  it.effect("of many members is told by the first twenty", () =>
    Effect.gen(function*() {
      const body = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`m${index}`, index]))
      const { shape } = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
      assert.deepStrictEqual([shape.includes("m19"), shape.includes("m20")], [true, false])
    }))

  it.effect("is told by those of its members' names that are no content", () =>
    Effect.gen(function*() {
      const names = ["items_2b", "x".repeat(40), "x".repeat(41), "jane@example.com", "1st", "u1234", "a1-", "é"]
      const body = Object.fromEntries(names.map((name) => [name, 0]))
      const { shape } = (yield* failed(createUsersExport, {}, Testing.reply({ body }))) as Errors.UnexpectedResponse
      assert.include(shape, `an object of items_2b, ${"x".repeat(40)}, *, *, *, *, *, *`)
    }))

  it.effect("may hold members that have names of JavaScript's own", () =>
    Effect.gen(function*() {
      const body =
        `{"id":"1","type":"t","status":"s","created_at":null,"__proto__":{"a":1},"constructor":null,"toString":7}`
      const found = (yield* resultOf(createUsersExport, {}, Testing.reply({ body }))) as object
      assert.deepStrictEqual(Object.keys(found).sort(), [
        "__proto__",
        "constructor",
        "id",
        "status",
        "toString",
        "type"
      ])
      assert.strictEqual(Object.getPrototypeOf(found), Object.prototype)
    }))
})

describe("nulls of members that may be missing", () => {
  interface Tree {
    readonly name?: string
    readonly children?: ReadonlyArray<Tree>
  }
  const Tree: Schema.Schema<Tree> = Schema.Struct({
    name: Schema.optionalWith(Schema.String, { exact: true }),
    children: Schema.optionalWith(Schema.Array(Schema.suspend((): Schema.Schema<Tree> => Tree)), { exact: true })
  })
  const list = Operation.make("list", {
    method: "GET",
    path: "/trees",
    success: Schema.Struct({
      tree: Tree.pipe(Schema.filter(() => true)),
      either: Schema.Union(Schema.Struct({ a: Schema.optionalWith(Schema.Number, { exact: true }) }), Schema.String),
      pair: Schema.Tuple(Schema.NullOr(Schema.String), Schema.Number),
      nothing: Schema.NullOr(Schema.String)
    }),
    scope: "read:trees",
    idempotent: true,
    error: [Errors.RateLimited]
  })
  const body = { tree: {}, either: "text", pair: [null, 1], nothing: null }

  it.effect.each(
    [
      [{ tree: { name: null, children: [{ name: null }, { name: "x", children: null }] } }, {
        tree: { children: [{}, { name: "x" }] }
      }],
      [{ either: { a: null } }, { either: {} }],
      [{ tree: { name: null }, pair: [null, 1], nothing: null }, {}]
    ] as const
  )("%#: are removed through every kind of schema, and others stay", ([holed, clean]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* resultOf(list, {}, Testing.reply({ body: { ...body, ...holed } })), {
        ...body,
        ...clean
      })
    }))

  it.effect.each(
    [[{ tree: { children: {} } }, "tree"], [{ tree: { children: 7 } }, "tree"], [{ either: null }, "either"]] as const
  )(
    "%#: what is wrong besides stays wrong",
    ([wrong, path]) =>
      Effect.gen(function*() {
        const error = yield* failed(
          list,
          {},
          Testing.reply({ body: { ...body, ...wrong, tree: { name: null, ...("tree" in wrong ? wrong.tree : {}) } } })
        )
        assert.isTrue((error as Errors.UnexpectedResponse).path?.startsWith(path))
      })
  )
})

describe("no answer", () => {
  /** A network on which every request fails so. */
  const failing = (cause: unknown, reason: HttpClientError.RequestError["reason"] = "Transport") =>
    Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make((request) =>
        Effect.fail(new HttpClientError.RequestError({ request, reason, cause, description: `about ${token}` }))
      )
    )
  const outcome = (cause: unknown, reason?: HttpClientError.RequestError["reason"]) =>
    Effect.map(
      Effect.flip(call(deleteEventStream, { id })).pipe(Effect.provide(over(failing(cause, reason)))),
      (error) => {
        assert.instanceOf(error, Errors.TransportError)
        const { code, message, outcome } = error as Errors.TransportError
        return { code, message, outcome }
      }
    )
  const system = (code: string, more: object = {}) => Object.assign(new Error(`about ${token}`), { code, ...more })

  it.effect.each([
    "ECONNREFUSED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "UND_ERR_CONNECT_TIMEOUT",
    "CERT_HAS_EXPIRED",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE",
    "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
    "ERR_SSL_UNSUPPORTED_PROTOCOL",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
  ])("%s is `not-sent`", (code) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* outcome(new TypeError("fetch failed", { cause: system(code) })), {
        code,
        outcome: "not-sent",
        message: `the service could not be reached (${code})`
      })
    }))

  it.effect.each([
    "ECONNRESET",
    "EPIPE",
    "ETIMEDOUT",
    "UND_ERR_SOCKET",
    "UND_ERR_HEADERS_TIMEOUT",
    "ABORT_ERR",
    "ECONNREFUSED_NOT"
  ])(
    "%s is `unknown`",
    (code) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcome(system(code)), {
          code,
          outcome: "unknown",
          message: `the service did not respond (${code})`
        })
      })
  )

  it.effect.each([
    "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC",
    "ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC",
    "ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR"
  ])("%s may come after the handshake, so it is `unknown`", (code) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* outcome(system(code))).outcome, "unknown")
    }))

  it.effect.each(["connect", "getaddrinfo"])("whatever fails in %s is `not-sent`", (syscall) =>
    Effect.gen(function*() {
      const { code, outcome: found } = yield* outcome(new Error("x", { cause: system("ETIMEDOUT", { syscall }) }))
      assert.deepStrictEqual([code, found], ["ETIMEDOUT", "not-sent"])
    }))

  it.effect("what fails in reading or writing is `unknown`", () =>
    Effect.forEach(["read", "write"], (syscall) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* outcome(system("ECONNRESET", { syscall }))).outcome, "unknown")
      })))

  it.effect.each(["Encode", "InvalidUrl"] as const)(
    "a request that fails as %s is `not-sent`",
    (reason) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcome(undefined, reason), {
          code: undefined,
          outcome: "not-sent",
          message: "the service could not be reached"
        })
      })
  )

  it.effect("the innermost code is told", () =>
    Effect.gen(function*() {
      const { code } = yield* outcome(Object.assign(new Error("x", { cause: system("ECONNRESET") }), { code: "OUTER" }))
      assert.strictEqual(code, "ECONNRESET")
    }))

  it.effect.each([undefined, null, "text", 7, {}, { code: 7 }, { code: `about ${token}` }, { code: "" }, {
    cause: "x"
  }])(
    "%#: a cause without a code is `unknown`, and nothing of it is told",
    (cause) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcome(cause), {
          code: undefined,
          outcome: "unknown",
          message: "the service did not respond"
        })
      })
  )

  it("of several addresses that were tried the first one's is told", () => {
    const tried = new AggregateError([system("ECONNREFUSED", { syscall: "connect" }), system("ETIMEDOUT")])
    assert.strictEqual(codeOf(new TypeError("fetch failed", { cause: tried })), "ECONNREFUSED")
    assert.isUndefined(codeOf({ errors: undefined }))
  })

  it.effect("a cause that is its own cause is no trap", () =>
    Effect.gen(function*() {
      const cause = system("ECONNRESET")
      cause.cause = cause
      assert.strictEqual((yield* outcome(cause)).code, "ECONNRESET")
    }))

  it.effect("an answer that cannot be had is `unknown`, whatever its code", () =>
    Effect.gen(function*() {
      const network = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.fail(
            new HttpClientError.ResponseError({
              request,
              response: {} as HttpClientError.ResponseError["response"], // sound: nothing may look at it
              reason: "StatusCode",
              cause: system("ECONNREFUSED")
            })
          )
        )
      )
      const error = yield* Effect.flip(call(deleteEventStream, { id })).pipe(Effect.provide(over(network)))
      assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown" })
    }))
})

describe("an answer from elsewhere", () => {
  const fetched = (operation: Subject, response: Response) =>
    Effect.flip(call(operation, sample(operation))).pipe(
      Effect.provide(over(FetchHttpClient.layer)),
      Effect.provideService(FetchHttpClient.Fetch, () => Promise.resolve(response))
    )
  const redirected = (response: Response) => Object.defineProperty(response, "redirected", { value: true })

  it.effect("that a fetch of the user's own has followed to is UnexpectedResponse of reason redirect", () =>
    Effect.forEach(
      [updateTokenExchangeProfile, listActionVersions, deleteEventStream] as ReadonlyArray<Subject>,
      (operation) =>
        Effect.gen(function*() {
          assert.deepInclude(yield* fetched(operation, redirected(new Response("{}"))), {
            reason: "redirect",
            status: 200
          })
        })
    ))

  it.effect("that has no status is UnexpectedResponse of reason redirect", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* fetched(deleteEventStream, Response.error()), { reason: "redirect", status: 0 })
    }))
})

describe("a body", () => {
  it.effect("that is larger than it was told to be is not accepted if it is too large", () =>
    Effect.gen(function*() {
      const headers = { "content-type": "application/json", "content-length": "300" }
      const large = { ...job, more: "x".repeat(100_000) }
      const client = IdentityClient.layer({ baseUrl: "https://t.example.com", maxBodySize: 1000 }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, bearer, FetchHttpClient.layer])
      )
      const result = yield* Effect.either(createUsersExport({})).pipe(
        Effect.provide(client),
        Effect.provideService(
          FetchHttpClient.Fetch,
          () => Promise.resolve(new Response(JSON.stringify(large), { headers }))
        )
      )
      assert.strictEqual(unexpected(result).reason, "size")
    }))

  for (const [name, value] of [["content-encoding", "gzip"], ["transfer-encoding", "chunked"]] as const) {
    it.effect(`whose length is not what is told, because of its ${name}, is read no further than it is accepted`, () =>
      Effect.gen(function*() {
        let pieces = 0
        const endless = new ReadableStream<Uint8Array>({
          pull: (to) => pieces++ < 1000 ? to.enqueue(new Uint8Array(1000)) : to.close()
        })
        const headers = { "content-type": "application/json", "content-length": "300", [name]: value }
        const client = IdentityClient.layer({ baseUrl: "https://t.example.com", maxBodySize: 5000 }).pipe(
          Layer.provide([RateLimiter.layerUnlimited, bearer, FetchHttpClient.layer])
        )
        const result = yield* Effect.either(createUsersExport({})).pipe(
          Effect.provide(client),
          Effect.provideService(FetchHttpClient.Fetch, () => Promise.resolve(new Response(endless, { headers })))
        )
        assert.strictEqual(unexpected(result).reason, "size")
        assert.isBelow(pieces, 100)
      }))
  }

  it.effect("of exactly as many bytes as are accepted is whole", () =>
    Effect.gen(function*() {
      const body = JSON.stringify(job)
      const maxBodySize = Buffer.byteLength(body)
      const headers = { "content-type": "application/json", "content-length": String(maxBodySize) }
      const client = IdentityClient.layer({ baseUrl: "https://t.example.com", maxBodySize }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, bearer, Testing.layerHttp(Testing.reply({ headers, body }))])
      )
      assert.deepInclude(yield* Effect.provide(createUsersExport({}), client), { id: job.id })
    }))

  it.effect("that is gzip is unpacked, also when it is read at once", () =>
    Effect.gen(function*() {
      const body = gzipSync(JSON.stringify(job))
      const headers = { "content-type": "application/json", "content-length": String(body.length) }
      assert.deepInclude(yield* resultOf(createUsersExport, {}, Testing.reply({ headers, body })), { id: job.id })
    }))

  it.scopedLive("that is gzip and breaks off is told as that, and not unpacked", () =>
    Effect.gen(function*() {
      const body = gzipSync("{}").subarray(0, 12)
      const server = yield* rawServer((_, socket) =>
        socket.end(Buffer.concat([Buffer.from("HTTP/1.1 500 Reason\r\nContent-Length: 500\r\n\r\n"), body]))
      )
      const error = yield* Effect.flip(call(deleteEventStream, { id })).pipe(
        Effect.provide(over(NodeHttpClient.layerUndici, server.url))
      )
      assert.deepInclude(error, { shape: "no content type, 12 bytes, interrupted" })
    }))

  it("is known to be damaged by the codes of zlib, and no others that hold these letters", () => {
    const ends = ["Z_BUF_ERROR", "ZlibError", "BAZ_Z_ERROR", "OtherZlibError", "ZlibErrorOther"].map((code) =>
      completenessOf({ code })
    )
    assert.deepStrictEqual(ends, ["corrupt", "corrupt", "interrupted", "interrupted", "interrupted"])
  })

  it("is put together from no more of its pieces than are wanted", () => {
    const pieces = [[1, 2, 3], [4, 5, 6], [7, 8], [9]].map((piece) => Uint8Array.from(piece))
    for (const size of [0, 2, 3, 4, 6, 7, 9]) {
      assert.deepStrictEqual([...concat(pieces, size)], [1, 2, 3, 4, 5, 6, 7, 8, 9].slice(0, size))
    }
  })

  it.effect.each(
    [
      [Object.assign(new Error("incorrect header check"), { code: "Z_DATA_ERROR" }), "encoding"],
      [Object.assign(new Error("x"), { code: "ZlibError" }), "encoding"],
      [new TypeError("terminated", { cause: new Error("failed to decompress") }), "encoding"],
      [Object.assign(new Error("x"), { code: "UND_ERR_RES_EXCEEDED_MAX_SIZE" }), "size"],
      [Object.assign(new Error("x"), { code: "ECONNRESET" }), "TransportError"]
    ] as const
  )(
    "%#: that a platform cannot read is told by the cause, be it read at once or not",
    ([cause, expected]) =>
      Effect.forEach(
        [{}, { "content-type": "application/json", "content-length": "7" }],
        (headers) =>
          Effect.gen(function*() {
            const network = HttpClient.make((request) => {
              const error = new HttpClientError.ResponseError({
                request,
                response: {} as never,
                reason: "Decode",
                cause
              })
              const [stream, arrayBuffer] = [Stream.fail(error), Effect.fail(error)]
              return Effect.succeed({ request, status: 200, headers, stream, arrayBuffer } as never)
            })
            const error = yield* Effect.flip(call(createUsersExport, {})).pipe(
              Effect.provide(over(Layer.succeed(HttpClient.HttpClient, network)))
            )
            const told = error instanceof Errors.UnexpectedResponse ? error.reason : (error as Errors.ClientError)._tag
            assert.strictEqual(told, expected)
          })
      )
  )

  it.effect("that cannot be read at all is no defect", () =>
    Effect.gen(function*() {
      const network = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.succeed({
            request,
            status: 500,
            headers: {},
            stream: Stream.fail(
              new HttpClientError.ResponseError({ request, response: {} as never, reason: "EmptyBody" })
            )
          } as never)
        )
      )
      const error = yield* Effect.flip(call(deleteEventStream, { id })).pipe(Effect.provide(over(network)))
      assert.deepInclude(error, { status: 500, shape: "no content type, 0 bytes" })
    }))
})
