/** A limiter that is told how the server counts, and learns only its answers: what it reaches shows what can be reached. */
import { Clock, Effect, Layer, Stream } from "effect"
import { RateLimiter } from "../../src/index.js"
import { type BucketServer, windowEnd } from "./bucketServer.js"

/** A way takes 1 to 80 ms. */
const [shortest, longest] = [1, 80]

/** The limiter for this server, whose clock it knows. Its first call goes alone, as with one that has to learn first. */
export const layer = ({ profile, size }: BucketServer): Layer.Layer<RateLimiter.RateLimiter> =>
  Layer.sync(RateLimiter.RateLimiter, () => {
    const { burst, interval } = size
    const length = burst * interval
    const turn = Effect.unsafeMakeSemaphore(1)
    let sent = 0
    /** When the first call of all, and of the window, has arrived at the latest. */
    let first = Infinity
    let opened = Infinity
    /** Until when calls go into this window, and how many have gone; `early` of them may also have missed the last one. */
    let [end, inWindow, early] = [-Infinity, 0, 0]

    /** When the next call may be sent at the earliest; Infinity: an answer that is due will tell. */
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

    return {
      acquire: () => Effect.as(turn.withPermits(1)(acquire), { settle: () => settle }),
      status: Effect.succeed([]),
      changes: Stream.empty
    }
  })
