/** The metrics of the library, named as in OpenTelemetry's conventions; the only module that updates Effect's metrics. */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import type * as MetricKeyType from "effect/MetricKeyType"
import * as MetricLabel from "effect/MetricLabel"

/** The labels that a program adds with `Effect.tagMetrics`. */
export type Labels = ReadonlyArray<MetricLabel.MetricLabel>

type Counter = Metric.Metric.Counter<number>
type Gauge = Metric.Metric.Gauge<number>
type Histogram = Metric.Metric.Histogram<number>

export const increment = (counter: Counter, labels: Labels): void => counter.unsafeUpdate(1, labels)

export const record = (histogram: Histogram, value: number, labels: Labels): void =>
  histogram.unsafeUpdate(value, labels)

export const set = (gauge: Gauge, value: number, labels: Labels): void => gauge.unsafeUpdate(value, labels)

export const add = (gauge: Gauge, difference: number, labels: Labels): void => gauge.unsafeModify(difference, labels)

type Tags = Readonly<Record<string, string>>

/** Makes a metric with tags once, as `Metric.tagged` looks it up again for each update. */
const tagged = <Type extends MetricKeyType.MetricKeyType.Untyped>(key: MetricKey.MetricKey<Type>, tags: Tags) =>
  Metric.fromMetricKey(
    MetricKey.taggedWithLabels(key, Object.entries(tags).map(([name, value]) => MetricLabel.make(name, value)))
  )

const counter = (name: string, description: string) => {
  const key = MetricKey.counter(name, { description, incremental: true })
  return (tags: Tags): Counter => tagged(key, tags)
}

const gauge = (name: string, description: string) => {
  const key = MetricKey.gauge(name, { description })
  return (tags: Tags): Gauge => tagged(key, tags)
}

/** Makes a histogram of seconds with the boundaries that OpenTelemetry's conventions recommend, and 30 and 60 s. */
const histogram = (name: string, description: string) => {
  const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60]
  const key = MetricKey.histogram(name, MetricBoundaries.fromIterable(boundaries), description)
  return (tags: Tags): Histogram => tagged(key, { ...tags, unit: "s" })
}

const duration = histogram("identity.call.duration", "Duration of calls with all attempts and waits")
const attempts = counter("identity.call.attempts", "Requests sent")
const throttled = counter("identity.call.throttled", "Responses with status 429")
const undecodable = counter("identity.call.undecodable", "Responses that could not be decoded")
const wait = histogram("identity.limiter.wait", "Waits for a permit of the rate limiter")
const waiting = gauge("identity.limiter.waiting", "Calls that wait for a permit of the rate limiter")
const remaining = gauge("identity.quota.remaining", "Remaining calls according to the last response")
const drift = counter("identity.drift", "Fields and values that the schemas do not know, each counted once")
const tokens = counter("identity.token.requests", "Token requests")

/** The metrics of one operation of one client. */
export class OperationMetrics {
  readonly attempts: Counter
  readonly throttled: Counter
  readonly wait: Histogram
  readonly waiting: Gauge
  readonly remaining: Gauge
  private readonly tags: Tags
  private readonly durations = new Map<unknown, Map<unknown, Histogram>>()

  constructor(tags: Tags) {
    this.tags = tags
    this.attempts = attempts(tags)
    this.throttled = throttled(tags)
    this.wait = wait(tags)
    this.waiting = waiting(tags)
    this.remaining = remaining(tags)
  }

  /** The duration of calls whose last response had this status, and that failed with this type of error. */
  duration(status: number | undefined, error: string | undefined): Histogram {
    const byError = this.durations.get(status) ?? new Map<unknown, Histogram>()
    let metric = byError.get(error)
    if (metric === undefined) {
      metric = duration({
        ...this.tags,
        ...(status !== undefined && { "http.response.status_code": String(status) }),
        ...(error !== undefined && { "error.type": error })
      })
      this.durations.set(status, byError.set(error, metric))
    }
    return metric
  }

  undecodable(reason: string): Counter {
    return undecodable({ ...this.tags, "identity.reason": reason })
  }

  drift(path: string, value: string | undefined): Counter {
    return drift({ ...this.tags, "identity.path": path, ...(value !== undefined && { "identity.value": value }) })
  }
}

/** The token requests that succeeded, or failed with this type of error. */
export const tokenRequests = (error?: string): Counter => tokens(error === undefined ? {} : { "error.type": error })
