/** The ids of a redelivery run, handed out one by one until they end or the run stops. */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import * as Pulls from "../runtime/streams/pulls.js"

/** Pulls ids on demand, for several workers. A failure of the ids ends them, and is passed to `onFailure` once. */
export const make = <E, R>(ids: Stream.Stream<string, E, R>, onFailure: (cause: Cause.Cause<E>) => void) =>
  Effect.gen(function*() {
    const context = yield* Effect.context<R>()
    const pull = Effect.provide(yield* Pulls.pull(ids), context)
    const stopped = yield* Deferred.make<never, Option.Option<never>>()
    const oneAtATime = yield* Effect.makeSemaphore(1)
    let chunk: ReadonlyArray<string> = []
    let position = 0
    let hasEnded = false

    const next: Effect.Effect<Option.Option<string>> = Effect.suspend(() => {
      if (hasEnded) return Effect.succeedNone
      const id = chunk[position++]
      if (id !== undefined) return Effect.succeedSome(id)
      return Effect.matchCauseEffect(Effect.raceFirst(pull, Deferred.await(stopped)), {
        onSuccess: (pulled) => {
          chunk = pulled
          position = 0
          return next
        },
        onFailure: (cause) => {
          hasEnded = true
          const failure = Pulls.failureOf(cause)
          if (failure !== undefined) onFailure(failure)
          return Effect.succeedNone
        }
      })
    })

    return {
      /** Takes the next id; none at the end. */
      next: oneAtATime.withPermits(1)(next),
      /** Ends the input at once, also if a worker waits for an id. */
      stop: () => {
        hasEnded = true
        Deferred.unsafeDone(stopped, Effect.fail(Option.none()))
      }
    }
  })
