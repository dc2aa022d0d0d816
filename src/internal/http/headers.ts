/** What the service says in headers: how much is left of the rate limit, how long to wait, who logged the call. */
import * as Headers from "@effect/platform/Headers"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

const integer = (text: string | undefined): number | undefined => {
  const trimmed = text?.trim() ?? ""
  return /^\d{1,15}$/.test(trimmed) ? Number(trimmed) : undefined
}

/** The three `X-RateLimit-*` headers. */
export interface RateLimit {
  readonly limit: number | undefined
  readonly remaining: number | undefined
  /** In seconds since 1970, on the server's clock. */
  readonly reset: number | undefined
}

const readLimit = (headers: Headers.Headers): RateLimit => ({
  limit: integer(headers["x-ratelimit-limit"]),
  remaining: integer(headers["x-ratelimit-remaining"]),
  reset: integer(headers["x-ratelimit-reset"])
})

/** What was read last: several look at the same answer, one after the other. */
let lastRead = { headers: Headers.empty, limit: readLimit(Headers.empty) }

/** What the service says of its limit. */
export const rateLimit = (headers: Headers.Headers): RateLimit => {
  if (headers !== lastRead.headers) lastRead = { headers, limit: readLimit(headers) }
  return lastRead.limit
}

/** What was parsed last: within a second all answers have the same date. */
let latest: { readonly text: string; readonly seconds: number | undefined } = { text: "", seconds: undefined }

/** A date in seconds since 1970. Only what tells a time of day is one: `Date.parse` takes `1.5` for a day in 2001. */
const epoch = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (text === latest.text) return latest.seconds
  const time = text.includes(":") ? Date.parse(text) : NaN
  latest = { text, seconds: Number.isNaN(time) ? undefined : time / 1000 }
  return latest.seconds
}

/** The server's own time in seconds since 1970. */
export const date = (headers: Headers.Headers): number | undefined => epoch(headers["date"])

/** The point in time of an `X-RateLimit-Reset`. */
export const resetAt = (seconds: number | undefined): DateTime.Utc | undefined =>
  seconds === undefined ? undefined : Option.getOrUndefined(DateTime.make(seconds * 1000))

/** How long `Retry-After` asks to wait: seconds, or a date that is compared with the answer's own, else with `now` (ms). */
export const retryAfter = (headers: Headers.Headers, now: number): Duration.Duration | undefined => {
  const value = headers["retry-after"]
  const until = epoch(value)
  const seconds = integer(value) ?? (until === undefined ? undefined : until - (date(headers) ?? now / 1000))
  return seconds === undefined ? undefined : Duration.seconds(Math.max(0, seconds))
}

/** The identifier of the call in the service's log. */
export const requestId = (headers: Headers.Headers): string | undefined =>
  headers["x-auth0-requestid"] ?? headers["x-request-id"] ?? headers["x-correlation-id"]
