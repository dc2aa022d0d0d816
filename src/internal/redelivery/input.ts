/** The ids of a run, handed out one by one to whoever asks, until they end or the run is stopped. */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

export interface Feed {
  /** The next id; none if there is none any more. */
  readonly next: Effect.Effect<Option.Option<string>>
  /** Hands out no more, even if the ids are just being waited for. */
  readonly stop: () => void
}

/** Takes ids as they are asked for. If they fail, that is told, and they are over. */
export const make = <E, R>(
  ids: Stream.Stream<string, E, R>,
  onFailure: (cause: Cause.Cause<E>) => void
): Effect.Effect<Feed, never, R | Scope.Scope> =>
  Effect.gen(function*() {
    const pull = yield* Effect.flatMap(Stream.toPull(ids), (pull) =>
      Effect.map(Effect.context<R>(), (context) => Effect.provide(pull, context)))
    const stopped = yield* Deferred.make<never, Option.Option<never>>()
    const inTurn = yield* Effect.makeSemaphore(1)
    let ready: ReadonlyArray<string> = []
    let at = 0
    let isOver = false

    const take: Effect.Effect<Option.Option<string>> = Effect.suspend(() => {
      if (isOver) {
        return Effect.succeedNone
      }
      const id = ready[at++]
      if (id !== undefined) {
        return Effect.succeedSome(id)
      }
      return Effect.matchCauseEffect(Effect.raceFirst(pull, Deferred.await(stopped)), {
        onSuccess: (chunk) => {
          ready = Chunk.toReadonlyArray(chunk)
          at = 0
          return take
        },
        onFailure: (cause) => {
          isOver = true
          Option.map(Cause.flipCauseOption(cause), onFailure)
          return Effect.succeedNone
        }
      })
    })

    return {
      next: inTurn.withPermits(1)(take),
      stop: () => {
        isOver = true
        Deferred.unsafeDone(stopped, Effect.fail(Option.none()))
      }
    }
  })
