/** A server on a socket that gives the response it is told to, and keeps the request it got. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Exchange } from "./exchange.js"

export interface Received {
  readonly method: string
  readonly target: string
  readonly body: string
}

export interface Server {
  readonly origin: string
  /** Sets the response to all following requests. */
  readonly respond: (exchange: Exchange) => void
  /** The requests since the last `respond`. */
  readonly received: () => ReadonlyArray<Received>
}

export const serve: Effect.Effect<Server, never, Scope.Scope> = Effect.acquireRelease(
  Effect.async<readonly [Server, () => void]>((resume) => {
    let current: Exchange | undefined
    let received: Array<Received> = []
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        received.push({
          method: request.method ?? "",
          target: request.url ?? "",
          body: Buffer.concat(chunks).toString("utf8")
        })
        response.writeHead(current?.status ?? 500, { ...current?.headers })
        response.end(current?.body)
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo // sound: it listens on a port
      resume(Effect.succeed([
        {
          origin: `http://127.0.0.1:${port}`,
          respond: (exchange) => {
            current = exchange
            received = []
          },
          received: () => received
        },
        () => {
          server.closeAllConnections()
          server.close()
        }
      ]))
    })
  }),
  ([, close]) => Effect.sync(close)
).pipe(Effect.map(([server]) => server))
