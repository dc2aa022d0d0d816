/** A token bucket that refills continuously by the `Clock` and reports itself in the service's rate-limit headers. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { Issue } from "../../Errors.js"

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

/** The time at which a bucket is full, as it was known at a time. A clock that is set back later takes both with it. */
interface Level {
  readonly at: number
  readonly fullAt: number
}

/** No bucket is larger: its level stays a number that JSON has, and exact. */
const maxBurst = 1_000_000_000

const millisPerCallOf = ({ per, refill }: BucketSize): number => Duration.toMillis(per) / refill

/** Names the bucket whose size could never hold a call, or never refill. */
export const issuesOf = (size: BucketSize, path: string): ReadonlyArray<Issue> => {
  const millisPerCall = millisPerCallOf(size)
  return size.burst >= 1 && millisPerCall > 0 && millisPerCall < Infinity
    ? []
    : [{ path, message: "expected a burst of at least 1, and a refill and a period above zero" }]
}

/** Makes a full bucket. */
export const make = (size: BucketSize): Effect.Effect<TokenBucket> => {
  const burst = Math.min(size.burst, maxBurst)
  const millisPerCall = millisPerCallOf(size)
  // Stores only the time at which the bucket is full again: no fiber has to refill it, and nothing drifts.
  const fullAtBy = ({ at, fullAt }: Level, now: number) => fullAt - Math.max(0, at - now)
  const leftAt = (level: Level, now: number) => burst - Math.max(0, fullAtBy(level, now) - now) / millisPerCall
  return Effect.map(Ref.make<Level>({ at: -Infinity, fullAt: -Infinity }), (level) => ({
    take: Effect.flatMap(
      Clock.currentTimeMillis,
      (now) =>
        Ref.modify(level, (last): readonly [TakeResult, Level] => {
          const before = fullAtBy(last, now)
          const found = leftAt(last, now) + 1e-9
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
          return [{ allowed, left, headers }, { at: now, fullAt: after }]
        })
    ),
    left: Effect.zipWith(Ref.get(level), Clock.currentTimeMillis, leftAt),
    setLeft: (left) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => Ref.set(level, { at: now, fullAt: now + (burst - left) * millisPerCall })
      ),
    burst,
    refillPerSecond: 1000 / millisPerCall
  }))
}
