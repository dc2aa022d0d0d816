/** Counters, gauges and histograms; the only module that updates Effect's metrics. */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import type * as MetricKeyType from "effect/MetricKeyType"
import * as MetricLabel from "effect/MetricLabel"
import { type AnyFiber, metricLabelsOf } from "../runtime/fiber.js"

/** The labels that a program adds with `Effect.tagMetrics`. */
export type Labels = ReadonlyArray<MetricLabel.MetricLabel>

/** The labels of what is counted outside of a program's fibers. */
export const noLabels: Labels = []

export const labelsOf = (fiber: AnyFiber): Labels => metricLabelsOf(fiber)

export type Counter = Metric.Metric.Counter<number>
export type Gauge = Metric.Metric.Gauge<number>
export type Histogram = Metric.Metric.Histogram<number>

/** Increments a counter, sets a gauge or records a value in a histogram. */
export const update = (metric: Pick<Counter, "unsafeUpdate">, value: number, labels: Labels): void =>
  metric.unsafeUpdate(value, labels)

export const add = (gauge: Gauge, difference: number, labels: Labels): void => gauge.unsafeModify(difference, labels)

type Tags = Readonly<Record<string, string | undefined>>

/** Makes a metric with the tags that have a value, once: `Metric.tagged` looks it up again for each update. */
const tagged = <Type extends MetricKeyType.MetricKeyType.Untyped>(key: MetricKey.MetricKey<Type>) => (tags: Tags) =>
  Metric.fromMetricKey(
    MetricKey.taggedWithLabels(
      key,
      Object.entries(tags).flatMap(([name, value]) => value === undefined ? [] : [MetricLabel.make(name, value)])
    )
  )

export const counter = (name: string, description: string): (tags: Tags) => Counter =>
  tagged(MetricKey.counter(name, { description, incremental: true }))

export const gauge = (name: string, description: string): (tags: Tags) => Gauge =>
  tagged(MetricKey.gauge(name, { description }))

/** Makes a histogram of seconds with the boundaries that OpenTelemetry's conventions recommend, and 30 and 60 s. */
export const histogram = (name: string, description: string) => {
  const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60]
  const make = tagged(MetricKey.histogram(name, MetricBoundaries.fromIterable(boundaries), description))
  return (tags: Tags): Histogram => make({ ...tags, unit: "s" })
}
