/** Runs effects from plain code, and observes their fibers. */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import type * as Scope from "effect/Scope"
import type { AnyFiber } from "./fiber.js"

/**
 * Makes functions that run effects from plain code, with the current services and settings. The effects can be interrupted
 * even if the functions are made in an uninterruptible region; making them cannot, so that a finalizer can make requests.
 */
export const makeRunner = <R = never>() =>
  Effect.map(Effect.runtime<R>(), (current) => {
    const runtime = Runtime.enableRuntimeFlag(current, RuntimeFlags.Interruption)
    return {
      runtime,
      fork: <A, E>(effect: Effect.Effect<A, E, R>, scope?: Scope.Scope) =>
        Runtime.runFork(runtime, effect, scope && { scope }),
      runSync: Runtime.runSync(runtime)
    }
  })

/** Runs an effect in a new fiber, with the services and settings of another fiber. It can be interrupted, and logs no failure. */
export const forkCopy = <A, E>(fiber: AnyFiber, effect: Effect.Effect<A, E>): Fiber.RuntimeFiber<A, E> => {
  const refs = fiber.getFiberRefs()
  const runtime = { context: fiber.currentContext, runtimeFlags: Runtime.defaultRuntimeFlags, fiberRefs: refs }
  return Runtime.runFork(Runtime.make(runtime), effect)
}

/** The exit of a fiber, if it has ended. */
export const exitOf = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Exit.Exit<A, E> | undefined =>
  fiber.unsafePoll() ?? undefined

/** Calls a function when a fiber ends; returns a function that cancels this. */
export const onExit = <A, E>(
  fiber: Fiber.RuntimeFiber<A, E>,
  listener: (exit: Exit.Exit<A, E>) => void
): () => void => {
  fiber.addObserver(listener)
  return () => fiber.removeObserver(listener)
}

/** Lets the interruption of an effect not wait for its end. */
export const disconnect: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.disconnect
