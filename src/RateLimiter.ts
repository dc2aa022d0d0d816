/** Limits the rate of calls, so that the service need not refuse them. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { InvalidInput } from "./Errors.js"
import * as Adaptive from "./internal/limiter/adaptive.js"
import * as Fixed from "./internal/limiter/fixed.js"
import * as Known from "./internal/limiter/known/options.js"
import { isBackgroundWork } from "./internal/limiter/limiter.js"
import type { Limit, Limiter, Options, Status } from "./internal/limiter/limiter.js"
import * as Queue from "./internal/limiter/queue.js"
import { withSetting } from "./internal/runtime/fiber.js"

export type { Ceiling, KnownLimits, Prior } from "./internal/limiter/known/options.js"
export type { Call, Limit, LimitedResponse, Options, Status, WaitReason } from "./internal/limiter/limiter.js"

/** The service that paces calls (contract: Limits). @since 0.1.0 @category tags */
export class RateLimiter extends Context.Tag("effect-identity-client/RateLimiter")<RateLimiter, Limiter>() {}

/**
 * The state of the limiter now: limit, remaining calls, reset and waiting calls of each operation that was called. A later
 * call forgets tenants without calls for an hour.
 * @since 0.1.0 @category getters
 */
export const status: Effect.Effect<ReadonlyArray<Status>, never, RateLimiter> = /* @__PURE__ */ Effect.flatMap(
  RateLimiter,
  ({ status }) => status
)

/**
 * The state of the limiter, now and whenever it changes. A slow reader gets the latest state and misses those before.
 * @since 0.1.0 @category getters
 */
export const changes: Stream.Stream<ReadonlyArray<Status>, never, RateLimiter> = /* @__PURE__ */ Stream.unwrap(
  /* @__PURE__ */ Effect.map(RateLimiter, ({ changes }) => changes)
)

/**
 * Marks the calls in an effect as background work: they leave the limiter's `reserve` to the others.
 * @since 0.1.0 @category combinators @example `Stream.runDrain(nightlySync).pipe(RateLimiter.withBackground)`
 */
export const withBackground = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  withSetting(self, isBackgroundWork, () => true)

/**
 * Makes a limiter of your own, which has no state to show. All that limits effects is one: it receives the effect that sends a call.
 * @since 0.1.0 @category constructors @example `RateLimiter.make(() => semaphore.withPermits(1))`
 */
export const make = (limit: Limit): Context.Tag.Service<RateLimiter> => ({
  limit,
  status: Effect.succeed([]),
  changes: Stream.make([])
})

/** Lets every call start at once. @since 0.1.0 @category layers */
export const layerUnlimited: Layer.Layer<RateLimiter> = /* @__PURE__ */ Layer.sync(
  RateLimiter,
  () => make(() => identity)
)

/**
 * Applies one known limit to all calls: `limit` calls at once, and as many again per `interval`, evenly. Fails with
 * `InvalidInput` if `limit` is not an integer of at least 1, `interval` is not a time above zero, or `reserve` is not from 0 to 1.
 * @since 0.1.0 @category layers @example `RateLimiter.layerFixed({ limit: 10, interval: "1 second" })`
 */
export const layerFixed = (
  options: Options & { readonly limit: number; readonly interval: Duration.DurationInput }
): Layer.Layer<RateLimiter, InvalidInput> =>
  Layer.scoped(
    RateLimiter,
    Effect.gen(function*() {
      const { interval, limit } = options
      const millis = Duration.toMillis(interval)
      const issues = [...Known.issuesOf(options), ...Known.reserveIssues(options)]
      if (issues.length > 0) return yield* new InvalidInput({ operation: "RateLimiter.layerFixed", issues })
      return yield* Queue.make(Fixed.make(limit, limit / millis), options)
    })
  )

/**
 * Learns the limits from the headers of every response. It starts with a single call, and then sends as fast as the service
 * refills the bucket: not faster, so that no call is refused, and not slower. Operations whose headers show the same bucket
 * share it. Times count from the response's own `Date`, so the clocks need not agree. `Retry-After` has precedence.
 *
 * `ceiling` and `prior` are limits that are known beforehand. They count for each tenant alone, from the start of the layer. Fails
 * with `InvalidInput` if a `limit` or `burst` is not an integer of at least 1, an `interval` is not a time above zero, an operation has
 * two priors, or `reserve` is not from 0 to 1.
 * @since 0.1.0 @category layers @example `RateLimiter.layerAdaptive({ ceiling: { limit: 5, interval: "1 second" } })`
 */
export const layerAdaptive = (options: Options & Known.KnownLimits): Layer.Layer<RateLimiter, InvalidInput> =>
  Layer.scoped(
    RateLimiter,
    Effect.flatMap(
      Known.resolve("RateLimiter.layerAdaptive", options),
      (limits) => Queue.make(Adaptive.make(limits), options)
    )
  )

/** `layerAdaptive` with its defaults. @since 0.1.0 @category layers */
export const layer: Layer.Layer<RateLimiter> = /* @__PURE__ */ Layer.scoped(
  RateLimiter,
  /* @__PURE__ */ Effect.suspend(() => Queue.make(Adaptive.make(Known.none), {}))
)
