/** The metrics of the library, named as in OpenTelemetry's conventions. */
import { getOrInsert } from "../runtime/memoize.js"
import { type Counter, counter, type Gauge, gauge, type Histogram, histogram } from "./metric.js"

export { add, type Labels, labelsOf, noLabels, update } from "./metric.js"

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
