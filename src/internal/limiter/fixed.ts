/** A strategy for a known limit that all calls share and no other client uses. */
import type { Call } from "./limiter.js"
import { type Limit, type LimitStrategy, longestOf, reserved, rounding, waitFor } from "./strategy.js"

interface FixedState {
  readonly call: Call
}

/** Allows `limit` calls at once, and `rate` more in each millisecond. */
export const make = (limit: number, rate: number): LimitStrategy<FixedState, void> => {
  const state: FixedState = { call: { tenant: "*", operation: "*" } }
  let tokens = limit
  let at = 0
  /** The calls left. If a test has set its clock back, time counts from there on. */
  const left = (now: number): number => {
    at = Math.min(at, now)
    return Math.min(limit, tokens + (now - at) * rate)
  }
  const bucket: Limit = {
    wait: (now, share, ahead) => waitFor(1 + reserved(share, limit) + ahead - left(now), rate),
    reason: () => "limit"
  }
  return {
    stateOf: () => state,
    states: () => [state],
    limitsOf: () => [bucket],
    wait: (one, now, ahead) => longestOf([bucket], one, now, ahead),
    start: (_, now) => {
      tokens = left(now) - 1
      at = now
    },
    giveBack: () => void tokens++,
    settle: () => {},
    statusOf: (_, now) => ({
      limit,
      remaining: Math.max(0, Math.floor(left(now) + rounding)),
      fullAt: now + Math.max(0, Math.ceil((limit - left(now)) / rate))
    }),
    forgetIdle: () => {}
  }
}
