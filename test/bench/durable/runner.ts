/** A runner of the cluster, as users write one: `NodeRuntime.runMain` ends it on SIGTERM. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Redacted from "effect/Redacted"
import * as Runtime from "effect/Runtime"
import { layerSql } from "../../../examples/support/postgresServer.js"
import * as Cluster from "../../../src/Cluster.js"
import * as Fleet from "../../../src/Fleet.js"
import * as IdentityClient from "../../../src/IdentityClient.js"
import * as Jobs from "../../../src/Jobs.js"
import * as Node from "../../../src/Node.js"
import * as Tenant from "../../../src/Tenant.js"
import * as TokenProvider from "../../../src/TokenProvider.js"
import { layerCluster } from "./cluster.js"

/** The argument of the process. */
export interface RunnerSettings {
  readonly postgres: number
  readonly database: string
  readonly port: number
  readonly locksInTable: boolean
  readonly origins: ReadonlyArray<string>
  readonly encryptionKey: string
  readonly limitMs: number
}

/** Sent by the process: first when it is ready, and then in return to each message. */
export interface Health {
  readonly isReady: boolean
  readonly jobs: number
}

const settings: RunnerSettings = JSON.parse(process.argv[2] ?? "{}")
const { full } = Tenant.demoClients

const clientOf = (tenant: string) => {
  const origin = settings.origins[Number(tenant)] ?? ""
  return IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
    Layer.provide(
      TokenProvider.layerClientCredentials({ authUrl: origin, clientId: full.id, clientSecret: full.secret })
    ),
    Layer.provide(Fleet.layerTokensWith({ encryptionKey: Redacted.make(settings.encryptionKey) }))
  )
}

const live = layerCluster(settings).pipe(
  Layer.provide(Jobs.layerTenants(clientOf)),
  Layer.provide(Fleet.layerRateLimiter),
  Layer.provide(Cluster.layerStore),
  Layer.provideMerge(layerSql({ port: settings.postgres }, settings.database)),
  Layer.provide(Node.layerHttpClient),
  Layer.provide(Logger.minimumLogLevel(process.env["BENCH_LOG"] === undefined ? LogLevel.None : LogLevel.Info))
)

const program = Effect.gen(function*() {
  const context = yield* Layer.build(live)
  const runFork = Runtime.runFork(yield* Effect.runtime())
  const report = Effect.flatMap(
    Effect.provide(Cluster.health, context),
    (health) => Effect.sync(() => void process.send?.(health satisfies Health))
  )
  process.on("message", () => runFork(report))
  yield* report
  return yield* Effect.never
})

setTimeout(() => process.exit(1), settings.limitMs).unref()
process.on("disconnect", () => process.exit())
NodeRuntime.runMain(Effect.scoped(program), { disableErrorReporting: process.env["BENCH_LOG"] === undefined })
