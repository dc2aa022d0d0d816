/** A second server with a rate limit, written from the documented headers alone. A seed chooses how it counts. */
import type * as HttpClient from "@effect/platform/HttpClient"
import { Clock, Effect, type Layer } from "effect"
import * as LeanNetwork from "./leanNetwork.js"

/** The number of calls that may be made at once, and the milliseconds until one of them may be made again. */
export interface Size {
  readonly burst: number
  readonly interval: number
}

/** A way to count calls and to report the count. */
export interface Profile {
  /**
   * `refill`: calls become free one by one. A window gives `burst` calls per `burst × interval`: `aligned` begins at
   * multiples of its length, `opened` with the first call after the last window.
   */
  readonly kind: "refill" | "aligned" | "opened"
  /** The rounding of the reset to whole seconds; `past`: rounded up, and a second less. */
  readonly reset: "floor" | "ceil" | "past"
  /** Is true if a 429 has the three rate-limit headers. */
  readonly hasHeadersWhenRefused: boolean
  readonly retryAfter: "none" | "seconds" | "date"
  readonly prefix: "X-RateLimit-" | "x-ratelimit-" | "X-RATELIMIT-"
  /** How many milliseconds the server's clock is ahead of the client's. */
  readonly ahead: number
  /** Where aligned windows begin, as a share of their length. */
  readonly phase: number
}

