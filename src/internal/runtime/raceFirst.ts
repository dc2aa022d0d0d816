/** A race that can be interrupted at any time. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/**
 * Gives the exit of the effect that ends first, and interrupts the other. `Effect.raceFirst` of Effect 3.22 never ends if it gives way between
 * making its fibers and starting them, and is interrupted then: it waits for fibers that have not begun.
 */
export const raceFirst = <A, E, R, A2, E2, R2>(
  self: Effect.Effect<A, E, R>,
  other: Effect.Effect<A2, E2, R2>
): Effect.Effect<A | A2, E | E2, R | R2> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const first = yield* Deferred.make<A | A2, E | E2>()
      const start = <R>(effect: Effect.Effect<A | A2, E | E2, R>) =>
        Effect.fork(Effect.flatMap(Effect.exit(restore(effect)), (exit) => Deferred.done(first, exit)))
      const fibers = [yield* start(self), yield* start(other)]
      return yield* Effect.ensuring(restore(Deferred.await(first)), Fiber.interruptAll(fibers))
    })
  )
