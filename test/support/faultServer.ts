/** A server on a bare socket that misbehaves to order: each request that arrives meets the next fault of a script. */
import { Effect, type Scope } from "effect"
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
}

/** What is done to a request instead of answering it well. */
export type Fault = (exchange: Exchange) => void

export interface FaultServer {
  readonly url: string
  /** How many whole requests have arrived. */
  readonly arrived: () => number
  /** How many have arrived elsewhere. */
  readonly arrivedElsewhere: () => number
}

/** Serves on 127.0.0.1 as long as the scope is open. `script` names the fault for the nth request, the first being 1. */
export const faultServer = (
  json: string,
  script: (nth: number) => Fault
): Effect.Effect<FaultServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const other = yield* rawServer((_, socket) => void socket.write(answer(200, { "content-type": "application/json" }, json)))
    const server = yield* rawServer(({ line }, socket) =>
      script(server.requests.length)({ socket, json, elsewhere: other.url, path: line.split(" ")[1] ?? "/" })
    )
    return {
      url: server.url,
      arrived: () => server.requests.length,
      arrivedElsewhere: () => other.requests.length
    }
  })

/** A server that reads nothing and resets every connection once a request can have been sent. */
export const resettingServer: Effect.Effect<FaultServer, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.async<{ readonly close: Effect.Effect<void>; readonly url: string }>((resume) => {
      const server = createServer({ pauseOnConnect: true }, (socket) => {
        socket.on("error", () => {})
        setTimeout(() => socket.resetAndDestroy(), 20)
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
  ({ url }) => ({ url, arrived: () => 0, arrivedElsewhere: () => 0 })
)

/** An address where nobody listens. */
export const nobody: Effect.Effect<FaultServer> = Effect.map(
  Effect.scoped(resettingServer),
  ({ url }) => ({ url, arrived: () => 0, arrivedElsewhere: () => 0 })
)
