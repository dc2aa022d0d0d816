/** The calls that run in a client, so that closing it can wait for their end. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import { type AnyFiber, type Restore, withFiber } from "../runtime/fiber.js"
import type { Timeouts } from "../runtime/timeouts.js"

/** How long closing waits at the most, in milliseconds. */
const grace = 5000

export interface OpenCalls<Refusal> {
  /**
   * Counts an effect as a call while it runs; refused is one that comes while the client is closing. A call can be
   * interrupted where it waits and nowhere else: it wraps its waits into `restore`.
   */
  readonly track: <A, E>(operation: string, call: Call<A, E>) => Effect.Effect<A, E | Refusal>
}

type Call<A, E> = (restore: Restore, fiber: AnyFiber) => Effect.Effect<A, E>

/** A call that throws before it begins has ended like any other. Put off instead, it would keep more while it waits. */
const begin = <A, E>(call: Call<A, E>, restore: Restore, fiber: AnyFiber): Effect.Effect<A, E> =>
  Either.merge(Either.try({ try: () => call(restore, fiber), catch: Effect.die }))

/** Calls that may end in peace, within 5 s, when the scope is closed; `deadlines` must outlive it. */
export const make = <Refusal>(
  timeouts: Timeouts,
  refused: (operation: string) => Refusal
): Effect.Effect<OpenCalls<Refusal>, never, Scope.Scope> =>
  Effect.gen(function*() {
    let open = 0
    let isClosing = false
    let whenNone = (): void => {}

    yield* Effect.addFinalizer(() =>
      Effect.async<void>((resume) => {
        isClosing = true
        if (open === 0) return resume(Effect.void)
        const takeBack = timeouts.add(grace, () => resume(Effect.void))
        whenNone = () => {
          takeBack()
          resume(Effect.void)
        }
      })
    )

    const leave = (): void => {
      open--
      if (open === 0) whenNone()
    }

    // The same for all calls: one that waits keeps nothing of its own for its end.
    const failed = <E>(cause: Cause.Cause<E>) => {
      leave()
      return Effect.failCause(cause)
    }
    const succeeded = <A>(value: A) => {
      leave()
      return Effect.succeed(value)
    }

    return {
      track: <A, E>(operation: string, call: Call<A, E>) =>
        withFiber<A, E | Refusal>((fiber) =>
          Effect.uninterruptibleMask((restore): Effect.Effect<A, E | Refusal> => {
            if (isClosing) return Effect.fail(refused(operation))
            open++
            return Effect.matchCauseEffect(begin(call, restore, fiber), {
              onFailure: failed<E>,
              onSuccess: succeeded<A>
            })
          })
        )
    }
  })
