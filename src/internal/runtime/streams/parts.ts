/** Streams that are read part by part, and by what is no fiber. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { makeRunner } from "../runner.js"
import { fromPull, type Pull, pull } from "./pulls.js"

/** The failure of a pull; none at the end. Defects that come with it are kept. */
export const failureOf = <E>(cause: Cause.Cause<Option.Option<E>>): Cause.Cause<E> | undefined => {
  const failures = [...Cause.failures(cause)].flatMap(Option.toArray).map((failure) => Cause.fail(failure))
  const all: ReadonlyArray<Cause.Cause<E>> = [...failures, ...[...Cause.defects(cause)].map(Cause.die)]
  if (all.length > 0) return all.reduce((first, second) => Cause.sequential(first, second))
  return Cause.isFailure(cause) ? undefined : cause as Cause.Cause<never> // sound: it has no failure
}

/** Transforms a stream part by part. */
export const mapParts = <A, E, R, B, E2, R2>(
  self: Stream.Stream<A, E, R>,
  f: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E2, R2>
) =>
  Stream.unwrapScoped(
    Effect.map(
      pull(self),
      (next) => fromPull(Effect.flatMap(next, (items): Pull<B, E | E2, R2> => Effect.mapError(f(items), Option.some)))
    )
  )

/** Makes a stream readable outside of fibers. */
export const toIterable = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<AsyncIterable<A>> =>
  Effect.map(makeRunner(), ({ runtime }) => Stream.toAsyncIterableRuntime(stream, runtime))
