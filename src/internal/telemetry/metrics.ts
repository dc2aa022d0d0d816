/** The metrics of the library, named as in OpenTelemetry's conventions; the only module that updates Effect's metrics. */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import type * as MetricKeyType from "effect/MetricKeyType"
import * as MetricLabel from "effect/MetricLabel"
import { getOrInsert } from "../runtime/memoize.js"

/** The labels that a program adds with `Effect.tagMetrics`. */
export type Labels = ReadonlyArray<MetricLabel.MetricLabel>

type Counter = Metric.Metric.Counter<number>
type Gauge = Metric.Metric.Gauge<number>
type Histogram = Metric.Metric.Histogram<number>

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

const counter = (name: string, description: string): (tags: Tags) => Counter =>
  tagged(MetricKey.counter(name, { description, incremental: true }))

const gauge = (name: string, description: string): (tags: Tags) => Gauge =>
  tagged(MetricKey.gauge(name, { description }))

/** Makes a histogram of seconds with the boundaries that OpenTelemetry's conventions recommend, and 30 and 60 s. */
const histogram = (name: string, description: string) => {
  const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60]
  const make = tagged(MetricKey.histogram(name, MetricBoundaries.fromIterable(boundaries), description))
  return (tags: Tags): Histogram => make({ ...tags, unit: "s" })
}

const duration = histogram("identity.call.duration", "Duration of calls with all attempts and waits")
const attempts = counter("identity.call.attempts", "Requests sent")
const throttled = counter("identity.call.throttled", "Responses with status 429")
const undecodable = counter("identity.call.undecodable", "Responses that could not be decoded")
const wait = histogram("identity.limiter.wait", "Waits for a permit of the rate limiter")
const waiting = gauge("identity.limiter.waiting", "Calls that wait for a permit of the rate limiter")
const remaining = gauge("identity.quota.remaining", "Remaining calls according to the last response")
const limit = gauge("identity.quota.limit", "Size of the bucket according to the last response")
const skipped = counter("identity.retry.skipped", "Retries that were not made, because the retry budget was used up")
const refused = counter("identity.circuit.refused", "Attempts that an open circuit refused")
const open = gauge("identity.circuit.open", "Open circuits")
const drift = counter("identity.drift", "Fields and values that the schemas do not know, each counted once")

/** The token requests that succeeded, or that failed with the tag `error.type`. */
export const tokenRequests = counter("identity.token.requests", "Token requests")

const tokenLimit = gauge("identity.token.quota.limit", "Tokens that the quota allows")
const tokensRemaining = gauge("identity.token.quota.remaining", "Remaining tokens according to the last token response")

const runningJobs = gauge("identity.jobs.running", "Jobs that run in this process")
const jobEvents = counter("identity.jobs.events", "Events of jobs that got an outcome in this process")

/** Makes the gauge of the running jobs of a kind. */
export const jobsOf = (kind: string): Gauge => runningJobs({ "identity.job": kind })

/** Makes the counter of the events of jobs with an outcome. */
export const eventsOf = (outcome: string): Counter => jobEvents({ "identity.outcome": outcome })

/** Makes a function that keeps the first `most` values of a tag; others become `other`: Effect keeps each metric until the process ends. */
export const boundTag = (most: number) => {
  const values = new Set<string>()
  return (value: string): string => {
    if (values.size < most) values.add(value)
    return values.has(value) ? value : "other"
  }
}

const boundedHost = /* @__PURE__ */ boundTag(1000)

const boundedClient = /* @__PURE__ */ boundTag(1000)

const boundedQuota = /* @__PURE__ */ boundTag(100)

/** Makes the gauges of one token quota as a client sees it. A client's id is no secret. */
export const forTokenQuota = (host: string, clientId: string, of: string, bucket: string) => {
  const tags = {
    "server.address": boundedHost(host),
    "identity.client_id": boundedClient(clientId),
    "identity.quota": boundedQuota(`${of} ${bucket}`)
  }
  return { limit: tokenLimit(tags), remaining: tokensRemaining(tags) }
}

/** Makes the gauge of the open circuits of the clients of one host. */
export const openCircuits = (host: string): Gauge => open({ "server.address": boundedHost(host) })

/** Makes the metrics of one operation of the client of one host. */
export const forOperation = (operation: string, host: string) => {
  const tags = { "identity.operation": operation, "server.address": boundedHost(host) }
  const durations = new Map<string | number | undefined, Histogram>()
  return {
    attempts: attempts(tags),
    throttled: throttled(tags),
    wait: wait(tags),
    waiting: waiting(tags),
    remaining: remaining(tags),
    limit: limit(tags),
    skipped: skipped(tags),
    refused: refused(tags),
    openCircuits: openCircuits(host),
    /** The duration of calls whose last response had this status, and that failed with this type of error. */
    duration: (status: number | undefined, error: string | undefined): Histogram =>
      getOrInsert(
        durations,
        error === undefined ? status : `${status} ${error}`,
        () => duration({ ...tags, "http.response.status_code": status?.toString(), "error.type": error })
      ),
    undecodable: (reason: string) => undecodable({ ...tags, "identity.reason": reason }),
    drift: (path: string, value: string | undefined) =>
      drift({ ...tags, "identity.path": path, "identity.value": value })
  }
}
