/** A process of the cluster: with a port it is a runner, without one it submits jobs and waits for them. */
import * as RunnerAddress from "@effect/cluster/RunnerAddress"
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Cluster from "../../../src/Cluster.js"
import { concurrency } from "./settings.js"

/** Times that let a cluster notice within seconds what it notices within minutes by default. */
const shardingConfig = {
  shardsPerGroup: 30,
  entityMessagePollInterval: "300 millis",
  refreshAssignmentsInterval: "500 millis",
  runnerHealthCheckInterval: "1 second",
  shardLockRefreshInterval: "1 second",
  shardLockExpiration: "4 seconds"
} as const

interface ClusterOptions {
  /** The port of a runner. */
  readonly port?: number
  /** Shards are locked in a table, not by the connection. */
  readonly locksInTable: boolean
}

/** The jobs of a process of the cluster. A process that only submits looks for their end more often than is the default. */
export const layerCluster = ({ locksInTable, port }: ClusterOptions) => {
  const config = { ...shardingConfig, shardLockDisableAdvisory: locksInTable }
  return Cluster.layerJobsWith({
    concurrency,
    lockExpiry: "3 seconds",
    ...(port === undefined && { pollInterval: "1 second" })
  }).pipe(
    Layer.provideMerge(
      port === undefined
        ? NodeClusterSocket.layer({ clientOnly: true, shardingConfig: config })
        : NodeClusterSocket.layer({
          shardingConfig: { ...config, runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", port)) }
        })
    ),
    Layer.provide(Layer.effectDiscard(Cluster.migrations))
  )
}
