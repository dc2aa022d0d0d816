/** The lean transport: its connections, its options, its outcomes, and its use as a client of the platform. */
import { HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { Dispatcher } from "@effect/platform-node/Undici"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Exit, Fiber, Layer, Option, Scope, Stream, TestClock, Tracer } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { createServer as createHttpsServer } from "node:https"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import * as Errors from "../../src/Errors.js"
import * as IdentityClient from "../../src/IdentityClient.js"
import * as Collecting from "../../src/internal/http/collecting.js"
import * as Exchange from "../../src/internal/http/exchange.js"
import * as Timeouts from "../../src/internal/runtime/timeouts.js"
import * as Node from "../../src/Node.js"
import { collect } from "../../src/node/undiciDispatcher.js"
import { createUsersExport, deleteEventStream, listActionVersions } from "../../src/operations/index.js"
import * as Retry from "../../src/Retry.js"
import { cert, encryptedKey, key } from "../support/certificate.js"
import { over } from "../support/client.js"
import { reasonOf } from "../support/httpErrors.js"
import { rawServer, responseBytes } from "../support/rawServer.js"
import { json, listen } from "../support/tokenServer.js"

const id = "est_0123456789012345678901"
const good = responseBytes(200, { "content-type": "application/json" }, "{}")

/** Provides the client over a transport with these options. */
const lean = (url: string, options: Node.TransportOptions = {}) => over(Node.layerHttpClientWith(options), url)

/** Sends a request over a dispatcher alone. */
const sendOver = (dispatcher: Dispatcher, limit = Infinity) =>
  Effect.scoped(Effect.gen(function*() {
    const timeouts = yield* Timeouts.make
    const exchange = Exchange.make(
      Collecting.over(HttpClient.make(() => Effect.die("asked")), collect(dispatcher)),
      Infinity
    )
    const request = HttpClientRequest.get("https://t.example.com/")
    return yield* Effect.uninterruptible(exchange(request, () => limit, { timeouts, millis: 5000 }))
  }))

const remove = Retry.withoutRetries(deleteEventStream({ id }))

/** A server that records its connections, and when the first one is closed. */
const observed = (reply: (socket: Socket) => void) =>
  Effect.gen(function*() {
    const sockets: Array<Socket> = []
    const closed = yield* Deferred.make<void>()
    const server = yield* rawServer((_, socket) => reply(socket), (socket) => {
      sockets.push(socket)
      socket.on("close", () => Deferred.unsafeDone(closed, Effect.void))
    })
    return { ...server, sockets, closed }
  })

/** A server that leaves the response to the first request to the test. */
const holding = Effect.gen(function*() {
  const first = yield* Deferred.make<Socket>()
  let isFirst = true
  const server = yield* observed((socket) => {
    if (isFirst) Deferred.unsafeDone(first, Effect.succeed(socket))
    else socket.write(good)
    isFirst = false
  })
  return { ...server, first: Deferred.await(first) }
})

const port = (server: { readonly address: () => string | AddressInfo | null }) => (server.address() as AddressInfo).port

/** Instrumentation of undici finds the active span where a request is dispatched. */
describe("a request", () => {
  it.scopedLive("is dispatched within its span", () =>
    Effect.gen(function*() {
      const native = yield* Effect.tracer
      const server = yield* observed((socket) => void socket.write(good))
      const found: Array<string | undefined> = []
      let active: string | undefined
      const look = () => void found.push(active)
      subscribe("undici:request:create", look)
      yield* Effect.addFinalizer(() => Effect.sync(() => unsubscribe("undici:request:create", look)))
      const tracer = Tracer.make({
        span: (...of) => native.span(...of),
        context: (run, fiber) => {
          const [span, outer] = [fiber.currentSpan, active]
          active = span?._tag === "Span" ? span.name : undefined
          const result = run()
          active = outer // fibers begin within others
          return result
        }
      })
      yield* remove.pipe(Effect.provide(lean(server.url)), Effect.withTracer(tracer))
      assert.deepStrictEqual(found, ["DELETE /api/v2/event-streams/{id}"])
    }))
})

