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
  /** The capacity in calls, at least 1. More than a billion count as a billion. */
  readonly burst: number
  /** The number of calls added per period, greater than 0. */
  readonly refill: number
  /** The length of a period. */
  readonly per: Duration.DurationInput
}

/** The outcome of taking one call, and the rate-limit headers of the response. */
interface TakeResult {
  readonly allowed: boolean
  /** The calls left after it, not rounded. */
  readonly left: number
  readonly headers: Readonly<Record<string, string>>
}

export interface TokenBucket {
  /** Takes one call out of the bucket if it holds one. */
  readonly take: Effect.Effect<TakeResult>
  /** The calls left, not rounded. */
  readonly left: Effect.Effect<number>
  /** Sets the calls left: 0 empties the bucket, `burst` fills it. */
  readonly setLeft: (left: number) => Effect.Effect<void>
  readonly burst: number
  readonly refillPerSecond: number
}

/** No bucket is larger: its level stays a number that JSON has, and exact. */
const maxBurst = 1_000_000_000

/** Makes a full bucket. A size that could never hold a call, or never refill, is a defect. */
export const make = ({ burst: size, per, refill }: BucketSize): Effect.Effect<TokenBucket> => {
  const burst = Math.min(size, maxBurst)
  const millisPerCall = Duration.toMillis(per) / refill
  if (!(burst >= 1 && millisPerCall > 0 && millisPerCall < Infinity)) {
    return Effect.dieMessage("Invalid bucket size: burst must be at least 1, and refill and per must be greater than 0")
  }
  // Stores only the time at which the bucket is full again: no fiber has to refill it, and nothing drifts.
  const leftAt = (fullAt: number, now: number) => burst - Math.max(0, fullAt - now) / millisPerCall
  return Effect.map(Ref.make(-Infinity), (fullAt) => ({
    take: Effect.flatMap(
      Clock.currentTimeMillis,
      (now) =>
        Ref.modify(fullAt, (before): readonly [TakeResult, number] => {
          const found = leftAt(before, now) + 1e-9
          const allowed = found >= 1
          const left = allowed ? found - 1 : found
          const after = allowed ? Math.max(before, now) + millisPerCall : before
          const retryAfter = Math.max(1, Math.ceil((1 - found) * millisPerCall / 1000))
          const headers = {
            "x-ratelimit-limit": String(burst),
            "x-ratelimit-remaining": String(Math.floor(left)),
            "x-ratelimit-reset": String(Math.ceil(after / 1000)),
            ...(!allowed && { "retry-after": String(retryAfter) })
          }
          return [{ allowed, left, headers }, after]
        })
    ),
    left: Effect.zipWith(Ref.get(fullAt), Clock.currentTimeMillis, leftAt),
    setLeft: (left) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.set(fullAt, now + (burst - left) * millisPerCall)),
    burst,
    refillPerSecond: 1000 / millisPerCall
  }))
}
