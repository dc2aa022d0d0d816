/** Reads the rate-limit headers of a response. */
import * as Duration from "effect/Duration"
import * as ResponseHeaders from "../http/responseHeaders.js"
import type { LimitedResponse } from "./limiter.js"

/** The rate-limit headers of a response, as far as they make sense. */
export interface BucketReading {
  /** True if the status is 429. */
  readonly isRateLimited: boolean
  /** True if the service handled the call: no 5xx. */
  readonly isServed: boolean
  /** The size of the bucket: at least 1. */
  readonly limit: number | undefined
  /** The calls left: from 0 to the limit. */
  readonly remaining: number | undefined
  /** The whole seconds until the bucket is full, by the server's own clock. */
  readonly untilFull: number | undefined
  /** The server's time, or without that the local one, in seconds. */
  readonly date: number
  /** The pause asked for by `Retry-After`, in milliseconds, capped at `maxPause`. */
  readonly pause: number | undefined
  /** True if the service asks for a longer pause. */
  readonly isPauseCut: boolean
}

const day = 86_400

/**
 * Reads the headers of a response that came at the time of day `now`. Impossible values (a limit of 0, a reset in more than a day)
 * are ignored. `maxPause` is the longest pause, in milliseconds.
 */
export const readRateLimit = (response: LimitedResponse, now: number, maxPause: number): BucketReading => {
  const isRateLimited = response.status === 429
  const { limit = 0, remaining, reset = NaN } = ResponseHeaders.rateLimit(response.headers)
  const date = ResponseHeaders.date(response.headers) ?? Math.floor(now / 1000)
  const ahead = reset - date
  const asked = isRateLimited ? ResponseHeaders.retryAfter(response.headers, now) : undefined
  const pause = asked && Duration.toMillis(asked)
  // A refusal with calls left comes from another limit, such as that of a proxy.
  const isOther = isRateLimited && remaining !== undefined && remaining >= 1
  const size = limit > 0 && !isOther && (isRateLimited || remaining !== undefined) ? limit : undefined
  return {
    isRateLimited,
    isServed: response.status < 500,
    limit: size,
    remaining: size && (isRateLimited ? 0 : Math.min(remaining ?? 0, size)),
    untilFull: ahead <= day ? Math.max(-day, ahead) : undefined,
    date,
    pause: pause && Math.min(pause, maxPause),
    isPauseCut: pause !== undefined && pause > maxPause
  }
}
