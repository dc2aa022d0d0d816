/** Something under way in no fiber, such as an exchange over a socket, which can be stopped at once. */
import * as Effect from "effect/Effect"

/**
 * Begins it, and gives what stops it. Stopped, it is not done any more; what stops it says whether it had begun to act, so
 * that it may have had an effect. To stop one that is over, or was stopped, does nothing.
 */
export type CallbackTask<A, E> = (done: (result: Effect.Effect<A, E>) => void) => () => boolean

/** Runs a task; interrupted, it is stopped. */
export const run = <A, E>(task: CallbackTask<A, E>): Effect.Effect<A, E> =>
  Effect.async<A, E>((resume) => {
    const stop = task(resume)
    return Effect.sync(stop)
  })
