/** Runs effects from plain code, and observes their fibers. */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { type AnyFiber, contextOf } from "./fiber.js"

/**
 * Makes functions that run effects from plain code, with the current services and settings. The effects can be interrupted
 * even if the functions are made in an uninterruptible region; making them cannot, so that a finalizer can make requests.
 */
export const makeRunner = <R = never>() =>
  Effect.map(Effect.context<R>(), (runtime) => ({
    runtime,
    fork: <A, E>(effect: Effect.Effect<A, E, R>, scope?: Scope.Scope): Fiber.Fiber<A, E> => {
      const fiber = Effect.runForkWith(runtime)(effect)
      return scope === undefined ? fiber : Fiber.runIn(fiber, scope)
    },
    runSync: Effect.runSyncWith(runtime)
  }))

/** Runs an effect in a new fiber, with the services and settings of another fiber. It can be interrupted, and logs no failure. */
export const forkCopy = <A, E>(fiber: AnyFiber, effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> =>
  Effect.runForkWith(contextOf(fiber))(effect)

/** The exit of a fiber, if it has ended. */
export const exitOf = <A, E>(fiber: Fiber.Fiber<A, E>): Exit.Exit<A, E> | undefined => fiber.pollUnsafe()

/** Calls a function when a fiber ends; returns a function that cancels this. */
export const onExit = <A, E>(fiber: Fiber.Fiber<A, E>, listener: (exit: Exit.Exit<A, E>) => void): () => void =>
  fiber.addObserver(listener)

/** Lets the interruption of an effect not wait for its end. */
export const disconnect = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.forkDetach(restore(self)),
      (fiber) => Effect.onInterrupt(restore(Fiber.join(fiber)), () => Effect.sync(() => fiber.interruptUnsafe()))
    )
  )
