/** What is counted and measured, by names as OpenTelemetry's are: each is tagged once, and updated in passing. */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import type * as MetricKeyType from "effect/MetricKeyType"
import * as MetricLabel from "effect/MetricLabel"

export type Labels = ReadonlyArray<MetricLabel.MetricLabel>

/** Adds to a counter, sets a gauge, or records a value in a histogram. */
export const update = <Type>(metric: Metric.Metric<Type, number, unknown>, value: number, labels: Labels): void =>
  metric.unsafeUpdate(value, labels)

/** Adds to a gauge. */
export const adjust = (gauge: Metric.Metric.Gauge<number>, difference: number, labels: Labels): void =>
  gauge.unsafeModify(difference, labels)

type Tags = Readonly<Record<string, string>>

/** A metric with its tags; `Metric.tagged` would look it up again with each update. */
const tagged = <Type extends MetricKeyType.MetricKeyType.Untyped>(
  key: MetricKey.MetricKey<Type>,
  tags: Tags
) =>
  Metric.fromMetricKey(
    MetricKey.taggedWithLabels(key, Object.entries(tags).map(([name, value]) => MetricLabel.make(name, value)))
  )

const counter = (name: string, description: string) => {
  const key = MetricKey.counter(name, { description, incremental: true })
  return (tags: Tags) => tagged(key, tags)
}

const gauge = (name: string, description: string) => {
  const key = MetricKey.gauge(name, { description })
  return (tags: Tags) => tagged(key, tags)
}

/** A histogram of seconds, in the buckets that OpenTelemetry's conventions advise. */
const histogram = (name: string, description: string) => {
  const buckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60]
  const key = MetricKey.histogram(name, MetricBoundaries.fromIterable(buckets), description)
  return (tags: Tags) => tagged(key, { ...tags, unit: "s" })
}

const duration = histogram("identity.call.duration", "Calls, with all attempts and waits")
const attempts = counter("identity.call.attempts", "Requests")
const throttled = counter("identity.call.throttled", "Answers with 429")
const undecodable = counter("identity.call.undecodable", "Answers that are not as promised")
const wait = histogram("identity.limiter.wait", "Waits for the limiter")
const waiting = gauge("identity.limiter.waiting", "Calls that wait for the limiter")
const remaining = gauge("identity.quota.remaining", "What the last answer left of the limit")
const drift = counter("identity.drift", "What no schema knows, each once")
const tokenRequests = counter("identity.token.requests", "Tokens asked for")

/** The metrics of one operation of one client. */
export class Metrics {
  readonly attempts: Metric.Metric.Counter<number>
  readonly throttled: Metric.Metric.Counter<number>
  readonly wait: Metric.Metric.Histogram<number>
  readonly waiting: Metric.Metric.Gauge<number>
  readonly remaining: Metric.Metric.Gauge<number>
  private readonly tags: Tags
  private readonly durations = new Map<unknown, Map<unknown, Metric.Metric.Histogram<number>>>()

  constructor(tags: Tags) {
    this.tags = tags
    this.attempts = attempts(tags)
    this.throttled = throttled(tags)
    this.wait = wait(tags)
    this.waiting = waiting(tags)
    this.remaining = remaining(tags)
  }

  /** How long calls took that came to this: the status of their last answer, and the type of their failure. */
  duration(status: number | undefined, error: string | undefined): Metric.Metric.Histogram<number> {
    const ofStatus = this.durations.get(status) ?? new Map<unknown, Metric.Metric.Histogram<number>>()
    let metric = ofStatus.get(error)
    if (metric === undefined) {
      metric = duration({
        ...this.tags,
        ...(status !== undefined && { "http.response.status_code": String(status) }),
        ...(error !== undefined && { "error.type": error })
      })
      this.durations.set(status, ofStatus.set(error, metric))
    }
    return metric
  }

  undecodable(reason: string): Metric.Metric.Counter<number> {
    return undecodable({ ...this.tags, "identity.reason": reason })
  }

  drift(path: string, value: string | undefined): Metric.Metric.Counter<number> {
    return drift({ ...this.tags, "identity.path": path, ...(value !== undefined && { "identity.value": value }) })
  }
}

/** How often tokens were asked for, with this outcome. */
export const tokens = (error?: string): Metric.Metric.Counter<number> =>
  tokenRequests(error === undefined ? {} : { "error.type": error })
