/** The fibers that an effect starts. */
import { Effect, Supervisor } from "effect"

/** Counts the fibers of an effect that have not ended, those that it starts included. */
export const countFibers = Effect.map(Supervisor.track, (supervisor) => ({
  track: <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => Effect.supervised(self, supervisor),
  count: Effect.map(supervisor.value, (fibers) => fibers.length)
}))
