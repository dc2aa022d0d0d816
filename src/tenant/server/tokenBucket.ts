/** A token bucket that refills continuously by the `Clock` and reports itself in the service's rate-limit headers. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

/**
 * The size of a token bucket: it holds `burst` calls, and `refill` calls are added in each period of `per`.
 * @since 0.1.0 @category models
 */
export interface BucketSize {
  /** The capacity in calls, at least 1. */
  readonly burst: number
  /** The number of calls added per period, greater than 0. */
  readonly refill: number
  /** The length of a period. */
  readonly per: Duration.DurationInput
}

/** The outcome of taking one call, and the rate-limit headers of the response. */
interface TakeResult {
  readonly allowed: boolean
  readonly headers: Readonly<Record<string, string>>
}

/** Takes one call out of a bucket if it holds one. */
export type TokenBucket = Effect.Effect<TakeResult>

/** Makes a full bucket. A size that could never hold a call, or never refill, is a defect. */
export const make = ({ burst, per, refill }: BucketSize): Effect.Effect<TokenBucket> => {
  const millisPerCall = Duration.toMillis(per) / refill
  if (!(burst >= 1 && millisPerCall > 0 && millisPerCall < Infinity)) {
    return Effect.dieMessage("Invalid bucket size: burst must be at least 1, and refill and per must be greater than 0")
  }
  // Stores only the time at which the bucket is full again: no fiber has to refill it, and nothing drifts.
  return Effect.map(
    Ref.make(-Infinity),
    (fullAt) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Ref.modify(fullAt, (before): readonly [TakeResult, number] => {
          const left = burst - Math.max(0, before - now) / millisPerCall + 1e-9
          const allowed = left >= 1
          const after = allowed ? Math.max(before, now) + millisPerCall : before
          const retryAfter = Math.max(1, Math.ceil((1 - left) * millisPerCall / 1000))
          const headers = {
            "x-ratelimit-limit": String(burst),
            "x-ratelimit-remaining": String(Math.floor(allowed ? left - 1 : left)),
            "x-ratelimit-reset": String(Math.ceil(after / 1000)),
            ...(!allowed && { "retry-after": String(retryAfter) })
          }
          return [{ allowed, headers }, after]
        }))
  )
}
