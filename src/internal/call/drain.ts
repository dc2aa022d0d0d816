/** Counts the calls of a client, so that closing the client waits for them. */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { TransportError } from "../../Errors.js"
import { type AnyFiber, inOwnFiber, type Restore, withFiber } from "../runtime/fiber.js"
import { transportError } from "./transportError.js"

/** Starts to count the calls of a tenant. Closing the scope waits up to 5 s for them. */
export const make = Effect.fnUntraced(function*(tenant: string) {
  let running = 0
  let isClosing = false
  const drained = yield* Deferred.make<void>()

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isClosing = true
      return running === 0 ? Effect.void : inOwnFiber(Effect.timeoutOption(Deferred.await(drained), "5 seconds"))
    })
  )

  const ended = (): void => {
    running--
    if (running === 0 && isClosing) Deferred.unsafeDone(drained, Effect.void)
  }

  // All calls share these two functions, so that a waiting call retains no closure for its end.
  const failed = <E>(cause: Cause.Cause<E>) => {
    ended()
    return Effect.failCause(cause)
  }
  const succeeded = <A>(value: A) => {
    ended()
    return Effect.succeed(value)
  }

  return {
    /** Runs a call, uninterruptible except for the waits that it wraps in `restore`. Fails while the client is closing. */
    run: <A, E>(operation: string, call: (restore: Restore, fiber: AnyFiber) => Effect.Effect<A, E>) =>
      withFiber<A, E | TransportError>((fiber) =>
        Effect.uninterruptibleMask((restore): Effect.Effect<A, E | TransportError> => {
          if (isClosing) return transportError(operation, tenant, "not-sent", "CLOSED")
          const started = call(restore, fiber) // if it throws, the call is a defect and not counted
          running++
          return Effect.matchCauseEffect(started, { onFailure: failed<E>, onSuccess: succeeded<A> })
        })
      )
  }
})
