/** What is believed of a token bucket: how many calls it holds now, and how fast it fills. Times are local milliseconds. */

export interface Bucket {
  limit: number
  /** How many calls were left at `at`; those in flight are taken off. */
  tokens: number
  at: number
  /** How many calls come back in a millisecond. */
  rate: number
  /** Until when nothing may be sent at all. */
  blockedUntil: number
}

/** A full bucket that fills at a known rate. */
export const full = (limit: number, rate: number, now: number): Bucket => ({
  limit,
  tokens: limit,
  at: now,
  rate,
  blockedUntil: 0
})

/** How many calls are left at `now`. */
export const left = (bucket: Bucket, now: number): number =>
  Math.min(bucket.limit, bucket.tokens + Math.max(0, now - bucket.at) * bucket.rate)

/** How many milliseconds to wait until a call may be taken that leaves `reserve` of them; 0: now. */
export const wait = (bucket: Bucket, now: number, reserve: number): number => {
  const missing = 1 + Math.min(reserve, bucket.limit - 1) - left(bucket, now)
  // Rates are fractions: a millionth of a call is an error of rounding.
  return Math.max(bucket.blockedUntil - now, missing > 1e-6 ? missing / bucket.rate : 0, 0)
}

/** Takes a call. */
export const take = (bucket: Bucket, now: number): void => {
  bucket.tokens = left(bucket, now) - 1
  bucket.at = now
}

/** When it will be full again. */
export const fullAt = (bucket: Bucket): number =>
  bucket.at + Math.max(0, Math.ceil((bucket.limit - bucket.tokens) / bucket.rate))

/** Gives a call back that was not made. */
export const giveBack = (bucket: Bucket): void => {
  bucket.tokens += 1
}