describe("the body of a request", () => {
  const bodies: ReadonlyArray<readonly [string, HttpBody.HttpBody, string]> = [
    ["text", HttpBody.text("aü"), "aü"],
    ["an empty text", HttpBody.text(""), ""],
    ["bytes", HttpBody.uint8Array(Buffer.from("ab")), "ab"],
    ["a stream", HttpBody.stream(Stream.make(Buffer.from("a"), Buffer.from("b"))), "ab"],
    ["nothing", HttpBody.empty, ""]
  ]
  for (const [name, body, sent] of bodies) {
    it.scopedLive(`is sent if it is ${name}`, () =>
      Effect.gen(function*() {
        const { arrived, url } = yield* listen((_, response) => json(response, 200, {}))
        const client = yield* HttpClient.HttpClient
        const timeouts = yield* Timeouts.make
        const send = Exchange.make(client, Infinity)(
          HttpClientRequest.post(`${url}/`, { body }),
          () => Infinity,
          { timeouts, millis: 5000 }
        )
        assert.strictEqual((yield* Effect.uninterruptible(send)).status, 200)
        assert.deepStrictEqual(arrived.map(({ body }) => body), [sent])
      }).pipe(Effect.provide(Node.layerHttpClient)))
  }
})

describe("connections", () => {
  it.scopedLive("are reused", () =>
    Effect.gen(function*() {
      const server = yield* observed((socket) => void socket.write(good))
      // undici returns a connection to the pool in the next iteration of the event loop.
      const call = Effect.zipLeft(remove, Effect.sleep(5))
      yield* Effect.repeatN(call, 4).pipe(Effect.provide(lean(server.url)))
      assert.lengthOf(server.sockets, 1)
    }))

  it.scopedLive("are limited by `connections`", () =>
    Effect.gen(function*() {
      const server = yield* observed((socket) => void setTimeout(() => socket.write(good), 10))
      yield* Effect.all(Array.from({ length: 10 }, () => remove), { concurrency: "unbounded" }).pipe(
        Effect.provide(lean(server.url, { connections: 3 }))
      )
      assert.lengthOf(server.sockets, 3)
    }))

  it.scopedLive("are closed after an idle time of `keepAliveTimeout`", () =>
    Effect.gen(function*() {
      const server = yield* observed((socket) => void socket.write(good))
      yield* Effect.zipRight(remove, Deferred.await(server.closed)).pipe(
        Effect.provide(lean(server.url, { keepAliveTimeout: 50 }))
      )
      assert.deepStrictEqual(server.sockets.map(({ destroyed }) => destroyed), [true])
    }))

  it.scopedLive("are closed before the server would close them", () =>
    Effect.gen(function*() {
      const server = yield* observed((socket) =>
        void socket.write(responseBytes(200, { "keep-alive": "timeout=1" }, "{}"))
      )
      yield* Effect.repeatN(remove, 2).pipe(Effect.provide(lean(server.url, { keepAliveTimeoutThreshold: 1000 })))
      assert.lengthOf(server.sockets, 3)
    }))

  it.scopedLive("are closed with the layer", () =>
    Effect.gen(function*() {
      const server = yield* observed((socket) => void socket.write(good))
      yield* Effect.provide(remove, lean(server.url))
      yield* Deferred.await(server.closed)
      assert.deepStrictEqual(server.sockets.map(({ destroyed }) => destroyed), [true])
    }))

  it.scopedLive("are closed with the layer after the running request", () =>
    Effect.gen(function*() {
      const server = yield* holding
      const scope = yield* Scope.make()
      const client = yield* HttpClient.HttpClient.pipe(
        Effect.provide(yield* Layer.buildWithScope(Node.layerHttpClient, scope))
      )
      const running = yield* Effect.fork(Effect.flatMap(client.get(server.url), ({ text }) => text))
      const socket = yield* server.first
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* Effect.yieldNow()
      assert.isFalse(socket.destroyed)
      socket.write(good)
      assert.strictEqual(yield* Fiber.join(running), "{}")
      yield* Fiber.join(closing)
      yield* Deferred.await(server.closed)
    }))
})

