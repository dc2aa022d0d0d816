/** Streams that are read part by part, and by what is no fiber. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { makeRunner } from "../runner.js"
import { fromPull, type Pull, pull } from "./pulls.js"

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
