/** Permits kept by their calls, for tests that acquire in one place and settle in another. */
import { Effect } from "effect"
import type { RateLimiter } from "../../src/index.js"

type Limiter = RateLimiter.RateLimiter["Type"]

const open = new WeakMap<Limiter, Map<RateLimiter.Call, Array<RateLimiter.Permit>>>()

const permitsOf = (limiter: Limiter, call: RateLimiter.Call): Array<RateLimiter.Permit> => {
  const calls = open.get(limiter) ?? new Map<RateLimiter.Call, Array<RateLimiter.Permit>>()
  const permits = calls.get(call) ?? []
  open.set(limiter, calls.set(call, permits))
  return permits
}

/** Waits for a permit, and keeps it. */
export const acquire = (limiter: Limiter, call: RateLimiter.Call) =>
  Effect.tap(limiter.acquire(call), (permit) => void permitsOf(limiter, call).push(permit))

/** Settles the oldest permit that was kept for this object. */
export const settleOldest = (
  limiter: Limiter,
  call: RateLimiter.Call,
  response: RateLimiter.LimitedResponse | undefined
): Effect.Effect<void> => Effect.suspend(() => permitsOf(limiter, call).shift()?.settle(response) ?? Effect.void)

/** A permit that learns nothing. */
export const permit: RateLimiter.Permit = { settle: () => Effect.void }
