/**
 * Time-outs that share one timer. Each costs a node of a list instead of a fiber and a timer of its own: `Effect.timeoutFail`
 * makes a call of 66 µs cost 500 µs more, this a few (`npm run bench`, rows `ours-lean`). Requests over clients of the platform
 * have them, too, instead of `Effect.disconnect`: so one place tells a time-out from a closing client, and a request that was not
 * sent from one whose outcome is unknown.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { interruptInBackground, type Restore } from "./fiber.js"
import { LinkedList, LinkedNode } from "./linkedList.js"
import { makeRunner, onExit } from "./runner.js"
import * as Timer from "./timer.js"

/** The time is up, or the scope of the time-outs was closed. */
export type EndReason = "TIMEOUT" | "CLOSED"

/** The time-outs are a linked list: as a `Set`, to which each call adds one and removes it, they cost 10 % of a call (`npm run bench`). */
class Timeout extends LinkedNode<Timeout> {
  readonly at: number
  readonly end: (reason: EndReason) => void

  constructor(at: number, end: (reason: EndReason) => void) {
    super()
    this.at = at
    this.end = end
  }
}

/** The time limits that end together. */
export type Timeouts = Effect.Effect.Success<typeof make>

/** The time limit of an effect, in milliseconds. `restore` makes the wait for it interruptible (default: `Effect.interruptible`). */
export interface TimeLimit {
  readonly timeouts: Timeouts
  readonly millis: number
  readonly restore?: Restore
}

/** Makes time-outs that last until the scope closes, measured by the current clock. */
export const make = Effect.gen(function*() {
  const pending = new LinkedList<Timeout>()
  /** What only the scope ends: a time-out looks at all of `pending`. */
  const unlimited = new LinkedList<Timeout>()
  let isOpen = true

  const endDue = (): void => {
    const now = timer.now()
    const due: Array<Timeout> = []
    let next = Infinity
    for (const timeout of pending) {
      if (timeout.at - now < Timer.grain) due.push(timeout)
      else next = Math.min(next, timeout.at)
    }
    for (const timeout of due) if (pending.remove(timeout)) timeout.end("TIMEOUT")
    if (next < Infinity) timer.set(next)
  }

  const timer = (yield* Timer.make).make(endDue)

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isOpen = false
      for (const list of [pending, unlimited]) {
        for (let { first } = list; first !== undefined; { first } = list) {
          list.remove(first)
          first.end("CLOSED")
        }
      }
    })
  )

  /** Calls `end` after `millis` milliseconds, or earlier when the scope closes. Returns a function that cancels this. */
  const add = (millis: number, end: (reason: EndReason) => void): () => void => {
    const timeout = new Timeout(timer.now() + millis, end)
    pending.add(timeout)
    timer.set(timeout.at)
    return () => void pending.remove(timeout)
  }

  /** Calls `end` when the scope closes. Returns a function that cancels this. */
  const onClose = (end: () => void): () => void => {
    const timeout = new Timeout(Infinity, end)
    unlimited.add(timeout)
    return () => void unlimited.remove(timeout)
  }

  return { add, onClose, isOpen: (): boolean => isOpen }
})

/**
 * Work that runs outside any fiber, such as a request on a socket: it starts the work and returns a function that stops it. Once
 * stopped, it does not call `done` any more; the function tells whether the work may have had an effect by then. Stopping it again,
 * or after its end, does nothing.
 */
export type CallbackTask<A, E> = (done: (result: Effect.Effect<A, E>) => void) => () => boolean

/** Makes a task of an effect. It runs in a fiber of its own, which is interrupted in the background when the task is stopped. */
export const taskOf = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<CallbackTask<A, E>> =>
  Effect.map(makeRunner(), ({ fork }) => (done) => {
    const fiber = fork(effect)
    const cancel = onExit(fiber, done)
    return () => {
      cancel()
      interruptInBackground(fiber)
      return true
    }
  })

/** Runs a task and stops it at its time limit, or when it is interrupted. Must run in an uninterruptible region. */
export const runWithin = <A, E, E2>(
  { millis, restore = Effect.interruptible, timeouts }: TimeLimit,
  task: CallbackTask<A, E>,
  ended: (reason: EndReason, hasBegun: boolean) => E2
): Effect.Effect<A, E | E2> => {
  if (!timeouts.isOpen()) return Effect.fail(ended("CLOSED", false))
  let abandon = () => {}
  let result: Effect.Effect<A, E | E2> | undefined
  const running = Effect.async<A, E | E2>((resume) => {
    const end = (effect: Effect.Effect<A, E | E2>) => {
      result = effect
      resume(effect)
    }
    let stop = () => false // also if the task throws
    const tryToStop = () => Either.getOrElse(Either.try(() => stop()), () => true) // else other time-outs would not end
    const cancel = timeouts.add(millis, (reason) => end(Effect.fail(ended(reason, tryToStop()))))
    stop = task((result) => {
      cancel()
      end(result)
    })
    abandon = () => {
      cancel()
      tryToStop()
    }
  })
  return Effect.catchAllCause(restore(running), (cause) => {
    abandon()
    // Once the scope is closed, its owner may interrupt what still runs: that must not hide how this has ended.
    return timeouts.isOpen() ? Effect.failCause(cause) : result ?? Effect.failCause(cause)
  })
}
