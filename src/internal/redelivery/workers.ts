/** The workers of a redelivery run: they take ids concurrently, and their results form one stream. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { makeQueue } from "../runtime/streams/queues.js"
import { Stopped } from "./ending.js"
import * as Input from "./input.js"
import type { Result } from "./outcome.js"
import type { Process, ProcessFailure } from "./run.js"

type RunFailure = Exclude<ProcessFailure, Stopped>

/**
 * Starts the workers. They wait when results are not taken, and end with the scope. `onResult` runs after each result; its
 * `stop` ends the input. A dropped event has no result, and is no failure.
 */
export const start = <E, R>(
  ids: Stream.Stream<string, E, R>,
  concurrency: number,
  process: Process,
  onResult: (result: Result, stop: () => void) => Effect.Effect<void>
): Effect.Effect<Stream.Stream<Result, E | RunFailure>, never, R | Scope.Scope> =>
  Effect.gen(function*() {
    const results = yield* makeQueue<Result, E | RunFailure>(concurrency)
    let failure: Cause.Cause<E | RunFailure> | undefined
    const input = yield* Input.make(ids, (cause) => void (failure ??= cause))

    const processOne = (id: string) =>
      Effect.uninterruptibleMask((restore) =>
        process(id, restore).pipe(
          Effect.tap((result) => onResult(result, input.stop)),
          Effect.flatMap((result) => restore(results.offer(result))),
          Effect.catchIf((error) => error instanceof Stopped, () => Effect.void)
        )
      )
    const worker: Effect.Effect<void, RunFailure> = Effect.flatMap(
      input.next,
      Option.match({ onNone: () => Effect.void, onSome: (id) => Effect.zipRight(processOne(id), worker) })
    )
    // If one worker fails or is interrupted, the others finish the ids they are processing.
    const guarded = Effect.catchAllCause(worker, (cause) => {
      failure ??= cause
      input.stop()
      return Effect.void
    })
    yield* Effect.replicateEffect(guarded, concurrency, { concurrency: "unbounded", discard: true }).pipe(
      Effect.zipRight(Effect.suspend(() => results.end(failure))),
      Effect.forkScoped
    )
    return results.stream
  })
