/** Runs effects from plain code, and observes their fibers. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
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

const uninterruptible = RuntimeFlags.disable(Runtime.defaultRuntimeFlags, RuntimeFlags.Interruption)

/** Runs an effect in a new fiber, uninterruptible, with the services and settings of another fiber. */
export const forkCopy = <A, E>(
  fiber: AnyFiber,
  effect: Effect.Effect<A, E>,
  ended: (fiber: AnyFiber, exit: Exit.Exit<A, E>) => void
): AnyFiber => {
  const runtime = { context: fiber.currentContext, runtimeFlags: uninterruptible, fiberRefs: fiber.getFiberRefs() }
  const copy = Runtime.runFork(Runtime.make(runtime), Effect.exit(effect)) // the runtime would log its failure
  copy.addObserver((exit) => ended(copy, Exit.flatten(exit)))
  return copy
}

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
