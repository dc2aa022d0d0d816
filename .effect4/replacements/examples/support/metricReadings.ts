/** The metrics that this process has recorded. */
import { Effect, Metric } from "effect"

export interface MetricReading {
  readonly name: string
  readonly description: string
  readonly tags: Readonly<Record<string, string>>
  readonly kind: "counter" | "gauge" | "histogram" | "another"
  /** The value of a gauge; the count of a counter or a histogram; else `NaN`. */
  readonly value: number
  /** The sum of the values of a histogram; else `NaN`. */
  readonly sum: number
  /** The boundaries of a histogram. */
  readonly boundaries: ReadonlyArray<number>
  /** What Effect keeps. */
  readonly state: unknown
}

const kindOf = (snapshot: Metric.Metric.Snapshot): MetricReading["kind"] => {
  if (snapshot.type === "Histogram") return "histogram"
  if (snapshot.type === "Gauge") return "gauge"
  return snapshot.type === "Counter" && snapshot.state.incremental ? "counter" : "another"
}

const readingOf = (snapshot: Metric.Metric.Snapshot): MetricReading => {
  const { attributes = {}, description = "", id, state } = snapshot
  const value = "count" in state ? state.count : "value" in state ? state.value : NaN
  return {
    name: id,
    description,
    tags: attributes,
    kind: kindOf(snapshot),
    value: Number(value),
    sum: "sum" in state ? state.sum : NaN,
    boundaries: "buckets" in state ? state.buckets.map(([boundary]) => boundary) : [],
    state
  }
}

export const metricReadings: Effect.Effect<ReadonlyArray<MetricReading>> = Effect.map(
  Metric.snapshot,
  (snapshots) => snapshots.map(readingOf)
)
