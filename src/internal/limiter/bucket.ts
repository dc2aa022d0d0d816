/** What is believed of a token bucket: how many calls it holds now, and how fast it fills. Times are local milliseconds. */

export interface Bucket {
  limit: number
  /** How many calls were left at `at`; those in flight are taken off. */
  tokens: number
  at: number
  /** How many calls come back in a millisecond. */
  rate: number
}

/** A full bucket that fills at a known rate. */
export const full = (limit: number, rate: number, now: number): Bucket => ({
  limit,
  tokens: limit,
  at: now,
  rate
})

/** How many calls are left at `now`. If the clock was set back, time counts from there on. */
const left = (bucket: Bucket, now: number): number => {
  bucket.at = Math.min(bucket.at, now)
  return Math.min(bucket.limit, bucket.tokens + (now - bucket.at) * bucket.rate)
}

/** Rates are fractions: a millionth of a call is an error of rounding. */
const rounding = 1e-6

/** How many whole calls are left at `now`. */
export const whole = (bucket: Bucket, now: number): number => Math.max(0, Math.floor(left(bucket, now) + rounding))

/** In how many milliseconds a call may be taken that leaves so many to others; 0: now. */
export const wait = (bucket: Bucket, now: number, others: number): number => {
  const missing = 1 + others - left(bucket, now)
  return missing > rounding ? missing / bucket.rate : 0
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
