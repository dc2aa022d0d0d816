/** Effect's pulls: what gives a stream part by part. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** Gives the next part of a stream; fails with `Option.none()` at the end. */
export type Pull<A, E, R = never> = Effect.Effect<ReadonlyArray<A>, Option.Option<E>, R>

/** Pulls a stream part by part; fails with `Option.none()` at its end. */
export const pull = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.map(
    Stream.toPull(stream),
    Effect.mapError((error): Option.Option<E> => Cause.isDone(error) ? Option.none() : Option.some(error))
  )

/** The failure of a pull, with all that its cause holds; none at the end. */
export const failureOf = <E>(cause: Cause.Cause<Option.Option<E>>): Cause.Cause<E> | undefined => {
  const reasons = cause.reasons.flatMap((reason): ReadonlyArray<Cause.Reason<E>> =>
    Cause.isFailReason(reason) ? Option.toArray(Option.map(reason.error, Cause.makeFailReason)) : [reason]
  )
  return reasons.length === 0 && cause.reasons.length > 0 ? undefined : Cause.fromReasons(reasons)
}

/** Makes a stream of what gives its next part, and fails with `Option.none()` at the end. */
export const fromPull = <A, E, R>(pull: Pull<A, E, R>): Stream.Stream<A, E, R> => {
  const next: Effect.Effect<Arr.NonEmptyReadonlyArray<A>, E | Cause.Done, R> = pull.pipe(
    Effect.catchCause((cause): Effect.Effect<never, E | Cause.Done> => {
      const failure = failureOf(cause)
      return failure === undefined ? Cause.done() : Effect.failCause(failure)
    }),
    Effect.flatMap((items) => Arr.isReadonlyArrayNonEmpty(items) ? Effect.succeed(items) : next)
  )
  return Stream.fromPull(Effect.succeed(next))
}
