/** A rate limiter that is Effect's own. */
import { Effect, Layer } from "effect"
import { RateLimiter } from "effect-identity-client"
import * as Rate from "effect/persistence/RateLimiter"

// Effect's own limiter: five calls a second.
export const perSecond = Effect.map(Rate.makeWithRateLimiter, (limit) => {
  const five = limit({ limit: 5, window: "1 second", key: "calls", onExceeded: "delay" })
  return RateLimiter.make(() => (send) => Effect.flatten(Effect.orDie(five(Effect.succeed(send)))))
}).pipe(Effect.provide(Layer.provide(Rate.layer, Rate.layerStoreMemory)))
