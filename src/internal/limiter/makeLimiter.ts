/** The limiter as a service: a queue of calls over a strategy, and its state as a value and as a stream. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Quota, RateLimited } from "../../Errors.js"
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

/** Makes a limiter from a strategy; `opened` gets its queue before the first call. */
export const make = <State extends { readonly call: Call }, Grant>(
  strategy: Queue.LimitStrategy<State, Grant>,
  options: Queue.Options,
  opened: (queue: Queue.CallQueue<State>) => Effect.Effect<void, never, Scope.Scope> = () => Effect.void
): Effect.Effect<Limiter, never, Scope.Scope> =>
  Effect.gen(function*() {
    const changed = yield* PubSub.sliding<void>(1)
    const publish = (): void => {
      // Without a full buffer, always so without subscribers, the offer succeeds and costs next to nothing.
      if (!changed.unsafeOffer(undefined)) Effect.runSync(PubSub.publish(changed, undefined))
    }
    const queue = yield* Queue.make(strategy, options, publish)
    yield* opened(queue)
    const status = Effect.map(Clock.currentTimeMillis, (now) =>
      Array.from(strategy.states(), (state): Status => ({
        ...state.call,
        waiting: queue.waiting(state),
        ...Queue.quotaOf(strategy, state, now)
      })))
    const changes = Stream.unwrapScoped(
      Effect.map(
        Stream.fromPubSub(changed, { scoped: true }),
        (events) => Stream.mapEffect(Stream.concat(Stream.make(undefined), events), () => status)
      )
    )
    return { acquire: queue.acquire, status, changes }
  })
