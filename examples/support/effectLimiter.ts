/** A rate limiter that is Effect's own. */
import { Effect, RateLimiter as Rate } from "effect"
import { RateLimiter } from "effect-identity-client"

// Effect's own limiter: five calls a second.
export const perSecond = Effect.map(
  Rate.make({ limit: 5, interval: "1 second" }),
  (five) => RateLimiter.make(() => five)
)
