/** The metrics that this process has recorded. */
import { Array, Effect, Metric, MetricKeyType, type MetricPair, MetricState, Option } from "effect"

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

const readingOf = ({ metricKey, metricState: state }: MetricPair.MetricPair.Untyped): MetricReading => {
  const { description, keyType, name, tags } = metricKey
  const isHistogram = MetricState.isHistogramState(state)
  const isCounter = MetricState.isCounterState(state)
  const isGauge = MetricState.isGaugeState(state)
  const isIncremental = MetricKeyType.isCounterKey(keyType) && keyType.incremental
  return {
    name,
    description: Option.getOrElse(description, () => ""),
    tags: Object.fromEntries(Array.fromIterable(tags).map(({ key, value }) => [key, value])),
    kind: isHistogram ? "histogram" : isGauge ? "gauge" : isIncremental ? "counter" : "another",
    value: Number(isHistogram || isCounter ? state.count : isGauge ? state.value : NaN),
    sum: isHistogram ? state.sum : NaN,
    boundaries: MetricKeyType.isHistogramKey(keyType) ? [...keyType.boundaries.values] : [],
    state
  }
}

export const metricReadings: Effect.Effect<ReadonlyArray<MetricReading>> = Effect.map(
  Metric.snapshot,
  (pairs) => pairs.map(readingOf)
)
