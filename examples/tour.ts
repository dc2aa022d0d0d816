/** `npm start`: whole jobs and typed failures against the embedded tenant, over a real socket and with real tokens. */
import { HttpServer } from "@effect/platform"
import { NodeContext, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Console, Duration, Effect, Layer } from "effect"
import * as Tenant from "effect-identity-client/Tenant"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { bold, dim } from "./support/terminal.js"
import { deleteTwice, invalid, redeliverAgain, throttled, withoutScope } from "./tour/failures.js"
import { exportUsers, listVersions, redeliverFailed } from "./tour/jobs.js"
import { clientOf } from "./tour/step.js"

const jobs = [exportUsers, redeliverFailed, listVersions]
const failures = [redeliverAgain, withoutScope, throttled, deleteTwice, invalid]

/** The tour, for a tenant on a local server. */
export const tour = Effect.gen(function*() {
  yield* HttpServer.addressFormattedWith((origin) =>
    Console.log(
      `${bold("Whole jobs and typed failures, over real HTTP")}\n${dim(`against the embedded tenant at ${origin}`)}`
    )
  )
  const [time] = yield* Effect.timed(Effect.all([...jobs, ...failures]))
  const { requests } = yield* Tenant.Tenant
  const statuses = (yield* requests).map(({ status }) => status)
  const count = (status: number) => statuses.filter((other) => other === status).length
  yield* Console.log(
    `\n${bold("Done:")} ${statuses.length} requests in ${Duration.toSeconds(time).toFixed(1)} s, ` +
      `including ${count(429)} × 429, ${count(403)} × 403, ${count(409)} × 409.\n` +
      "Next: examples/guides/getting-started.md"
  )
}).pipe(
  Effect.provide([clientOf(Tenant.demoClients.full), NodeContext.layer])
)

/** Serves the embedded tenant on a free port of this machine. */
export const TenantLive = Tenant.layerServer.pipe(
  Layer.provideMerge(Tenant.layer),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  tour.pipe(Effect.provide(TenantLive), NodeRuntime.runMain)
}
