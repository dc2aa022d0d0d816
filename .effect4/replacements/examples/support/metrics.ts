/** Prints a snapshot of the library's metrics. */
import { Array, Effect, Metric, Order } from "effect"
import { dim } from "./terminal.js"

/** Tags that are the same in every line, or repeat the line. */
const hidden = new Set(["server.address", "unit"])

const value = (metric: Metric.Metric.Snapshot): string => {
  if (metric.type === "Histogram") {
    return `${metric.state.count} × ${(metric.state.sum / metric.state.count * 1000).toFixed(0)} ms`
  }
  if (metric.type === "Counter") return String(metric.state.count)
  return metric.type === "Gauge" ? String(metric.state.value) : ""
}

const lines = (metrics: ReadonlyArray<Metric.Metric.Snapshot>): ReadonlyArray<string> =>
  metrics.map((metric) => {
    const tags = Object.entries(metric.attributes ?? {}).filter(([key]) => !hidden.has(key))
    const label = tags.map(([, value]) => value).join(" ") || "all"
    return `  ${label.padEnd(64)} ${value(metric).padStart(12)}`
  }).sort()

/** Every metric of the library, by name; a histogram as its count and mean. */
export const metricLines = Effect.map(Metric.snapshot, (snapshot) => {
  const own = snapshot.filter(({ id }) => id.startsWith("identity."))
  const groups = Object.entries(Array.groupBy(own, ({ id }) => id))
  return Array.sortWith(groups, ([name]) => name, Order.String).flatMap(([name, metrics]) => [
    dim(name),
    ...lines(metrics)
  ])
})
