/** A token bucket that refills continuously by the Clock and reports itself the way the service does. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

/** How many calls may come at once (`burst`, at least 1), and how fast they come back: `refill` calls per `per`. */
export interface Bucket {
  /** Calls. */
  readonly burst: number
  /** Calls, at least more than nothing. */
  readonly refill: number
  /** The time in which so many come back. */
  readonly per: Duration.DurationInput
}

/** What became of one call, and the headers that tell of it. */
interface Draw {
  readonly allowed: boolean
  readonly headers: Readonly<Record<string, string>>
}

/** Takes one call out of the bucket, if there is one. */
export type Take = Effect.Effect<Draw>

/** A full bucket. It dies of one that could never hold a call or never refill. */
export const make = (bucket: Bucket): Effect.Effect<Take> => {
  const perCall = Duration.toMillis(bucket.per) / bucket.refill // milliseconds until one more call is free
  if (!(bucket.burst >= 1 && perCall > 0 && perCall < Infinity)) {
    return Effect.dieMessage("A bucket needs a burst of at least 1 and a refill that is more than nothing")
  }
  // The level is kept as the time at which the bucket is full again: nothing has to run, and nothing drifts.
  return Effect.map(
    Ref.make(-Infinity),
    (fullAt) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Ref.modify(fullAt, (before): readonly [Draw, number] => {
          const left = bucket.burst - Math.max(0, before - now) / perCall + 1e-9
          const allowed = left >= 1
          const after = allowed ? Math.max(before, now) + perCall : before
          const headers = {
            "x-ratelimit-limit": String(bucket.burst),
            "x-ratelimit-remaining": String(Math.floor(allowed ? left - 1 : left)),
            "x-ratelimit-reset": String(Math.ceil(after / 1000))
          }
          if (allowed) return [{ allowed, headers }, after]
          const retryAfter = Math.max(1, Math.ceil((1 - left) * perCall / 1000))
          return [{ allowed, headers: { ...headers, "retry-after": String(retryAfter) } }, after]
        }))
  )
}
