/** How often: holds calls back so that the service need not turn them away. */
import type * as HttpHeaders from "@effect/platform/Headers"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { InvalidInput, type Quota, RateLimited } from "./Errors.js"
import * as Adaptive from "./internal/limiter/adaptive.js"
import * as Admission from "./internal/limiter/admission.js"
import type { Bucket } from "./internal/limiter/bucket.js"
import * as Fixed from "./internal/limiter/fixed.js"
import * as News from "./internal/limiter/news.js"
import * as Queue from "./internal/limiter/queue.js"
import * as Fiber from "./internal/runtime/fiber.js"

/** What a limiter knows of a call. */
export interface Call {
  /** The base URL: limits of one tenant say nothing about another. */
  readonly tenant: string
  readonly operation: string
}

/** What a limiter learns of an answer. */
export interface LimitedResponse {
  readonly status: number
  readonly headers: HttpHeaders.Headers
}

/** What is known of the limit of one operation. */
export interface Status extends Call, Quota {
  /** How many calls are being held back. */
  readonly waiting: number
}

/** The service that paces calls (contract: Limits). */
export class RateLimiter extends Context.Tag("effect-identity-client/RateLimiter")<RateLimiter, {
  /** Gives way to a call when it may be sent. Interrupted, it has taken nothing. */
  readonly acquire: (call: Call) => Effect.Effect<void, RateLimited>
  /** Is told of the answer, or that none came: exactly once for each `acquire` that succeeded, with the very object that it was given. */
  readonly observe: (call: Call, answer: LimitedResponse | undefined) => Effect.Effect<void>
  /** What is known now, an entry for each operation that was called. */
  readonly status: Effect.Effect<ReadonlyArray<Status>>
  /** The same, and again whenever it changes; a slow reader misses what is in between. */
  readonly changes: Stream.Stream<ReadonlyArray<Status>>
}>() {}

/** What the limiter knows now: limit, remaining, reset and waiting calls of each operation that was called. */
export const status: Effect.Effect<ReadonlyArray<Status>, never, RateLimiter> = /* @__PURE__ */ Effect.flatMap(
  RateLimiter,
  ({ status }) => status
)

/** What the limiter knows, now and whenever it changes; a slow reader misses what is in between. */
export const changes: Stream.Stream<ReadonlyArray<Status>, never, RateLimiter> = /* @__PURE__ */ Stream.unwrap(
  /* @__PURE__ */ Effect.map(RateLimiter, ({ changes }) => changes)
)

const isBackground = /* @__PURE__ */ Fiber.makeSetting<boolean>("RateLimiter/isBackground", () => false)

/** Marks the calls in an effect as background work: they leave the limiter's `reserve` to the others. */
export const withBackground = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Fiber.withSetting(self, isBackground, () => true)

/** Holds nothing back. */
export const layerUnlimited: Layer.Layer<RateLimiter> = /* @__PURE__ */ Layer.succeed(RateLimiter, {
  acquire: () => Effect.void,
  observe: () => Effect.void,
  status: /* @__PURE__ */ Effect.succeed([]),
  changes: /* @__PURE__ */ Stream.make([])
})

/** How calls are held back. */
export interface Options {
  /** A call that would be held back longer fails at once with `RateLimited`, whose `source` is `limiter` (default: none is). */
  readonly maxWait?: Duration.DurationInput | undefined
  /** How much of the limit calls marked as background leave to the others, from 0 to 1 (default 0.2). */
  readonly reserve?: number | undefined
}

/**
 * What background calls leave to the others.
 *
 * @internal
 */
export const share = 0.2

/** @internal */
export const make = <State extends { readonly call: Call }, Grant>(
  source: Queue.LimitStrategy<State, Grant>,
  { maxWait, reserve = share }: Options,
  opened: (gate: Queue.CallQueue<State>) => Effect.Effect<void, never, Scope.Scope> = () => Effect.void
): Effect.Effect<Context.Tag.Service<RateLimiter>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const news = News.make()
    const gate = yield* Queue.make(
      source,
      {
        maxWait: maxWait === undefined ? Infinity : Duration.toMillis(maxWait),
        reserve,
        refused: (call, wait, state, now) => refusal(call, wait, quota(source.bucketOf(state), now))
      },
      news.publish
    )
    yield* opened(gate)
    const status = Effect.map(Clock.currentTimeMillis, (now) =>
      Array.from(source.states(), (state): Status => ({
        ...state.call,
        waiting: gate.waiting(state),
        ...quota(source.bucketOf(state), now)
      })))
    const enter: Admission.Direct = (call, fiber, restore) => {
      const asked = () => gate.enter(call, Fiber.settingOf(fiber, isBackground), fiber, restore)
      // Who was interrupted before takes nothing.
      return Fiber.isInterrupted(fiber) ? Effect.flatMap(restore(Effect.void), asked) : asked()
    }
    return Admission.withDirect<Context.Tag.Service<RateLimiter>>({
      acquire: (call) =>
        Effect.uninterruptibleMask((restore) =>
          Fiber.withFiber<void, RateLimited>((fiber) => enter(call, fiber, restore))
        ),
      observe: (call, answer) => Effect.sync(() => gate.leave(call, answer)),
      status,
      changes: news.stream(status)
    }, enter)
  })

const quota = (bucket: Pick<Bucket, "status"> | undefined, now: number): Quota => {
  const known = bucket?.status(now)
  return known === undefined ? {} : {
    limit: known.limit,
    remaining: known.remaining,
    resetAt: Option.getOrUndefined(DateTime.make(known.fullAt)) // it may lie beyond all dates
  }
}

const refusal = ({ operation }: Call, wait: number | undefined, quota: Quota): RateLimited =>
  new RateLimited({
    operation,
    message: wait === undefined
      ? "our own limiter was closed"
      : "our own limiter would hold the call back longer than it may wait",
    source: "limiter",
    ...(wait !== undefined && { retryAfter: Duration.millis(wait) }),
    ...quota
  })

/**
 * A limit that is known: so many calls at once, and as many again in each interval, evenly. One for all calls. It fails
 * with `InvalidInput` if `limit` is no integer of at least 1 or `interval` is no time.
 */
export const layerFixed = (
  options: Options & { readonly limit: number; readonly interval: Duration.DurationInput }
): Layer.Layer<RateLimiter, InvalidInput> =>
  Layer.scoped(
    RateLimiter,
    Effect.gen(function*() {
      const { interval, limit } = options
      const millis = Duration.toMillis(interval)
      const issues = [
        ...(Number.isSafeInteger(limit) && limit >= 1
          ? []
          : [{ path: "limit", message: "expected an integer of at least 1" }]),
        ...(millis > 0 && millis < Infinity ? [] : [{ path: "interval", message: "expected a time above zero" }])
      ]
      if (issues.length > 0) return yield* new InvalidInput({ operation: "RateLimiter.layerFixed", issues })
      return yield* make(Fixed.make(limit, limit / millis, yield* Clock.currentTimeMillis), options)
    })
  )

/**
 * Learns the limit from the headers of every answer, starting with one call, and sends as fast as the service refills:
 * no faster, so that it is not turned away, and no slower. Operations that are told of one and the same bucket share it.
 * Times count from the answer's own `Date`, never by comparing clocks; `Retry-After` comes first.
 */
export const layerAdaptive = (options: Options = {}): Layer.Layer<RateLimiter> =>
  Layer.scoped(RateLimiter, Effect.suspend(() => make(Adaptive.make(), options)))

/** `layerAdaptive` with its defaults. */
export const layer: Layer.Layer<RateLimiter> = /* @__PURE__ */ layerAdaptive()
