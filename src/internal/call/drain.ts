/** Counts the calls of a client, so that closing the client waits for them. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { TransportError } from "../../Errors.js"
import { type AnyFiber, type Restore, withFiber } from "../runtime/fiber.js"
import type { Timeouts } from "../runtime/timeouts.js"
import { transportError } from "./pipeline.js"

/** The longest time that closing waits for calls, in milliseconds. */
const gracePeriod = 5000

type CallBody<A, E> = (restore: Restore, fiber: AnyFiber) => Effect.Effect<A, E>

export interface RunningCalls {
  /** Runs a call, uninterruptible except for the waits that it wraps in `restore`. Fails while the client is closing. */
  readonly run: <A, E>(operation: string, call: CallBody<A, E>) => Effect.Effect<A, E | TransportError>
}

/** Starts to count calls. Closing the scope waits up to 5 s for them. `timeouts` must outlive the scope. */
export const make = (timeouts: Timeouts): Effect.Effect<RunningCalls, never, Scope.Scope> =>
  Effect.gen(function*() {
    let running = 0
    let isClosing = false
    let onDrained = (): void => {}

    yield* Effect.addFinalizer(() =>
      Effect.async<void>((resume) => {
        isClosing = true
        if (running === 0) return resume(Effect.void)
        const cancel = timeouts.add(gracePeriod, () => resume(Effect.void))
        onDrained = () => {
          cancel()
          resume(Effect.void)
        }
      })
    )

    const ended = (): void => {
      running--
      if (running === 0) onDrained()
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
      run: <A, E>(operation: string, call: CallBody<A, E>) =>
        withFiber<A, E | TransportError>((fiber) =>
          Effect.uninterruptibleMask((restore): Effect.Effect<A, E | TransportError> => {
            if (isClosing) return transportError(operation, "not-sent", "CLOSED")
            const started = call(restore, fiber) // if it throws, the call is a defect and not counted
            running++
            return Effect.matchCauseEffect(started, { onFailure: failed<E>, onSuccess: succeeded<A> })
          })
        )
    }
  })
