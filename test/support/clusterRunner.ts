/** Runners of a cluster: each with connections, a port and locks of its own, as another machine would have. */
import * as RunnerAddress from "@effect/cluster/RunnerAddress"
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import { Effect, Layer, Option } from "effect"
import { freePort } from "../../examples/support/freePort.js"
import { layerSql, type PostgresServer } from "../../examples/support/postgresServer.js"
import * as Cluster from "../../src/Cluster.js"

/** Times that let a cluster notice within seconds what it notices within minutes by default. */
const shardingConfig = {
  shardsPerGroup: 30,
  entityMessagePollInterval: "300 millis",
  refreshAssignmentsInterval: "300 millis",
  runnerHealthCheckInterval: "500 millis",
  shardLockRefreshInterval: "500 millis",
  shardLockExpiration: "3 seconds"
} as const

interface RunnerOptions extends Cluster.Options {
  readonly server: Pick<PostgresServer, "port">
  readonly database: string
  /** The process submits and watches jobs, and runs none. */
  readonly clientOnly?: boolean
}

/** A process of a cluster. */
export const layerRunner = ({ clientOnly = false, database, server, ...options }: RunnerOptions) =>
  Layer.unwrapEffect(Effect.map(freePort, (port) =>
    Layer.fresh(Cluster.layerJobsWith(options)).pipe(
      Layer.provideMerge(
        clientOnly
          ? NodeClusterSocket.layer({ clientOnly: true, shardingConfig })
          : NodeClusterSocket.layer({
            shardingConfig: { ...shardingConfig, runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", port)) }
          })
      ),
      Layer.provideMerge(Layer.effectDiscard(Cluster.migrations)),
      Layer.provideMerge(layerSql(server, database)),
      Layer.orDie
    )))
