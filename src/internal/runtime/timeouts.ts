/** Time limits: however many there are, one fiber sleeps until the next of them; after the last it ends when it wakes. */
import * as Effect from "effect/Effect"
import type * as RuntimeFiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { CallbackTask } from "./callbackTask.js"
import * as Fiber from "./fiber.js"
import { type Entry, Heap } from "./heap.js"
import * as Timer from "./timer.js"

/** Why an effect was ended: its time was up, or the scope of its time limits was closed. */
type Reason = "TIMEOUT" | "CLOSED"

class Timeout implements Entry {
  index = -1
  readonly at: number
  readonly end: (reason: Reason) => void

  constructor(at: number, end: (reason: Reason) => void) {
    this.at = at
    this.end = end
  }
}

export interface Timeouts {
  /**
   * Calls `end` in so many milliseconds, or when the scope closes if that is earlier. Gives what takes it back. It costs
   * no fiber and no timer of its own.
   */
  readonly add: (millis: number, end: (reason: Reason) => void) => () => void
  /** Whether the scope is open. */
  readonly isOpen: () => boolean
  /**
   * Ends an effect that takes longer than so many milliseconds, even one that cannot be interrupted; one that would begin
   * after the scope is closed does not begin. A platform's client can be stopped only by interrupting the fiber that it
   * runs on, and that would interrupt the children of a caller's own fiber with it: so it runs in a fiber of its own.
   */
  readonly within: <A, E, R, E2>(
    self: Effect.Effect<A, E, R>,
    millis: number,
    ended: (reason: Reason, hasBegun: boolean) => E2
  ) => Effect.Effect<A, E | E2, R>
}

/** Time limits for as long as the scope is open, by the clock of here and now. */
export const make: Effect.Effect<Timeouts, never, Scope.Scope> = Effect.gen(function*() {
  const heap = new Heap<Timeout>()
  let isOpen = true

  const end = (deadline: Timeout, reason: Reason): void => {
    heap.remove(deadline)
    deadline.end(reason)
  }

  const sweep = (): void => {
    const now = alarm.now()
    for (let next = heap.first; next !== undefined && next.at <= now; next = heap.first) end(next, "TIMEOUT")
    if (heap.first !== undefined) alarm.set(heap.first.at)
  }

  const alarm = yield* Timer.make(Effect.sync(sweep))

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isOpen = false
      for (let next = heap.first; next !== undefined; next = heap.first) end(next, "CLOSED")
    })
  )

  const add: Timeouts["add"] = (millis, end) => {
    const deadline = new Timeout(alarm.now() + millis, end)
    heap.add(deadline)
    alarm.set(deadline.at)
    return () => heap.remove(deadline)
  }

  const within: Timeouts["within"] = (self, millis, ended) =>
    Effect.uninterruptibleMask((restore) =>
      isOpen
        ? Effect.flatMap(
          Effect.forkDaemon(Effect.zipRight(Fiber.withoutFailureLog, Effect.interruptible(self))),
          (fiber) =>
            restore(awaiting(add, fiber, millis, ended)).pipe(
              Effect.onInterrupt(() => Effect.sync(() => Fiber.interruptInBackground(fiber)))
            )
        )
        : Effect.fail(ended("CLOSED", false))
    )

  return { add, isOpen: () => isOpen, within }
})

/** `within` for a task, which needs no fiber to be stopped; to be run where nobody can interrupt but within `restore`. */
export const bound = <A, E, E2>(
  { add, isOpen }: Timeouts,
  task: CallbackTask<A, E>,
  millis: number,
  restore: Fiber.Restore,
  ended: (reason: Reason, hasBegun: boolean) => E2
): Effect.Effect<A, E | E2> => {
  if (!isOpen()) return Effect.fail(ended("CLOSED", false))
  let leave = () => {}
  const running = Effect.async<A, E | E2>((resume) => {
    const takeBack = add(millis, (reason) => resume(Effect.fail(ended(reason, stop()))))
    const stop = task((result) => {
      takeBack()
      resume(result)
    })
    leave = () => {
      takeBack()
      stop()
    }
  })
  return Effect.catchAllCause(restore(running), (cause) => {
    leave()
    return Effect.failCause(cause)
  })
}

const awaiting = <A, E, E2>(
  add: Timeouts["add"],
  fiber: RuntimeFiber.RuntimeFiber<A, E>,
  millis: number,
  ended: (reason: Reason, hasBegun: boolean) => E2
) =>
  Effect.async<A, E | E2>((resume) => {
    const takeBack = add(millis, (reason) => {
      resume(Effect.fail(ended(reason, true)))
      Fiber.interruptInBackground(fiber)
    })
    Fiber.onExit(fiber, (exit) => {
      takeBack()
      resume(exit)
    })
  })