for (const interruptions of [0, 1, 2]) {
  it.scoped(`closing the layer waits up to 5 s and then aborts all running requests; interrupted ${interruptions} times`, () =>
    Effect.gen(function*() {
      const hanging = Effect.gen(function*() {
        const arrived = yield* Deferred.make<void>()
        return { ...yield* observed(() => Deferred.unsafeDone(arrived, Effect.void)), arrived }
      })
      const servers = [yield* hanging, yield* hanging]
      const scope = yield* Scope.make()
      const client = yield* HttpClient.HttpClient.pipe(
        Effect.provide(yield* Layer.buildWithScope(Node.layerHttpClient, scope))
      )
      const running = yield* Effect.fork(Effect.forEach(servers, ({ url }) => Effect.flip(client.get(url)), {
        concurrency: "unbounded"
      }))
      for (const { arrived } of servers) yield* Deferred.await(arrived)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 second")
      for (let nth = 0; nth < interruptions; nth++) yield* Fiber.interruptFork(closing)
      yield* TestClock.adjust("3999 millis")
      assert.isNull(closing.unsafePoll())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.await(closing)
      assert.deepStrictEqual((yield* Fiber.join(running)).map(reasonOf), ["Transport", "Transport"])
      for (const { closed } of servers) yield* Deferred.await(closed)
    }))
}

describe("the outcome is not-sent", () => {
  it.scopedLive("for a call that times out while it waits for a connection, and no connection is lost", () =>
    Effect.gen(function*() {
      const server = yield* holding
      yield* Effect.gen(function*() {
        const first = yield* Effect.fork(remove)
        const socket = yield* server.first
        const error = yield* Effect.flip(IdentityClient.withTimeout(Retry.withoutRetries(createUsersExport({})), 30))
        assert.deepInclude(error, { _tag: "TransportError", outcome: "not-sent", code: "TIMEOUT" })
        socket.write(good)
        yield* Fiber.join(first)
        yield* remove
      }).pipe(Effect.provide(lean(server.url, { connections: 1 })))
      assert.deepStrictEqual(server.requests.map(({ line }) => line.split(" ")[0]), ["DELETE", "DELETE"])
      assert.lengthOf(server.sockets, 1)
    }))

  it.scopedLive("for a call that is interrupted while it waits for a connection", () =>
    Effect.gen(function*() {
      const server = yield* holding
      yield* Effect.gen(function*() {
        const first = yield* Effect.fork(remove)
        const socket = yield* server.first
        const second = yield* Effect.fork(remove)
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(second)
        socket.write(good)
        yield* Fiber.join(first)
        yield* remove
      }).pipe(Effect.provide(lean(server.url, { connections: 1 })))
      assert.lengthOf(server.requests, 2)
      assert.lengthOf(server.sockets, 1)
    }))

  it.scopedLive("if no connection is made within `connectTimeout`", () =>
    Effect.gen(function*() {
      const { port } = yield* rawServer(() => {})
      const error = yield* Effect.flip(remove).pipe(
        Effect.provide(lean(`https://127.0.0.1:${port}`, { connectTimeout: 50 })),
        Effect.timeout("8 seconds") // less than the default
      )
      assert.deepInclude(error, { _tag: "TransportError", outcome: "not-sent", code: "UND_ERR_CONNECT_TIMEOUT" })
    }))

  it.scopedLive("if the transport is closed", () =>
    Effect.gen(function*() {
      const server = yield* observed((socket) => void socket.write(good))
      const scope = yield* Scope.make()
      const network = yield* Layer.buildWithScope(Node.layerHttpClient, scope)
      yield* Scope.close(scope, Exit.void)
      const error = yield* Effect.flip(remove).pipe(
        Effect.provide(over(Layer.succeedContext(network), server.url))
      )
      assert.deepInclude(error, { _tag: "TransportError", outcome: "not-sent" })
    }))
})

describe("the outcome is unknown", () => {
  it.scoped("for a call that times out before the service responds", () =>
    Effect.gen(function*() {
      const arrived = yield* Deferred.make<void>()
      const server = yield* rawServer(() => Deferred.unsafeDone(arrived, Effect.void))
      const call = yield* Effect.flip(IdentityClient.withTimeout(remove, 50)).pipe(
        Effect.provide(lean(server.url)),
        Effect.fork
      )
      yield* Deferred.await(arrived)
      yield* TestClock.adjust(50)
      const error = yield* Fiber.join(call)
      assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown", code: "TIMEOUT" })
      assert.lengthOf(server.requests, 1)
    }))

  it.scopedLive("for a call that got an early hint (103) and no response", () =>
    Effect.gen(function*() {
      const { url } = yield* rawServer((_, socket) => void socket.end("HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n"))
      const error = yield* Effect.flip(remove).pipe(Effect.provide(lean(url)))
      assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown", code: "UND_ERR_SOCKET" })
    }))
})

