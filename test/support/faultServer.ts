/** A server on a bare socket that misbehaves to order: each request that arrives meets the next fault of a script. */
import { Effect, Queue, type Scope } from "effect"
import { createServer, type Socket } from "node:net"
import { answer, rawServer } from "./rawServer.js"

/** One request that has arrived, and what there is to answer it with. */
export interface Exchange {
  readonly socket: Socket
  /** The JSON of a good answer. */
  readonly json: string
  /** Another server of the same kind. */
  readonly elsewhere: string
  /** The path of the request. */
  readonly path: string
  /** Says that from now on the client waits in vain. */
  readonly stalled: () => void
}

/** What is done to a request instead of answering it well. */
export type Fault = (exchange: Exchange) => void

export interface FaultServer {
  readonly url: string
  /** For each whole request that has arrived, which call it belongs to: the value of its header `x-call`. */
  readonly arrived: ReadonlyArray<string | undefined>
  /** The same of what has arrived elsewhere. */
  readonly arrivedElsewhere: ReadonlyArray<unknown>
  /** Waits until a client waits in vain. */
  readonly stall: Effect.Effect<void>
}

/** The header that tells which call a request belongs to: one may arrive when its call has already ended. */
export const callHeader = "x-call"

/** Serves on 127.0.0.1 as long as the scope is open. `script` names the fault for the nth request, the first being 1. */
export const faultServer = (
  json: string,
  script: (nth: number) => Fault
): Effect.Effect<FaultServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const other = yield* rawServer((_, socket) =>
      void socket.write(answer(200, { "content-type": "application/json" }, json))
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

/** An address where nobody listens. */
export const nobody: Effect.Effect<FaultServer> = Effect.map(
  Effect.scoped(resettingServer),
  unreadBy
)
