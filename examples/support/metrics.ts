/** Prints a snapshot of the library's metrics. */
import { Array, Effect, Order } from "effect"
import { type MetricReading, metricReadings } from "./metricReadings.js"
import { dim } from "./terminal.js"

/** Tags that are the same in every line, or repeat the line. */
const hidden = new Set(["server.address", "unit"])

/** A histogram's count and mean, the value of a counter or a gauge, nothing of others. */
const summary = ({ kind, sum, value }: MetricReading): string =>
  kind === "histogram" ? `${value} × ${(sum / value * 1000).toFixed(0)} ms` : Number.isNaN(value) ? "" : String(value)

const lines = (readings: ReadonlyArray<MetricReading>): ReadonlyArray<string> =>
  readings.map((reading) => {
    const tags = Object.entries(reading.tags).filter(([key]) => !hidden.has(key))
    const label = tags.map(([, value]) => value).join(" ") || "all"
    return `  ${label.padEnd(64)} ${summary(reading).padStart(12)}`
  }).sort()

/** Every metric of the library, by name. */
export const metricLines = Effect.map(metricReadings, (readings) => {
  const own = readings.filter(({ name }) => name.startsWith("identity."))
  const groups = Object.entries(Array.groupBy(own, ({ name }) => name))
  return Array.sortWith(groups, ([name]) => name, Order.string).flatMap(([name, all]) => [dim(name), ...lines(all)])
})