describe("a response", () => {
  it.scopedLive("has its headers, with repeated ones joined", () =>
    Effect.gen(function*() {
      const head = "HTTP/1.1 200 OK\r\nX-Once: a\r\nX-Twice: b\r\nX-Twice: c\r\ncontent-length: 0\r\n\r\n"
      const { url } = yield* rawServer((_, socket) => void socket.write(head))
      const { response } = yield* IdentityClient.withResponse(remove).pipe(Effect.provide(lean(url)))
      const { headers, status } = Option.getOrThrow(response)
      assert.deepStrictEqual({ status, ...headers }, {
        status: 200,
        "x-once": "a",
        "x-twice": "b, c",
        "content-length": "0"
      })
    }))

  it.scopedLive("that is not decoded costs its connection if it has more than 64 KiB", () =>
    Effect.gen(function*() {
      for (const [size, isKept] of [[65_536, true], [65_537, false]] as const) {
        const server = yield* observed((socket) => void socket.write(responseBytes(200, {}, "x".repeat(size))))
        yield* Effect.repeatN(Effect.zipLeft(remove, Effect.sleep(5)), 1).pipe(Effect.provide(lean(server.url)))
        assert.strictEqual(server.sockets.length === 1, isKept)
      }
    }))

  /** Collects a body that arrives in these pieces, up to the limit. */
  const received = (pieces: ReadonlyArray<Uint8Array>, limit = Infinity) => {
    const controller = {
      aborted: false,
      paused: false,
      reason: null,
      abort: () => {},
      pause: () => {},
      resume: () => {}
    }
    const dispatch = (_: unknown, handler: Dispatcher.DispatchHandler) => {
      handler.onRequestStart?.(controller, {})
      handler.onResponseStart?.(controller, 200, {}, "OK")
      for (const piece of pieces) handler.onResponseData?.(controller, Buffer.from(piece))
      handler.onResponseEnd?.(controller, {})
      return true
    }
    return sendOver(Object.assign(new Dispatcher(), { dispatch }), limit)
  }

  it.effect("is complete up to the limit, and truncated beyond", () =>
    Effect.gen(function*() {
      for (const [limit, completeness] of [[12, "complete"], [11, "truncated"]] as const) {
        const { body, ...rest } = yield* received([Buffer.from("abcdef"), Buffer.from("ghijkl")], limit)
        assert.strictEqual(Buffer.from(body).toString(), "abcdefghijkl".slice(0, limit))
        assert.strictEqual(rest.completeness, completeness)
      }
    }))

  it.effect("is text at once if all of it is ASCII, as JSON mostly is", () =>
    Effect.gen(function*() {
      for (const pieces of [["{}"], ["{", "}"]]) {
        assert.strictEqual((yield* received(pieces.map((piece) => Buffer.from(piece)))).body, "{}")
      }
      const { body } = yield* received([Buffer.from("{\"é\":1}")])
      assert.deepStrictEqual(Buffer.from(body), Buffer.from("{\"é\":1}"))
      assert.notTypeOf(body, "string")
    }))

  it.effect("keeps its body when another response arrives, whatever its size", () =>
    Effect.gen(function*() {
      for (const size of [10, 2 ** 20, 2 ** 20 + 2]) {
        for (const [one, other] of [["ab", "cd"], ["é", "ü"]] as const) {
          const pieces = (text: string) => {
            const bytes = Buffer.from(text.repeat(size / 2))
            return [bytes.subarray(0, 5), bytes.subarray(5)]
          }
          const { body, completeness } = yield* received(pieces(one))
          yield* received(pieces(other))
          assert.strictEqual(completeness, "complete")
          assert.isTrue(Buffer.concat(pieces(one)).equals(Buffer.from(body)))
        }
      }
    }))
})

