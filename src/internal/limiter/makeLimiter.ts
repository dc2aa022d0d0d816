/** The limiter as a service: a queue of calls over a strategy, and its state as a value and as a stream. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Quota, RateLimited } from "../../Errors.js"
import type { BucketStatus } from "./bucket.js"
import type { Call, Permit } from "./permit.js"
import * as Queue from "./queue.js"

/** The known limit of one operation. @since 0.1.0 @category models */
export interface Status extends Call, Quota {
  /** The number of calls that wait for a permit. */
  readonly waiting: number
}

/** The operations of a rate limiter. */
export interface Limiter {
  /**
   * Waits for a permit, which the caller settles exactly once, with the response or with `undefined`. Interruption of the
   * wait consumes no permit.
   */
  readonly acquire: (call: Call) => Effect.Effect<Permit, RateLimited>
  /** The state now, an entry for each operation that was called. */
  readonly status: Effect.Effect<ReadonlyArray<Status>>
  /** The state, now and whenever it changes. A slow reader gets the latest state and misses those before. */
  readonly changes: Stream.Stream<ReadonlyArray<Status>>
}

/** Options that all limiters share. @since 0.1.0 @category models */
export interface Options {
  /**
   * The longest wait for a permit. A call that would wait longer fails at once with `RateLimited`, whose `source` is
   * `limiter` (default: no call fails).
   */
  readonly maxWait?: Duration.DurationInput | undefined
  /** The share of the limit that background calls leave to the others, from 0 to 1 (default 0.2). */
  readonly reserve?: number | undefined
}

/** The default of `reserve`. */
export const defaultReserve = 0.2

/** Makes a limiter from a strategy; `opened` gets its queue before the first call. */
export const make = <State extends { readonly call: Call }, Grant>(
  strategy: Queue.LimitStrategy<State, Grant>,
  { maxWait, reserve = defaultReserve }: Options,
  opened: (queue: Queue.CallQueue<State>) => Effect.Effect<void, never, Scope.Scope> = () => Effect.void
): Effect.Effect<Limiter, never, Scope.Scope> =>
  Effect.gen(function*() {
    const changed = yield* PubSub.sliding<void>(1)
    const publish = (): void => {
      // Without a full buffer, always so without subscribers, the offer succeeds and costs next to nothing.
      if (!changed.unsafeOffer(undefined)) Effect.runSync(PubSub.publish(changed, undefined))
    }
    const queue = yield* Queue.make(
      strategy,
      {
        maxWait: maxWait === undefined ? Infinity : Duration.toMillis(maxWait),
        reserve,
        refused: (call, wait, state, now) => refusal(call, wait, quota(strategy.statusOf(state, now)))
      },
      publish
    )
    yield* opened(queue)
    const status = Effect.map(Clock.currentTimeMillis, (now) =>
      Array.from(strategy.states(), (state): Status => ({
        ...state.call,
        waiting: queue.waiting(state),
        ...quota(strategy.statusOf(state, now))
      })))
    const changes = Stream.unwrapScoped(
      Effect.map(
        PubSub.subscribe(changed),
        (events) => Stream.mapEffect(Stream.concat(Stream.make(undefined), Stream.fromQueue(events)), () => status)
      )
    )
    return { acquire: queue.acquire, status, changes }
  })

const quota = (known: BucketStatus | undefined): Quota =>
  known === undefined ? {} : {
    limit: known.limit,
    remaining: known.remaining,
    resetAt: Option.getOrUndefined(DateTime.make(known.fullAt)) // it may lie beyond all dates
  }

const refusal = ({ operation }: Call, wait: number | undefined, quota: Quota): RateLimited =>
  new RateLimited({
    operation,
    message: wait === undefined ? "the rate limiter was closed" : "the rate limiter's wait would exceed maxWait",
    source: "limiter",
    ...(wait !== undefined && { retryAfter: Duration.millis(wait) }),
    ...quota
  })
