/** A limiter that knows how the simulated server counts: its goodput is the best that can be reached. */
import { Clock, Effect, Layer } from "effect"
import { RateLimiter } from "../../src/index.js"
import { type BucketServer, windowEnd } from "./bucketServer.js"
import * as Permits from "./permits.js"

/** The shortest and the longest way of a request or response, in milliseconds. */
const [shortest, longest] = [1, 80]

/** The limiter for a server whose clock it knows. Its first call goes alone, as that of a limiter that has to learn. */
export const layer = ({ profile, size }: BucketServer): Layer.Layer<RateLimiter.RateLimiter> =>
  Layer.sync(RateLimiter.RateLimiter, () => {
    const { burst, interval } = size
    const length = burst * interval
    const semaphore = Effect.unsafeMakeSemaphore(1)
    let sent = 0
    /** The latest possible arrivals of the first call of all, and of the first of the window. */
    let first = Infinity
    let opened = Infinity
    /** The end of this window, the calls sent in it, and those of them that may have arrived in the next. */
    let [end, inWindow, early] = [-Infinity, 0, 0]

    /** The earliest time for the next call; Infinity: not before a response comes. */
    const notBefore = (now: number): number => {
      if (sent === 0) return now
      if (first === Infinity) return Infinity
      if (profile.kind === "refill") return first + (sent + 1 - burst) * interval
      if (profile.kind === "opened") return inWindow < burst ? now : opened + length - shortest
      return now < end && inWindow >= burst ? end : now
    }

    const count = (now: number): void => {
      sent++
      if (profile.kind === "opened" && (inWindow === burst || sent === 1)) {
        opened = Infinity
        inWindow = 0
      }
      if (profile.kind === "aligned" && now >= end) {
        end = windowEnd(profile, size, now)
        inWindow = early
        early = 0
      }
      if (profile.kind === "aligned" && now + longest >= end) early++
      inWindow++
    }

    const acquire: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (local) => {
      const now = local + profile.ahead
      const wait = notBefore(now) - now
      if (wait > 0) return Effect.zipRight(Effect.sleep(wait === Infinity ? 1 : wait), acquire)
      return Effect.sync(() => count(now))
    })

    const settle = Effect.map(Clock.currentTimeMillis, (local) => {
      const arrived = local + profile.ahead - shortest
      first = Math.min(first, arrived)
      opened = Math.min(opened, arrived)
    })

    return Permits.limiterOf(() => Effect.as(semaphore.withPermits(1)(acquire), { settle: () => settle }))
  })
