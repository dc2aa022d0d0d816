/**
 * Time-outs that share one timer. Each costs a heap entry instead of a fiber and a timer of its own: `Effect.timeoutFail` makes a
 * call of 66 µs cost 500 µs more, this a few (`npm run bench`, rows `ours-lean`).
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { CallbackTask } from "./callbackTask.js"
import type { Restore } from "./fiber.js"
import { Heap, type HeapEntry } from "./heap.js"
import * as Timer from "./timer.js"

/** The time is up, or the scope of the time-outs was closed. */
export type EndReason = "TIMEOUT" | "CLOSED"

/** A class for the sake of the garbage collector: V8 lets objects of one literal survive together. */
class Timeout implements HeapEntry {
  index = -1
  readonly at: number
  readonly end: (reason: EndReason) => void

  constructor(at: number, end: (reason: EndReason) => void) {
    this.at = at
    this.end = end
  }
}

export interface Timeouts {
  /** Calls `end` after `millis` milliseconds, or earlier when the scope closes. Returns a function that cancels this. */
  readonly add: (millis: number, end: (reason: EndReason) => void) => () => void
  /** Tells whether the scope is open. */
  readonly isOpen: () => boolean
}

/** The time limit of an effect that runs in an uninterruptible region, except for what `restore` wraps. */
export interface TimeLimit {
  readonly timeouts: Timeouts
  readonly millis: number
  readonly restore: Restore
}

/** Makes time-outs that last until the scope closes, measured by the current clock. */
export const make: Effect.Effect<Timeouts, never, Scope.Scope> = Effect.gen(function*() {
  const heap = new Heap<Timeout>()
  let isOpen = true

  const end = (timeout: Timeout, reason: EndReason): void => {
    heap.remove(timeout)
    timeout.end(reason)
  }

  const endDue = (): void => {
    const now = timer.now()
    for (let next = heap.first; next !== undefined && next.at <= now; next = heap.first) end(next, "TIMEOUT")
    if (heap.first !== undefined) timer.set(heap.first.at)
  }

  const timer = yield* Timer.make(Effect.sync(endDue))

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isOpen = false
      for (let next = heap.first; next !== undefined; next = heap.first) end(next, "CLOSED")
    })
  )

  const add: Timeouts["add"] = (millis, end) => {
    const timeout = new Timeout(timer.now() + millis, end)
    heap.add(timeout)
    timer.set(timeout.at)
    return () => heap.remove(timeout)
  }

  return { add, isOpen: () => isOpen }
})

/** Runs a task and stops it at its time limit. The caller must be uninterruptible except for `restore`. */
export const runWithin = <A, E, E2>(
  { millis, restore, timeouts }: TimeLimit,
  task: CallbackTask<A, E>,
  ended: (reason: EndReason, hasBegun: boolean) => E2
): Effect.Effect<A, E | E2> => {
  if (!timeouts.isOpen()) return Effect.fail(ended("CLOSED", false))
  let abandon = () => {}
  const running = Effect.async<A, E | E2>((resume) => {
    const cancel = timeouts.add(millis, (reason) => resume(Effect.fail(ended(reason, stop()))))
    const stop = task((result) => {
      cancel()
      resume(result)
    })
    abandon = () => {
      cancel()
      stop()
    }
  })
  return Effect.catchAllCause(restore(running), (cause) => {
    abandon()
    return Effect.failCause(cause)
  })
}
