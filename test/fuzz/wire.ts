/** The same over real sockets, with messages that may also violate HTTP: responses to every platform, requests to the tenant. */
import { HttpClient, HttpServer } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, FastCheck, Layer, Logger, LogLevel, Runtime, type Scope } from "effect"
import assert from "node:assert/strict"
import { createServer } from "node:http"
import { connect } from "node:net"
import { IdentityClient, Retry } from "../../src/index.js"
import * as Tenant from "../../src/Tenant.js"
import { type Platform, platforms } from "../support/faultCalls.js"
import { cycle } from "../support/random.js"
import { rawServer } from "../support/rawServer.js"
import { call, check, without } from "./inProcess.js"
import { form, type Sent } from "./requests.js"
import { type Case, type FakeResponse, piecesOf } from "./responses.js"
import { checkBody, isFine, options, tokenIn } from "./tenant.js"

/** The framing of a body. */
type Framing = "length" | "close" | "chunked" | "as the headers have it"

/** Faults of a message besides its contents. */
export interface Manner {
  readonly framing: Framing
  /** Replaces the first line, if set. */
  readonly line: string | undefined
  /** Lines among the headers that are not headers. */
  readonly junk: string | undefined
  /** The share of the bytes that is sent, in thousandths. */
  readonly share: number
}

const often = <A>(usual: A, odd: FastCheck.Arbitrary<A>) =>
  FastCheck.oneof({ weight: 9, arbitrary: FastCheck.constant(usual) }, { weight: 1, arbitrary: odd })

const junk = FastCheck.constantFrom(
  "no colon",
  ": no name",
  "a b: c",
  "x: a\rb",
  "x: a\nb: c",
  "x: a\0b",
  "x : a",
  " folded",
  "\uFFFF: x",
  "x: \x7f\x01",
  "content-length: 1\r\ncontent-length: 2",
  "transfer-encoding: chunked\r\ncontent-length: 3",
  "x: ".padEnd(100_000, "y"),
  Array.from({ length: 3000 }, (_, nth) => `x${nth}: y`).join("\r\n"),
  "__proto__: a\r\n__proto__: b\r\nconstructor: c\r\nconstructor: d"
)

const mannersWith = (...lines: ReadonlyArray<string>): FastCheck.Arbitrary<Manner> =>
  FastCheck.record({
    framing: FastCheck.constantFrom<Framing>("length", "close", "chunked", "as the headers have it"),
    line: often<string | undefined>(undefined, FastCheck.constantFrom(...lines)),
    junk: often<string | undefined>(undefined, junk),
    share: often(1000, FastCheck.nat(999))
  })

const framed = ["content-length", "transfer-encoding", "connection"]

/** Encodes a message with its faults. No header contains a line end. */
const bytesOf = (
  line: string,
  headers: FakeResponse["headers"],
  pieces: ReadonlyArray<Uint8Array>,
  manner: Manner
): Buffer => {
  const length = pieces.reduce((sum, { length }) => sum + length, 0)
  const framing = {
    "length": [["content-length", String(length)]],
    "close": [["connection", "close"]],
    "chunked": [["transfer-encoding", "chunked"]],
    "as the headers have it": []
  }[manner.framing]
  const own = manner.framing === "as the headers have it" ? headers : headers.filter(([name]) => !framed.includes(name))
  const lines = [...framing, ...own].map((header) => header.join(": "))
  const head = [manner.line ?? line, ...lines, ...(manner.junk === undefined ? [] : [manner.junk]), "", ""].join("\r\n")
  const body = manner.framing !== "chunked" ? pieces : [
    ...pieces.flatMap((piece) => [Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]),
    Buffer.from("0\r\n\r\n")
  ]
  const bytes = Buffer.concat([Buffer.from(head, "latin1"), ...body])
  return bytes.subarray(0, Math.ceil(bytes.length * manner.share / 1000))
}

export const platformNames = Object.keys(platforms) as ReadonlyArray<Platform>

export const responseManners = mannersWith(
  "HTTP/1.1 200",
  "HTTP/1.1 099 Low",
  "HTTP/1.1 1000 High",
  "HTTP/2.0 200 OK",
  "HTTP/1.1 -20 OK",
  "HTTP/1.1 200 \x80\xff",
  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK",
  "ICY 200 OK",
  "",
  "\0\0\0\0"
)

/** Handles the next connections of the server. */
interface Behaviour {
  next: () => { readonly bytes: Buffer; readonly isBroken: boolean }
}

/** The server and the clients. */
export interface Wire {
  readonly law: (one: Case, manner: Manner, platform: Platform) => Promise<void>
}

