/** Work that runs outside any fiber, such as a request on a socket, and can be stopped at once. */
import * as Effect from "effect/Effect"
import { interruptInBackground, makeRunner, onExit } from "./fiber.js"

/**
 * Starts the work and returns a function that stops it. Once stopped, it does not call `done` any more; the function tells
 * whether the work may have had an effect by then. Stopping it again, or after its end, does nothing.
 */
export type CallbackTask<A, E> = (done: (result: Effect.Effect<A, E>) => void) => () => boolean

/** Makes a task of an effect. It runs in a fiber of its own, which is interrupted in the background when the task is stopped. */
export const fromEffect = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<CallbackTask<A, E>> =>
  Effect.map(makeRunner(), ({ fork }) => (done) => {
    const fiber = fork(effect)
    const cancel = onExit(fiber, done)
    return () => {
      cancel()
      interruptInBackground(fiber)
      return true
    }
  })
