/**
 * A runner of a cluster, as one would deploy it: it runs jobs of any tenant until SIGTERM, and responds to probes.
 * Its environment variables: `DATABASE_URL`, `RUNNER_PORT`, `HEALTH_PORT`, `TOKEN_KEY`, `IDENTITY_CLIENT_ID` and
 * `IDENTITY_CLIENT_SECRET`. With `RUNNER_HOST`, the name under which the other runners reach it, it listens on all
 * interfaces instead of this machine's own one.
 */
import * as RunnerAddress from "@effect/cluster/RunnerAddress"
import { HttpRouter, HttpServer, HttpServerResponse } from "@effect/platform"
import { NodeClusterSocket, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Config, Effect, Layer, Option } from "effect"
import * as Cluster from "effect-identity-client/Cluster"
import { createServer } from "node:http"
import { DatabaseLive, TenantsLive } from "./layers.js"

const local = "127.0.0.1"
const runnerHost = Config.withDefault(Config.string("RUNNER_HOST"), local)
const listenHost = Config.map(runnerHost, (host) => host === local ? local : "0.0.0.0")

// The runner's place in the cluster.
const ShardingLive = Layer.unwrapEffect(
  Effect.map(
    Config.all([runnerHost, listenHost, Config.port("RUNNER_PORT")]),
    ([host, listen, port]) =>
      NodeClusterSocket.layer({
        shardingConfig: {
          runnerAddress: Option.some(RunnerAddress.make(host, port)),
          runnerListenAddress: Option.some(RunnerAddress.make(listen, port)),
          shardLockExpiration: "10 seconds"
        }
      })
  )
)

// Its probe: 200 while it takes jobs, 503 once it shuts down, or while the database does not respond.
const routes = HttpRouter.empty.pipe(
  HttpRouter.get(
    "/ready",
    Effect.map(
      Cluster.health,
      (health) => HttpServerResponse.unsafeJson(health, { status: health.isReady ? 200 : 503 })
    )
  )
)

const HealthLive = HttpServer.serve(routes).pipe(
  Layer.provide(
    NodeHttpServer.layerConfig(createServer, { host: listenHost, port: Config.port("HEALTH_PORT") })
  )
)

// All of it.
HealthLive.pipe(
  Layer.provide(Cluster.layerJobs),
  Layer.provide(ShardingLive),
  Layer.provide(TenantsLive),
  Layer.provide(DatabaseLive),
  Layer.launch,
  NodeRuntime.runMain
)
