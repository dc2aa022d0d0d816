/** In a file of its own, because the hosts of other tests count, too. */
import { assert, it } from "@effect/vitest"
import { Array, Effect, Metric, MetricState } from "effect"
import * as Testing from "../../src/Testing.js"
import { call, clientOf } from "../support/telemetry.js"

/** The number of attempts by the address of the host. */
const attempts = Effect.map(
  Metric.snapshot,
  (snapshot) =>
    new Map(snapshot.flatMap(({ metricKey: { name, tags }, metricState }) => {
      const address = Array.fromIterable(tags).find(({ key }) => key === "server.address")?.value
      return name === "identity.call.attempts" && MetricState.isCounterState(metricState)
        ? [[address, Number(metricState.count)] as const]
        : []
    }))
)

it.effect("hosts after the first 1,000 share the metrics of the address `other`", () =>
  Effect.gen(function*() {
    const callOnce = Effect.suspend(() => {
      const { host, layer } = clientOf({ replies: [Testing.reply({ status: 204 })] })
      return Effect.as(Effect.provide(call, layer), host)
    })
    const hosts = yield* Effect.replicateEffect(callOnce, 1003)
    const counted = yield* attempts
    assert.deepStrictEqual(Array.fromIterable(counted.keys()).sort(), [...hosts.slice(0, 1000), "other"].sort())
    assert.strictEqual(counted.get("other"), 3)
    assert.strictEqual(counted.get(hosts[0]), 1)
  }))
