/**
 * A runner of a cluster, as one would deploy it: it runs jobs of any tenant until SIGTERM, and responds to probes. Its environment
 * variables: `DATABASE_URL`, `RUNNER_PORT`, `HEALTH_PORT`, `TOKEN_KEY`, `IDENTITY_CLIENT_ID` and `IDENTITY_CLIENT_SECRET`.
 */
import * as RunnerAddress from "@effect/cluster/RunnerAddress"
import { HttpRouter, HttpServer, HttpServerResponse } from "@effect/platform"
import { NodeClusterSocket, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Config, Effect, Layer, Option } from "effect"
import * as Cluster from "effect-identity-client/Cluster"
import { createServer } from "node:http"
import { DatabaseLive, TenantsLive } from "./layers.js"

// The runner's place in the cluster.
const ShardingLive = Layer.unwrapEffect(Effect.map(Config.port("RUNNER_PORT"), (port) =>
  NodeClusterSocket.layer({
    shardingConfig: {
      runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", port)),
      shardLockExpiration: "10 seconds"
    }
  })))

// Its probe: 200 while it takes jobs, 503 once it shuts down.
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
    NodeHttpServer.layerConfig(createServer, { host: Config.succeed("127.0.0.1"), port: Config.port("HEALTH_PORT") })
  )
)

// All of it.
HealthLive.pipe(
  Layer.merge(Cluster.layerJobs()),
  Layer.provide(ShardingLive),
  Layer.provide(TenantsLive),
  Layer.provide(DatabaseLive),
  Layer.launch,
  NodeRuntime.runMain
)
