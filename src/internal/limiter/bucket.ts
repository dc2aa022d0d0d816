/** A bucket of calls, as a limiter sees it. Times are local milliseconds. */
import type { RateLimitReading } from "./rateLimitHeaders.js"

/** The known limit at a time. */
export interface BucketStatus {
  readonly limit: number
  readonly remaining: number
  readonly fullAt: number
}

/** Decides when the next call may start. */
export interface Bucket {
  /**
   * The milliseconds until a call may start that leaves `reserve` calls, and comes after `ahead` others; 0: now;
   * `Infinity`: not before a call ends.
   */
  readonly wait: (now: number, reserve: number, ahead: number) => number
  /** Counts a call that starts now, or was sent before; `waited`: this bucket made it wait. */
  readonly start: (now: number, waited: boolean, sentAt?: number) => Reservation
  /** The milliseconds that remain of a pause that the service asked for. */
  readonly pausedFor: (now: number) => number
  readonly status: (now: number) => BucketStatus | undefined
}

/** A call that was counted. */
export interface Reservation {
  /** Gives the call back: it was not sent. */
  readonly giveBack: (now: number) => void
  /** Ends the call; `undefined`: no response came. */
  readonly settle: (reading: RateLimitReading | undefined, now: number) => void
}

/** The milliseconds until a call may start that leaves `share` of the limit, and comes after `ahead` others. */
export const waitLeavingShare = (bucket: Bucket, now: number, share: number, ahead: number): number => {
  const limit = share === 0 ? 0 : bucket.status(now)?.limit ?? 0
  return bucket.wait(now, Math.max(0, Math.min(Math.ceil(share * limit), limit - 1)), ahead)
}
