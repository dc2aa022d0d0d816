/** How many fibers sleep by the `TestClock`. */
import { Chunk, Effect, TestClock } from "effect"

/** Begins to count: call it before the fibers start that are to be counted. */
export const countSleeps: Effect.Effect<Effect.Effect<number>> = Effect.succeed(
  Effect.map(TestClock.sleeps(), Chunk.size)
)

/** Waits until a fiber sleeps by the TestClock: signing and sending take real time. */
export const waitForSleep: Effect.Effect<void> = Effect.flatMap(
  countSleeps,
  (sleeps) =>
    Effect.promise(() => new Promise((resume) => setImmediate(resume))).pipe(
      Effect.zipRight(sleeps),
      Effect.repeat({ until: (count) => count > 0 })
    )
)
