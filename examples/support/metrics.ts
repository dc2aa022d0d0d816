/** Prints a snapshot of the library's metrics. */
import { Array, Effect, Metric, type MetricPair, MetricState, Order } from "effect"
import { dim } from "./terminal.js"

/** Tags that are the same in every line, or repeat the line. */
const hidden = new Set(["server.address", "unit"])

const value = ({ metricState: state }: MetricPair.MetricPair.Untyped): string => {
  if (MetricState.isHistogramState(state)) {
    return `${state.count} × ${(state.sum / state.count * 1000).toFixed(0)} ms`
  }
  if (MetricState.isCounterState(state)) return String(state.count)
  return MetricState.isGaugeState(state) ? String(state.value) : ""
}

const lines = (pairs: ReadonlyArray<MetricPair.MetricPair.Untyped>): ReadonlyArray<string> =>
  pairs.map((pair) => {
    const tags = Array.fromIterable(pair.metricKey.tags).filter(({ key }) => !hidden.has(key))
    const label = tags.map(({ value }) => value).join(" ") || "all"
    return `  ${label.padEnd(64)} ${value(pair).padStart(12)}`
  }).sort()

/** Every metric of the library, by name; a histogram as its count and mean. */
export const metricLines = Effect.map(Metric.snapshot, (snapshot) => {
  const own = snapshot.filter(({ metricKey }) => metricKey.name.startsWith("identity."))
  const groups = Object.entries(Array.groupBy(own, ({ metricKey }) => metricKey.name))
  return Array.sortWith(groups, ([name]) => name, Order.string).flatMap(([name, pairs]) => [dim(name), ...lines(pairs)])
})
