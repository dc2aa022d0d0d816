/** Reads response headers: the rate limit, `Date`, `Retry-After` and the request identifier. */
import type * as Headers from "@effect/platform/Headers"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/** Reads an integer of up to 15 digits. */
export const integer = (text: string | null | undefined): number | undefined => {
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

export const rateLimit = (headers: Headers.Headers): RateLimit => ({
  limit: integer(headers["x-ratelimit-limit"]),
  remaining: integer(headers["x-ratelimit-remaining"]),
  reset: integer(headers["x-ratelimit-reset"])
})

/** Parses a date to seconds since 1970. It must hold a time of day: `Date.parse` takes `1.5` for a day in 2001. */
const epochSeconds = (text: string | undefined): number | undefined => {
  const millis = text?.includes(":") === true ? Date.parse(text) : NaN
  return Number.isNaN(millis) ? undefined : millis / 1000
}

/** Reads the server's time, in seconds since 1970. */
export const date = (headers: Headers.Headers): number | undefined => epochSeconds(headers["date"])

/** Converts an `X-RateLimit-Reset`. */
export const resetAt = (seconds: number | undefined): DateTime.Utc | undefined =>
  seconds === undefined ? undefined : Option.getOrUndefined(DateTime.make(seconds * 1000))

/**
 * Reads `Retry-After`: seconds, or a date. A date is compared with the response's own `Date`, or else with `now`, in
 * milliseconds since 1970.
 */
export const retryAfter = (headers: Headers.Headers, now: number): Duration.Duration | undefined => {
  const value = headers["retry-after"]
  const until = epochSeconds(value)
  const seconds = integer(value) ?? (until === undefined ? undefined : until - (date(headers) ?? now / 1000))
  return seconds === undefined ? undefined : Duration.seconds(Math.max(0, seconds))
}

/** Reads the identifier of the request in the service's log. */
export const requestId = (headers: Headers.Headers): string | undefined =>
  headers["x-auth0-requestid"] ?? headers["x-request-id"] ?? headers["x-correlation-id"]
