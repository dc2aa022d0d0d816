/** Buckets of calls, as limiters see them. Times are local milliseconds. */

/** The known limit at a time. */
export interface BucketStatus {
  readonly limit: number
  readonly remaining: number
  readonly fullAt: number
}

/** Levels are sums of fractions: a difference of a millionth of a call is an error of rounding. */
export const rounding = 1e-6

/** The calls that a `share` of a limit leaves to others: never all. */
export const reserved = (share: number, limit: number): number =>
  Math.max(0, Math.min(Math.ceil(share * limit), limit - 1))
