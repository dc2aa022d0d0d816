/** Something under way in no fiber, such as an exchange over a socket, which can be stopped at once. */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/**
 * Begins it, and gives what stops it. Stopped, it is not done any more; what stops it says whether it had begun to act, so
 * that it may have had an effect. To stop one that is over, or was stopped, does nothing.
 */
export type Task<A, E> = (done: (result: Effect.Effect<A, E>) => void) => () => boolean

/** Lets an effect that waits be interrupted, where nothing else can be, if the surroundings can be. */
export type Restore = <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** The fiber that does it, whatever it is to give. */
export type AnyFiber = Fiber.RuntimeFiber<unknown, unknown>

/** Runs a task; interrupted, it is stopped. */
export const run = <A, E>(task: Task<A, E>): Effect.Effect<A, E> =>
  Effect.async<A, E>((resume) => {
    const stop = task(resume)
    return Effect.sync(stop)
  })
