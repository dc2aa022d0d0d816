/** Readings of rate-limit headers, for tests of what a limiter makes of them. */
import type { BucketReading } from "../../src/internal/limiter/bucketReading.js"

/** A reading of a bucket of 10 that refills with one call in a second; without `remaining`, of a response without headers. */
export const reading = (remaining: number | undefined, more: Partial<BucketReading> = {}): BucketReading => ({
  isRateLimited: false,
  isServed: true,
  limit: remaining === undefined ? undefined : 10,
  remaining,
  untilFull: remaining === undefined ? undefined : 10 - remaining,
  date: 0,
  pause: undefined,
  isPauseCut: false,
  ...more
})

/** A reading of a 429. */
export const rateLimited = (more: Partial<BucketReading> = {}): BucketReading =>
  reading(0, { isRateLimited: true, ...more })

/** A reading of a bucket of 100 that refills with `perSecond` calls a second. */
export const largeReading = (remaining: number, perSecond = 0.1): BucketReading =>
  reading(remaining, { limit: 100, untilFull: Math.round((100 - remaining) / perSecond) })
