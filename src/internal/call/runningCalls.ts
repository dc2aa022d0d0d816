/** The running calls of a client: closing it waits for them, and then ends what they wait for. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { TransportError } from "../../Errors.js"
import { type AnyFiber, inOwnFiber, interruptInBackground, withFiber } from "../runtime/fiber.js"
import { forkCopy } from "../runtime/runner.js"
import { transportError } from "./transport.js"

/**
 * Makes a wait of a call interruptible; all else is uninterruptible. Fails with the code `CLOSED` if the client is closed meanwhile, unless
 * the request that came after the wait has `ended` already.
 */
export type Wait = <A, E, R>(
  wait: Effect.Effect<A, E, R>,
  ended?: () => Exit.Exit<A, E> | undefined
) => Effect.Effect<A, E | TransportError, R>

/** Starts to count the calls of a tenant. Once the scope is closed, no call waits for anything any more. */
export const make = Effect.fnUntraced(function*(tenant: string) {
  const running = new Set<AnyFiber>()
  let isClosing = false
  let isClosed = false
  const drained = yield* Deferred.make<void>()

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
      for (const fiber of running) interruptInBackground(fiber)
    })
  )

  return {
    /** Waits up to 5 s for the running calls, and refuses all others from now on. */
    drain: Effect.suspend(() => {
      isClosing = true
      return running.size === 0
        ? Effect.void
        : Effect.asVoid(inOwnFiber(Effect.timeoutOption(Deferred.await(drained), "5 seconds")))
    }),
    /** Runs a call in a fiber of its own, because the program's may not be interrupted when the client closes. */
    run: <A, E>(operation: string, call: (wait: Wait, fiber: AnyFiber) => Effect.Effect<A, E>) => {
      const closed = () => transportError(operation, tenant, "not-sent", "CLOSED")
      const wait: Wait = <A, E, R>(wait: Effect.Effect<A, E, R>, ended?: () => Exit.Exit<A, E> | undefined) =>
        Effect.catchAllCause(Effect.interruptible(wait), (cause): Effect.Effect<A, E | TransportError> => {
          if (!Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
          return ended?.() ?? (isClosed ? closed() : Effect.failCause(cause))
        })
      return withFiber<A, E | TransportError>((caller) =>
        isClosing ? closed() : Effect.async((resume) => {
          const started = withFiber((fiber) => {
            running.add(fiber)
            return call(wait, fiber)
          })
          const fiber = forkCopy(caller, started, (fiber, exit) => {
            running.delete(fiber)
            if (running.size === 0 && isClosing) Deferred.unsafeDone(drained, Effect.void)
            resume(exit)
          })
          return Fiber.interrupt(fiber)
        })
      )
    }
  }
})