describe("a running request", () => {
  it.scopedLive("is aborted when its caller is interrupted", () =>
    Effect.gen(function*() {
      const arrived = yield* Deferred.make<void>()
      const server = yield* observed(() => Deferred.unsafeDone(arrived, Effect.void))
      const call = yield* Effect.fork(Effect.provide(remove, lean(server.url)))
      yield* Deferred.await(arrived)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(call)))
      yield* Deferred.await(server.closed)
    }))

  it.scopedLive("that is aborted is told apart by instrumentation of undici", () =>
    Effect.gen(function*() {
      const found: Array<unknown> = []
      const look = (message: unknown) => void found.push(message)
      subscribe("undici:request:error", look)
      yield* Effect.addFinalizer(() => Effect.sync(() => unsubscribe("undici:request:error", look)))
      const { url } = yield* rawServer((_, socket) => void socket.write(responseBytes(200, {}, "x".repeat(65_537))))
      yield* Effect.provide(remove, lean(url)) // the rest of its body is of no interest
      assert.lengthOf(found, 1)
      assert.nestedPropertyVal(found[0], "error.message", "stopped")
    }))

  it.scopedLive("ends if the server sends nothing for `headersTimeout`", () =>
    Effect.gen(function*() {
      const server = yield* rawServer(() => {})
      const error = yield* Effect.flip(remove).pipe(Effect.provide(lean(server.url, { headersTimeout: 50 })))
      assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown", code: "UND_ERR_HEADERS_TIMEOUT" })
    }))

  it.scopedLive("ends if the server sends nothing for `bodyTimeout`", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((_, socket) => void socket.write(good.subarray(0, -1)))
      const error = yield* Effect.flip(Retry.withoutRetries(createUsersExport({}))).pipe(
        Effect.provide(lean(server.url, { bodyTimeout: 50 }))
      )
      assert.deepInclude(error, { _tag: "TransportError", outcome: "done" })
    }))

  it.scopedLive("reads up to `maxResponseSize`", () =>
    Effect.gen(function*() {
      const { url } = yield* listen((_, response) => json(response, 200, "x".repeat(2000)))
      const error = yield* Effect.flip(Retry.withoutRetries(createUsersExport({}))).pipe(
        Effect.provide(lean(url, { maxResponseSize: 1000 }))
      )
      assert.deepInclude(error, { _tag: "UnexpectedResponse", reason: "size" })
    }))
})