/** Numbers from 0 to 1 that only the seed decides (mulberry32). */
const numbers = (seed: number): () => number => {
  let state = Math.imul(seed, 0x9e3779b1) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** The profile of a seed. */
export const profileOf = (seed: number): Profile => {
  const next = numbers(seed)
  const oneOf = <const A>(...choices: ReadonlyArray<A>): A => choices[Math.floor(next() * choices.length)]!
  return {
    kind: oneOf("refill", "refill", "aligned", "opened"),
    reset: oneOf("floor", "ceil", "past"),
    hasHeadersWhenRefused: oneOf(true, false),
    retryAfter: oneOf("none", "seconds", "date"),
    prefix: oneOf("X-RateLimit-", "x-ratelimit-", "X-RATELIMIT-"),
    ahead: Math.floor(next() * 180_001) - 90_000,
    phase: next()
  }
}

/** A response before it is written. */
export interface BucketResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** The smallest good response of each operation. */
const good: Readonly<Record<string, readonly [status: number, body: unknown]>> = {
  createUsersExport: [200, { id: "job_0000000000000001", type: "users_export", status: "pending" }],
  updateTokenExchangeProfile: [200, { id: "tep_0000000000000001" }],
  listActionVersions: [200, { total: 0, per_page: 20, versions: [] }],
  redeliverEvent: [202, {}],
  deleteEventStream: [204, undefined],
  getJob: [200, { id: "job_0000000000000001", type: "users_export", status: "pending" }],
  listTokenExchangeProfiles: [200, { token_exchange_profiles: [] }],
  getTokenExchangeProfile: [200, { id: "tep_0000000000000001" }],
  listActions: [200, { total: 0, per_page: 20, actions: [] }],
  getAction: [200, { id: "action" }],
  getActionVersion: [200, { id: "version" }],
  deployActionVersion: [200, { id: "version" }],
  listEventStreams: [200, { eventStreams: [] }],
  getEventStream: [200, { id: "est_0000000000000000000001" }],
  listDeliveries: [200, []],
  getDelivery: [200, {
    id: "evt_0000000000000000000001",
    event_stream_id: "est_0000000000000000000001",
    status: "failed",
    event_type: "user.created",
    attempts: []
  }],
  redeliverEvents: [202, {}]
}

const refusal = {
  statusCode: 429,
  error: "Too Many Requests",
  message: "Global limit has been reached",
  errorCode: "too_many_requests"
}

const windowLength = ({ burst, interval }: Size): number => burst * interval

/** The end of the aligned window that contains this time. */
export const windowEnd = (profile: Profile, size: Size, now: number): number => {
  const length = windowLength(size)
  const offset = Math.floor(profile.phase * length)
  return (Math.floor((now - offset) / length) + 1) * length + offset
}

/** Counts the calls that are left. All times are the server's, in milliseconds. */
interface Count {
  /** Takes a call, if there is one. */
  readonly take: (now: number) => boolean
  readonly left: (now: number) => number
  /** The time when all calls are free again. */
  readonly fullAt: (now: number) => number
  /** The time when the next call is free, if none is left. */
  readonly freeAt: () => number
}

/** A bucket that refills steadily. The time when it is full is its whole state. */
const refilling = ({ burst, interval }: Size): Count => {
  let full = -Infinity
  const fullAt = (now: number) => Math.max(full, now)
  const left = (now: number) => Math.floor(burst - (fullAt(now) - now) / interval)
  return {
    take: (now) => {
      if (left(now) < 1) return false
      full = fullAt(now) + interval
      return true
    },
    left,
    fullAt,
    freeAt: () => full - (burst - 1) * interval
  }
}

/** A window that allows `burst` calls. */
const windowed = (profile: Profile, size: Size): Count => {
  let [end, taken] = [-Infinity, 0]
  const left = (now: number) => size.burst - (now < end ? taken : 0)
  const fullAt = (now: number) => now < end ? end : now
  return {
    take: (now) => {
      if (left(now) < 1) return false
      if (now >= end) {
        end = profile.kind === "aligned" ? windowEnd(profile, size, now) : now + windowLength(size)
        taken = 0
      }
      taken++
      return true
    },
    left,
    fullAt,
    freeAt: () => end
  }
}

const httpDate = (seconds: number): string => new Date(seconds * 1000).toUTCString()

const wholeSeconds = {
  floor: Math.floor,
  ceil: Math.ceil,
  past: (seconds: number) => Math.ceil(seconds) - 1
}

const retryAfterOf = (profile: Profile, freeAt: number, now: number): Readonly<Record<string, string>> => {
  if (profile.retryAfter === "none") return {}
  const value = profile.retryAfter === "date"
    ? httpDate(Math.ceil(freeAt / 1000))
    : String(Math.max(1, Math.ceil((freeAt - now) / 1000)))
  return { "Retry-After": value }
}

/** A server with one limit for all its operations. `respond` takes the time of the server's own clock. */
export interface BucketServer {
  readonly profile: Profile
  readonly size: Size
  readonly respond: (operation: string, now: number) => BucketResponse
  /** The requests so far, the oldest first, with the server's time and the status of the response. */
  readonly seen: ReadonlyArray<{ readonly operation: string; readonly at: number; readonly status: number }>
}

/** Makes a server with its full quota. */
export const make = (profile: Profile, size: Size): BucketServer => {
  const count = profile.kind === "refill" ? refilling(size) : windowed(profile, size)
  const seen: Array<BucketServer["seen"][number]> = []
  const respond = (operation: string, now: number): BucketResponse => {
    const [status, value] = good[operation] ?? [404, { statusCode: 404, error: "Not Found", message: "Not Found" }]
    const isRefused = status !== 404 && !count.take(now)
    const sentStatus = isRefused ? 429 : status
    seen.push({ operation, at: now, status: sentStatus })
    const body = isRefused ? refusal : value
    return {
      status: sentStatus,
      headers: {
        "Date": httpDate(Math.floor(now / 1000)),
        "Content-Type": "application/json; charset=utf-8",
        ...(!isRefused || profile.hasHeadersWhenRefused) && {
          [`${profile.prefix}Limit`]: String(size.burst),
          [`${profile.prefix}Remaining`]: String(count.left(now)),
          [`${profile.prefix}Reset`]: String(wholeSeconds[profile.reset](count.fullAt(now) / 1000))
        },
        ...isRefused && retryAfterOf(profile, count.freeAt(), now)
      },
      body: body === undefined ? null : JSON.stringify(body)
    }
  }
  return { profile, size, respond, seen }
}

/** The milliseconds that the limit alone delays a number of calls. The first is made at `first`. */
export const timeNeeded = (profile: Profile, size: Size, calls: number, first: number): number => {
  if (profile.kind === "refill") return Math.max(0, calls - size.burst) * size.interval
  const more = Math.ceil(calls / size.burst) - 1 // windows after the first
  if (more <= 0) return 0
  const firstEnd = profile.kind === "aligned" ? windowEnd(profile, size, first) - first : windowLength(size)
  return firstEnd + (more - 1) * windowLength(size)
}

const routes: ReadonlyArray<readonly [method: string, path: RegExp, operation: string]> = [
  ["POST", /\/jobs\/users-exports$/, "createUsersExport"],
  ["PATCH", /\/token-exchange-profiles\/[^/]+$/, "updateTokenExchangeProfile"],
  ["GET", /\/actions\/actions\/[^/]+\/versions$/, "listActionVersions"],
  ["POST", /\/event-streams\/[^/]+\/redeliver\/[^/]+$/, "redeliverEvent"],
  ["DELETE", /\/event-streams\/[^/]+$/, "deleteEventStream"],
  ["GET", /\/jobs\/[^/]+$/, "getJob"],
  ["GET", /\/token-exchange-profiles$/, "listTokenExchangeProfiles"],
  ["GET", /\/token-exchange-profiles\/[^/]+$/, "getTokenExchangeProfile"],
  ["GET", /\/actions\/actions$/, "listActions"],
  ["GET", /\/actions\/actions\/[^/]+$/, "getAction"],
  ["GET", /\/actions\/actions\/[^/]+\/versions\/[^/]+$/, "getActionVersion"],
  ["POST", /\/actions\/actions\/[^/]+\/versions\/[^/]+\/deploy$/, "deployActionVersion"],
  ["GET", /\/event-streams$/, "listEventStreams"],
  ["GET", /\/event-streams\/[^/]+$/, "getEventStream"],
  ["GET", /\/event-streams\/[^/]+\/deliveries$/, "listDeliveries"],
  ["GET", /\/event-streams\/[^/]+\/deliveries\/[^/]+$/, "getDelivery"],
  ["POST", /\/event-streams\/[^/]+\/redeliver$/, "redeliverEvents"]
]

/** Latencies of one direction, in milliseconds: 1 to 25, in one of twenty cases up to 80. */
const latencies = (seed: number): () => number => {
  const next = numbers(~seed)
  return () => {
    const isSlow = next() < 0.05
    return 1 + Math.floor(next() * (isSlow ? 80 : 25))
  }
}

/** An HTTP client that reaches the server over a network. The seed decides its latencies; its clock is that of the fiber that builds it. */
export const layer = (server: BucketServer, seed: number): Layer.Layer<HttpClient.HttpClient> => {
  const latency = latencies(seed)
  return LeanNetwork.layer(({ method, url }) =>
    Effect.gen(function*() {
      yield* Effect.sleep(latency())
      const { pathname } = new URL(url)
      const [, , operation = ""] = routes.find(([verb, path]) => verb === method && path.test(pathname)) ?? []
      const response = server.respond(operation, (yield* Clock.currentTimeMillis) + server.profile.ahead)
      yield* Effect.sleep(latency())
      return response
    })
  )
}
