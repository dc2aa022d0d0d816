/** Effect's pulls: what gives a stream part by part. */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** Gives the next part of a stream; fails with `Option.none()` at the end. */
export type Pull<A, E, R = never> = Effect.Effect<ReadonlyArray<A>, Option.Option<E>, R>

/** Pulls a stream part by part; fails with `Option.none()` at its end. */
export const pull = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.map(Stream.toPull(stream), Effect.map(Chunk.toReadonlyArray))

/** The failure of a pull, with all that its cause holds; none at the end. */
export const failureOf = <E>(cause: Cause.Cause<Option.Option<E>>): Cause.Cause<E> | undefined =>
  Option.getOrUndefined(Cause.flipCauseOption(cause))

/** Makes a stream of what gives its next part, and fails with `Option.none()` at the end. */
export const fromPull = <A, E, R>(pull: Pull<A, E, R>): Stream.Stream<A, E, R> =>
  Stream.unfoldChunkEffect(undefined, () =>
    Effect.matchCauseEffect(pull, {
      onFailure: (cause) => {
        const failure = failureOf(cause)
        return failure === undefined ? Effect.succeedNone : Effect.failCause(failure)
      },
      onSuccess: (items) => Effect.succeedSome([Chunk.unsafeFromArray(items), undefined] as const)
    }))