describe("options", () => {
  for (
    const options of [
      { connections: -1 },
      { headersTimeout: -1 },
      { keepAliveTimeout: -1 },
      { proxy: "nowhere" }
    ] satisfies ReadonlyArray<Node.TransportOptions>
  ) {
    it.scoped(`that undici refuses fail with InvalidInput: ${JSON.stringify(options)}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Layer.build(Node.layerHttpClientWith(options)))
        assert.instanceOf(error, Errors.InvalidInput)
        assert.deepStrictEqual([error.operation, ...error.issues.map(({ path }) => path)], [
          "Node.layerHttpClientWith",
          "options"
        ])
      }))
  }

  /** A TLS server whose response says if it trusts the client's certificate. */
  const tlsServer = Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly close: Effect.Effect<void>; readonly port: number }>((resume) => {
      const options = { key, cert, ca: cert, requestCert: true, rejectUnauthorized: false }
      const server = createHttpsServer(options, (request, response) => {
        // Typed as what `https` really passes.
        const { authorized } = request.socket as Socket & { readonly authorized: boolean }
        response.writeHead(200, { "content-type": "application/json" })
        response.end(JSON.stringify({ total: authorized ? 1 : 0, per_page: 1, versions: [] }))
      })
      server.listen(0, "127.0.0.1", () =>
        resume(Effect.succeed({
          port: port(server),
          url: `https://localhost:${port(server)}`,
          close: Effect.async((done) => {
            server.close(() => done(Effect.void))
            server.closeAllConnections()
          })
        })))
    }),
    ({ close }) => close
  )

  const total = Effect.map(listActionVersions({ actionId: "a" }), ({ total }) => total)

  it.scopedLive("`ca` makes a server trusted, and the server gets the client's certificate", () =>
    Effect.gen(function*() {
      const { url } = yield* tlsServer
      assert.deepInclude(yield* Effect.flip(Retry.withoutRetries(total)).pipe(Effect.provide(lean(url))), {
        _tag: "TransportError",
        outcome: "not-sent",
        code: "DEPTH_ZERO_SELF_SIGNED_CERT"
      })
      assert.strictEqual(yield* Effect.provide(total, lean(url, { connect: { ca: cert } })), 0)
      assert.strictEqual(yield* Effect.provide(total, lean(url, { connect: { ca: cert, cert, key } })), 1)
    }))

  it.scopedLive("`passphrase` decrypts the key of the client's certificate", () =>
    Effect.gen(function*() {
      const { url } = yield* tlsServer
      for (const key of [encryptedKey, Buffer.from(encryptedKey)]) {
        const connect = { ca: cert, cert, key, passphrase: "word" }
        assert.strictEqual(yield* Effect.provide(total, lean(url, { connect })), 1)
      }
    }))

  for (
    const [name, connect, message] of [
      ["encrypted", { cert, key: encryptedKey }, "found an encrypted key: set connect.passphrase"],
      [
        "encrypted, as bytes",
        { cert, key: Buffer.from(encryptedKey) },
        "found an encrypted key: set connect.passphrase"
      ],
      ["encrypted, in a list", { cert, key: [encryptedKey] }, "found an encrypted key: set connect.passphrase"],
      [
        "with another passphrase",
        { cert, key: encryptedKey, passphrase: "kq7zv3" },
        "connect.passphrase does not decrypt the key"
      ],
      ["that is no PEM", { cert, key: "kq7zv3" }, "does not fit the certificate, or is not PEM"]
    ] as const
  ) {
    it.scoped(`a key that TLS cannot use is InvalidInput: ${name}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(
          Layer.build(Node.layerHttpClientWith({ connect: { ...connect, key: connect.key as string } }))
        ) // sound: a key may also be a list
        assert.instanceOf(error, Errors.InvalidInput)
        assert.deepStrictEqual(error.issues, [{ path: "connect.key", message }])
        assert.notInclude(String(error), "kq7zv3")
      }))
  }

  /** A proxy that records the hosts it was asked to connect to. */
  const proxy = (status: number) =>
    Effect.acquireRelease(
      Effect.async<{ readonly asked: Array<string>; readonly close: Effect.Effect<void>; readonly url: string }>(
        (resume) => {
          const asked: Array<string> = []
          const server = createServer((socket) => {
            socket.on("error", () => {})
            socket.once("data", (head) => {
              const [, host = "", to = ""] = /^CONNECT ([^:]+):(\d+) /.exec(head.toString()) ?? []
              asked.push(`${host} ${/proxy-authorization: (.*)\r/i.exec(head.toString())?.[1]}`)
              socket.write(`HTTP/1.1 ${status} Reason\r\n\r\n`)
              if (status !== 200) return void socket.end()
              const upstream = connect(Number(to), host)
              upstream.on("error", () => {})
              upstream.pipe(socket)
              socket.pipe(upstream)
            })
          })
          const close = Effect.async<void>((done) => void server.close(() => done(Effect.void)))
          server.listen(0, "127.0.0.1", () =>
            resume(Effect.succeed({ asked, close, url: `http://user:pass@127.0.0.1:${port(server)}` })))
        }
      ),
      ({ close }) =>
        close
    )

  it.scopedLive("a proxy carries requests with TLS, but never plain http for this machine", () =>
    Effect.gen(function*() {
      const secured = yield* tlsServer
      const plain = yield* listen((_, response) => json(response, 200, { total: 7, per_page: 1, versions: [] }))
      const { asked, url } = yield* proxy(200)
      const options = { proxy: url, connect: { ca: cert } }
      assert.strictEqual(yield* Effect.provide(total, lean(secured.url, options)), 0)
      assert.strictEqual(yield* Effect.provide(total, lean(plain.url, options)), 7)
      const login = `Basic ${Buffer.from("user:pass").toString("base64")}`
      assert.deepStrictEqual(asked, [`localhost ${login}`])
    }))

  it.scopedLive("options of a proxy's TLS leave the certificate of `connect` as it is", () =>
    Effect.gen(function*() {
      const secured = yield* tlsServer
      const { url } = yield* proxy(200)
      const options = {
        proxy: { uri: url, requestTls: { ALPNProtocols: ["http/1.1"] } },
        connect: { ca: cert, cert, key }
      }
      assert.strictEqual(yield* Effect.provide(total, lean(secured.url, options)), 1)
    }))

  it.effect("a request that undici refuses is not sent", () =>
    Effect.gen(function*() {
      const throwing = {
        dispatch: () => {
          throw Object.assign(new Error("no"), { code: "UND_ERR_INVALID_ARG" })
        }
      }
      const failure = yield* Effect.flip(sendOver(throwing as never)) // sound: only `dispatch` is used
      assert.deepInclude(failure, { outcome: "not-sent", code: "UND_ERR_INVALID_ARG" })
    }))

  it.effect("a call may not set the header proxy-authorization", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(remove).pipe(
        IdentityClient.withHeaders({ "proxy-authorization": "Basic eDp5" }),
        Effect.provide(lean("https://t.example.com"))
      )
      assert.strictEqual(error._tag, "InvalidInput")
      assert.include(error.message, "headers.proxy-authorization: only the transport sets this header")
    }))

  it.scopedLive.each([407, 503])(
    "the outcome is not-sent if the proxy refuses, and the code has its status: %s",
    (status) =>
      Effect.gen(function*() {
        const { url } = yield* proxy(status)
        const error = yield* Effect.flip(Retry.withoutRetries(remove)).pipe(
          Effect.provide(lean("https://t.example.com", { proxy: { uri: url } }))
        )
        assert.deepInclude(error, { _tag: "TransportError", outcome: "not-sent", code: `PROXY_${status}` })
        assert.include(error.message, `t.example.com could not be reached (PROXY_${status})`)
      })
  )
})

