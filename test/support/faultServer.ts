/** A server on a bare socket that injects faults: the next one of a script for each request. */
import { Effect, Queue, Random, type Scope } from "effect"
import { createServer, type Socket } from "node:net"
import { rawServer, responseBytes } from "./rawServer.js"

/** A request that has arrived, and the means to respond. */
export interface Exchange {
  readonly socket: Socket
  /** The JSON of a good response. */
  readonly json: string
  /** Another server of the same kind. */
  readonly elsewhere: string
  /** The path of the request. */
  readonly path: string
  /** Reports that the client waits in vain from now on. */
  readonly stalled: () => void
}

/** Handles a request in place of a good response. */
export type Fault = (exchange: Exchange) => void

export interface FaultServer {
  readonly url: string
  /** The call of each complete request that has arrived, by its header `x-call`. */
  readonly arrived: ReadonlyArray<string | undefined>
  /** The calls of the requests that have arrived at the other server. */
  readonly arrivedElsewhere: ReadonlyArray<unknown>
  /** Waits until a client waits in vain. */
  readonly stall: Effect.Effect<void>
}

/** The header with the call of a request, which may arrive after its call has ended. */
export const callHeader = "x-call"

/** Serves on 127.0.0.1 as long as the scope is open. `script` names the fault for the nth request, the first being 1. */
export const faultServer = (
  json: string,
  script: (nth: number) => Fault
): Effect.Effect<FaultServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const other = yield* rawServer((_, socket) =>
      void socket.write(responseBytes(200, { "content-type": "application/json" }, json))
    )
    const stalls = yield* Queue.unbounded<void>()
    const arrived: Array<string | undefined> = []
    const server = yield* rawServer(({ headers, line }, socket) => {
      const nth = arrived.push(headers[callHeader])
      const [, path = "/"] = line.split(" ")
      script(nth)({ socket, json, elsewhere: other.url, path, stalled: () => void stalls.unsafeOffer() })
    })
    return { url: server.url, arrived, arrivedElsewhere: other.requests, stall: Queue.take(stalls) }
  })

const unreadBy = ({ url }: { readonly url: string }): FaultServer => (
  { url, arrived: [], arrivedElsewhere: [], stall: Effect.never }
)

/** A server that reads nothing and resets every connection once a request can have been sent. */
export const resettingServer: Effect.Effect<FaultServer, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.async<{ readonly close: Effect.Effect<void>; readonly url: string }>((resume) => {
      const server = createServer({ pauseOnConnect: true }, (socket) => {
        socket.on("error", () => {})
        setTimeout(() => socket.resetAndDestroy(), 100)
      })
      const close = Effect.async<void>((done) => void server.close(() => done(Effect.void)))
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ close, url: `http://127.0.0.1:${port}/api/v2` }))
      })
    }),
    ({ close }) => close
  ),
  unreadBy
)

/** A URL where no server listens: its port is below those that systems draw for servers and connections. */
export const nobody: Effect.Effect<FaultServer> = Effect.map(
  Random.nextIntBetween(20_000, 30_000),
  (port) => unreadBy({ url: `http://127.0.0.1:${port}/api/v2` })
)