/** Makes a client on each platform, and a server that responds with bytes and then closes the connection. */
export const overClients: Effect.Effect<Wire, never, Scope.Scope> = Effect.gen(function*() {
  const runPromise = Runtime.runPromise(yield* Effect.runtime())
  const behaviour: Behaviour = { next: () => ({ bytes: Buffer.alloc(0), isBroken: false }) }
  const server = yield* rawServer((_, socket) => {
    const { bytes, isBroken } = behaviour.next()
    if (isBroken) socket.write(bytes, () => void socket.resetAndDestroy())
    else socket.end(bytes)
  })
  const clients = new Map<Platform, HttpClient.HttpClient>()
  for (const platform of platformNames) {
    clients.set(platform, Context.get(yield* Layer.build(platforms[platform]), HttpClient.HttpClient))
  }
  return {
    law: async (given, manner, platform) => {
      // Before Node 24 `fetch` itself may never end with a body that is not as encoded and ends with its connection: the time
      // limit ends a call, but a token's is ten seconds. From Node 22 on it throws outside of all calls if such a connection
      // ends while a body of some length is still being decoded.
      const isToken = given.target === "token"
      const isLong = given.responses.some(({ body }) => body.length >= 2 ** 16) && manner.framing !== "length" &&
        manner.framing !== "chunked"
      const one = without(
        given,
        ...(isToken ? ["retry-after"] : []),
        ...(platform === "fetch" && (isToken || isLong) ? ["content-encoding"] : [])
      )
      let nth = 0
      behaviour.next = () => {
        const response = one.responses[Math.min(nth++, one.responses.length - 1)]!
        const line = `HTTP/1.1 ${response.status} Reason`
        return {
          bytes: bytesOf(line, response.headers, piecesOf(response), manner),
          isBroken: response.end === "broken"
        }
      }
      const made = call(one, { baseUrl: server.url, authUrl: new URL(server.url).origin }).pipe(
        Effect.provideService(HttpClient.HttpClient, clients.get(platform)!),
        Retry.withPolicy({ delay: 0, maxDelay: 0, attempts: 2, totalTime: "500 millis" }), // a longer `Retry-After` is not waited out
        IdentityClient.withTimeout("200 millis"),
        Logger.withMinimumLogLevel(LogLevel.None),
        Effect.withRandom(cycle(0)),
        Effect.exit
      )
      check(one, await runPromise(made))
    }
  }
})

export const requestManners = mannersWith(
  "GET / HTTP/1.1",
  "GET http://x.test/api/v2/jobs/users-exports?a HTTP/1.1",
  "GET http:// HTTP/1.1",
  "GET //api/v2/ HTTP/1.1",
  "GET * HTTP/1.1",
  "OPTIONS * HTTP/1.1",
  "CONNECT a:1 HTTP/1.1",
  "GET /\x80\xff#a;b?c HTTP/1.1",
  "GET /api/v2/event-streams/%",
  "POST /oauth/token HTTP/1.0",
  "POST /oauth/token HTTP/9.9",
  "BREW /coffee HTTP/1.1",
  "PRI * HTTP/2.0",
  "",
  "\0\0\0\0"
)

/** The longest time without a byte, in milliseconds: the server may wait for more of the request. */
const patience = 30

interface Response {
  readonly status: number
  readonly contentType: string | undefined
  readonly body: string
}

/** Parses the first complete response in these bytes. A response to `HEAD` has the headers of a body, but no body. */
const read = (bytes: Buffer, isHead: boolean): Response | undefined => {
  const end = bytes.indexOf("\r\n\r\n")
  if (end < 0) return undefined
  const head = bytes.toString("latin1", 0, end)
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1])
  if (status < 200) return read(bytes.subarray(end + 4), isHead)
  const to = end + 4 + (isHead ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0))
  return bytes.length < to ? undefined : {
    status,
    contentType: /\r\ncontent-type: ([^\r]*)/i.exec(head)?.[1],
    body: bytes.toString("utf8", end + 4, to)
  }
}

/** Sends bytes and returns the first response, or `undefined` if the server sends none. */
const exchange = (port: number, bytes: Uint8Array): Effect.Effect<Response | undefined> =>
  Effect.async<Response | undefined>((resume) => {
    const isHead = Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "HEAD "
    let received = Buffer.alloc(0)
    const socket = connect({ port, host: "127.0.0.1" })
    const end = () => void socket.destroy()
    const timer = setTimeout(end, patience)
    socket
      .on("data", (chunk) => {
        timer.refresh()
        received = Buffer.concat([received, chunk])
        if (read(received, isHead) !== undefined) end()
      })
      .on("error", () => {}) // reset, for example: what has come counts
      .on("close", () => {
        clearTimeout(timer)
        resume(Effect.succeed(read(received, isHead)))
      })
      .write(bytes)
  })

/** Serves the tenant on a socket, for requests of arbitrary bytes. */
export const asking: Effect.Effect<
  { readonly law: (sent: Sent, manner: Manner) => Promise<void> },
  never,
  Scope.Scope
> = Effect.gen(function*() {
  const runPromise = Runtime.runPromise(yield* Effect.runtime())
  const context = yield* Layer.build(Layer.provideMerge(
    Tenant.layerServer,
    Layer.merge(
      Layer.orDie(Tenant.layerWith(options)),
      Layer.orDie(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    )
  )).pipe(Logger.withMinimumLogLevel(LogLevel.None))
  const { address } = Context.get(context, HttpServer.HttpServer)
  assert(address._tag === "TcpAddress")
  const { port } = address
  const token = yield* Effect.gen(function*() {
    const body = new URLSearchParams(form)
    const response = yield* Effect.promise(() =>
      fetch(`http://127.0.0.1:${port}/oauth/token`, { method: "POST", body })
    )
    return tokenIn(yield* Effect.promise(() => response.text()))
  })
  return {
    law: async (sent, manner) => {
      const headers = sent.isSignedIn ? [["authorization", `Bearer ${token}`] as const, ...sent.headers] : sent.headers
      const line = `${sent.method} ${sent.target} HTTP/1.1\r\nhost: localhost`
      const pieces = sent.body.length === 0 ? [] : [sent.body]
      const response = await runPromise(exchange(port, bytesOf(line, headers, pieces, manner)))
      if (response !== undefined) {
        assert(isFine(response.status), `it responded ${response.status}: ${response.body}`)
        checkBody(response.contentType, response.body)
      }
    }
  }
})
