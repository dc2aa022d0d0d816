/** A tenant on a socket that serves the generated operations, and the bytes that it receives. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createServer } from "node:http"
import * as Tenant from "../../../src/Tenant.js"
import type { Received } from "./inputs.js"

const client = (id: string, scopes: ReadonlyArray<string>): Tenant.Client => (
  { id, secret: Redacted.make(`${id}-secret`), scopes, global: true }
)

/** The clients: one with every scope, one without any, and one for each scope. */
export const clientsOf = (scopes: ReadonlyArray<string>) => ({
  full: client("full", scopes),
  none: client("none", []),
  only: (scope: string) => client(`only ${scope}`, [scope]),
  all: [client("full", scopes), client("none", []), ...scopes.map((scope) => client(`only ${scope}`, [scope]))]
})

/** Makes a server that keeps each request as it was received. */
const recording = (received: Array<Received>) => () =>
  createServer().prependListener("request", (request) => {
    const chunks: Array<Buffer> = []
    // Listening to `data` would take the chunks from the tenant, so this sees them as they come in.
    const push = request.push.bind(request)
    request.push = (chunk: Buffer | null, encoding) => {
      if (chunk !== null) chunks.push(Buffer.from(chunk))
      return push(chunk, encoding)
    }
    const { headers, method = "", url: target = "" } = request
    received.push({
      method,
      target,
      headers,
      get body() {
        return Buffer.concat(chunks)
      }
    })
  })

const largeBucket = { burst: 1_000_000, refill: 1_000_000, per: "1 second" } as const

export const layer = (
  operations: Readonly<Record<string, unknown>>,
  clients: ReadonlyArray<Tenant.Client>,
  received: Array<Received>
) =>
  Tenant.layerServer.pipe(Layer.provideMerge(Layer.merge(
    Tenant.layerWith({
      operations,
      clients,
      buckets: { tenant: largeBucket, profileUpdates: largeBucket },
      limits: { requests: 10, bodySize: 10_000_000 }
    }),
    NodeHttpServer.layer(recording(received), { port: 0, host: "127.0.0.1" })
  )))
