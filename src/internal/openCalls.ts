/** The calls that run in a client, so that closing it can wait for their end. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Deadlines } from "./deadlines.js"
import type { Restore } from "./task.js"

/** How long closing waits at the most, in milliseconds. */
const grace = 5000

export interface OpenCalls {
  /**
   * Counts an effect as a call while it runs; refused is one that comes while the client is closing. A call can be
   * interrupted where it waits and nowhere else: it wraps its waits into `restore`.
   */
  readonly track: <A, E, R, E2>(
    call: (restore: Restore) => Effect.Effect<A, E, R>,
    refused: () => E2
  ) => Effect.Effect<A, E | E2, R>
}

/** Calls that may end in peace, within 5 s, when the scope is closed; `deadlines` must outlive it. */
export const make = (deadlines: Deadlines): Effect.Effect<OpenCalls, never, Scope.Scope> =>
  Effect.gen(function*() {
    let open = 0
    let isClosing = false
    let whenNone = (): void => {}

    yield* Effect.addFinalizer(() =>
      Effect.async<void>((resume) => {
        isClosing = true
        if (open === 0) return resume(Effect.void)
        const takeBack = deadlines.add(grace, () => resume(Effect.void))
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

    return {
      track: <A, E, R, E2>(call: (restore: Restore) => Effect.Effect<A, E, R>, refused: () => E2) =>
        Effect.uninterruptibleMask((restore): Effect.Effect<A, E | E2, R> => {
          if (isClosing) return Effect.fail(refused())
          open++
          return Effect.matchCauseEffect(call(restore), {
            onFailure: (cause) => {
              leave()
              return Effect.failCause(cause)
            },
            onSuccess: (value) => {
              leave()
              return Effect.succeed(value)
            }
          })
        })
    }
  })