describe("as a client of the platform, it", () => {
  const users: ReadonlyArray<readonly [string, (client: HttpClient.HttpClient) => HttpClient.HttpClient]> = [
    ["as it is", (client) => client],
    ["with something around it", HttpClient.mapRequest(HttpClientRequest.setHeader("x-more", "more"))]
  ]

  it.scopedLive.each(users)("reads text, JSON, bytes and a stream, %s", ([, around]) =>
    Effect.gen(function*() {
      const { url } = yield* listen((request, response) =>
        json(response, 200, { method: request.method, body: request.body })
      )
      const client = around(yield* HttpClient.HttpClient)
      const text = "{\"method\":\"GET\",\"body\":\"\"}"
      assert.strictEqual(yield* Effect.flatMap(client.get(url), ({ text }) => text), text)
      assert.deepStrictEqual(yield* Effect.flatMap(client.get(url), ({ json }) => json), JSON.parse(text))
      assert.strictEqual(
        (yield* Effect.flatMap(client.get(url), ({ arrayBuffer }) => arrayBuffer)).byteLength,
        text.length
      )
      const bytes = yield* Stream.runCollect(Stream.unwrap(Effect.map(client.get(url), ({ stream }) => stream)))
      assert.strictEqual(Buffer.concat(Chunk.toReadonlyArray(bytes)).toString(), text)
      const posted = HttpClientRequest.post(url).pipe(
        HttpClientRequest.bodyStream(Stream.make("a", "b").pipe(Stream.encodeText))
      )
      assert.deepStrictEqual(yield* Effect.flatMap(client.execute(posted), ({ json }) => json), {
        method: "POST",
        body: "ab"
      })
    }).pipe(Effect.provide(Node.layerHttpClient)))

  it.scopedLive.each(users)("serves an IdentityClient, %s", ([, around]) =>
    Effect.gen(function*() {
      const server = yield* rawServer((_, socket) => void socket.write(good))
      const network = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, around)).pipe(
        Layer.provide(Node.layerHttpClient)
      )
      yield* Effect.provide(remove, over(network, server.url))
      assert.lengthOf(server.requests, 1)
    }))

  it.scopedLive("has the time-outs of its options", () =>
    Effect.gen(function*() {
      const { url } = yield* rawServer(() => {})
      const error = yield* Effect.flip(Effect.flatMap(HttpClient.HttpClient, (client) => client.get(url)))
      assert.strictEqual(reasonOf(error), "Transport")
    }).pipe(Effect.provide(Node.layerHttpClientWith({ headersTimeout: 50 }))))
})
