/** Serves the embedded tenant on 127.0.0.1 until Ctrl-C: `npx tsx examples/tenant.ts 8787`. The command `tenant` does more. */
import { HttpServer } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Layer, Redacted } from "effect"
import * as Tenant from "effect-identity-client/Tenant"
import { createServer } from "node:http"

const { id, secret } = Tenant.demoClients.full

const Announced = Layer.effectDiscard(HttpServer.addressFormattedWith((origin) =>
  Console.log([
    `export IDENTITY_BASE_URL=${origin}/api/v2`,
    `export IDENTITY_AUTH_URL=${origin}`,
    `export IDENTITY_CLIENT_ID=${id}`,
    `export IDENTITY_CLIENT_SECRET=${Redacted.value(secret)}`
  ].join("\n"))
))

const Served = Layer.merge(Tenant.layerServer, Announced).pipe(
  Layer.provide(Tenant.layer),
  Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: Number(process.argv[2] ?? 8787) }))
)

NodeRuntime.runMain(Layer.launch(Served))
