/** An embedded tenant behind TLS, which asks each client for its certificate. */
import { HttpServer } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer } from "effect"
import type { Server } from "node:http"
import { createServer } from "node:https"
import * as Tenant from "../../src/Tenant.js"
import { cert, key } from "./certificate.js"

/** Serves the tenant with this certificate until the scope is closed, and gives its host. */
export const tlsTenant = (options: Tenant.Options, certificate = cert) =>
  Effect.gen(function*() {
    const tls = { cert: certificate, key, requestCert: true, rejectUnauthorized: false } // the tenant decides
    const server = NodeHttpServer.layer(
      () => createServer(tls) as unknown as Server, // sound: only what both kinds of server have is used
      { port: 0, host: "127.0.0.1" }
    )
    const context = yield* Layer.build(
      Layer.provideMerge(Tenant.layerServer, Layer.merge(Tenant.layerWith(options), server))
    )
    const { address } = Context.get(context, HttpServer.HttpServer)
    const port = address._tag === "TcpAddress" ? address.port : 0
    return { host: `127.0.0.1:${port}`, tenant: Context.get(context, Tenant.Tenant) }
  })
