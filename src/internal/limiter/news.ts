/** Something that changes often and is looked at seldom: it costs nothing while nobody looks. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

export interface News {
  readonly publish: () => void
  /** What `get` gives now, and again after what was published; of what comes too fast for its reader, the last. */
  readonly stream: <A>(get: Effect.Effect<A>) => Stream.Stream<A>
}

export const make = (): News => {
  const readers = new Set<() => void>()
  return {
    publish: () => {
      for (const read of readers) read()
    },
    stream: (get) =>
      Stream.asyncPush<void>(
        (emit) =>
          Effect.acquireRelease(
            Effect.sync(() => {
              const read = () => void emit.single(undefined)
              readers.add(read)
              read()
              return read
            }),
            (read) => Effect.sync(() => readers.delete(read))
          ),
        { bufferSize: 1, strategy: "sliding" }
      ).pipe(Stream.mapEffect(() => get))
  }
}
