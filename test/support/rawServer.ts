/** A server on a bare socket: it sees the bytes that a client sends, and can respond with any bytes. */
import { Effect, type Scope } from "effect"
import { createServer, type Socket } from "node:net"

/** A request as it arrived. */
export interface RawRequest {
  /** The request line, for example `GET /a%2Fb HTTP/1.1`. */
  readonly line: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface RawServer {
  readonly port: number
  readonly url: string
  /** The requests that have arrived, in order. */
  readonly requests: Array<RawRequest>
}

/** The bytes of a response, with `content-length` unless a header frames the body. */
export const responseBytes = (
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: string | Uint8Array = ""
): Buffer => {
  const bytes = Buffer.from(body)
  const length =
    status === 204 || "transfer-encoding" in headers || "content-length" in headers || "connection" in headers
      ? {}
      : { "content-length": String(bytes.length) }
  const lines = Object.entries({ ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Reason\r\n${lines.join("")}\r\n`), bytes])
}

/** Splits the first complete request off the bytes that have arrived. */
const parse = (bytes: Buffer): readonly [RawRequest, rest: Buffer] | undefined => {
  const end = bytes.indexOf("\r\n\r\n")
  if (end === -1) return undefined
  const [line = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n")
  const headers = Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  }))
  const from = end + 4
  const to = from + Number(headers["content-length"] ?? 0)
  return bytes.length < to ? undefined : [{ line, headers, body: bytes.toString("utf8", from, to) }, bytes.subarray(to)]
}

/** Serves on 127.0.0.1, any free port, while the scope is open. `greet` runs for each new connection. */
export const rawServer = (
  reply: (request: RawRequest, socket: Socket) => void,
  greet: (socket: Socket) => void = () => {}
): Effect.Effect<RawServer, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly close: Effect.Effect<void>; readonly server: RawServer }>((resume) => {
        const requests: Array<RawRequest> = []
        const sockets = new Set<Socket>()
        const server = createServer((socket) => {
          sockets.add(socket)
          greet(socket)
          let waiting = Buffer.alloc(0)
          socket.on("close", () => sockets.delete(socket))
          socket.on("error", () => socket.destroy())
          socket.on("data", (chunk: Buffer) => {
            waiting = Buffer.concat([waiting, chunk])
            for (let next = parse(waiting); next !== undefined; next = parse(waiting)) {
              waiting = Buffer.from(next[1])
              requests.push(next[0])
              reply(next[0], socket)
            }
          })
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          const close = Effect.async<void>((done) => {
            server.close(() => done(Effect.void))
            for (const socket of sockets) socket.destroy()
          })
          resume(Effect.succeed({ close, server: { port, url: `http://127.0.0.1:${port}/api/v2`, requests } }))
        })
      }),
      ({ close }) => close
    ),
    ({ server }) => server
  )
