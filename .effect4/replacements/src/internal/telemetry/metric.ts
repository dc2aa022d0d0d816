/** Counters, gauges and histograms; the only module that updates Effect's metrics. */
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import { type AnyFiber, contextOf } from "../runtime/fiber.js"

/** The services of a call: the attributes that a program adds to its metrics, and where they are registered. */
export type Labels = Context.Context<never>

/** The labels of what is counted outside of a program's fibers. */
export const noLabels: Labels = Context.empty()

export const labelsOf = (fiber: AnyFiber): Labels => contextOf(fiber)

export type Counter = Metric.Counter<number>
export type Gauge = Metric.Gauge<number>
export type Histogram = Metric.Histogram<number>

/** Increments a counter, sets a gauge or records a value in a histogram. */
export const update = (metric: Pick<Counter, "updateUnsafe">, value: number, labels: Labels): void =>
  metric.updateUnsafe(value, labels)

export const add = (gauge: Gauge, difference: number, labels: Labels): void => gauge.modifyUnsafe(difference, labels)

type Tags = Readonly<Record<string, string | undefined>>

/** The tags that have a value. */
const attributesOf = (tags: Tags): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(tags).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]))

export const counter = (name: string, description: string) => (tags: Tags): Counter =>
  Metric.counter(name, { description, incremental: true, attributes: attributesOf(tags) })

export const gauge = (name: string, description: string) => (tags: Tags): Gauge =>
  Metric.gauge(name, { description, attributes: attributesOf(tags) })

/** Makes a histogram of seconds with the boundaries that OpenTelemetry's conventions recommend, and 30 and 60 s. */
export const histogram = (name: string, description: string) => {
  const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60]
  return (tags: Tags): Histogram =>
    Metric.histogram(name, { description, boundaries, attributes: attributesOf({ ...tags, unit: "s" }) })
}
