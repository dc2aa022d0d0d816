/** Waits of a call: each ends when its client closes. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { TransportError } from "../../Errors.js"
import { transportError } from "../http/transportError.js"
import { interruptInBackground, withFiber } from "../runtime/fiber.js"
import { exitOf, forkCopy, onExit } from "../runtime/runner.js"
import type { RunningCall } from "./call.js"

/** The failure of a call that is not sent because its client is closed. */
export const closed = ({ operation, tenant }: Pick<RunningCall, "operation" | "tenant">): TransportError =>
  transportError(operation, tenant, "not-sent", "CLOSED")

/**
 * Makes a wait of a call interruptible; all else is uninterruptible. It runs in a fiber of its own, which closing the client interrupts: then it
 * fails with the code `CLOSED`, or ends as the request in it has `ended` already.
 */
export const wait = <A, E>(
  call: Pick<RunningCall, "operation" | "restore" | "tenant" | "timeouts">,
  self: Effect.Effect<A, E>,
  ended: () => Exit.Exit<A, E> | undefined = () => undefined
): Effect.Effect<A, E | TransportError> =>
  withFiber((fiber) => {
    if (!call.timeouts.isOpen()) return closed(call)
    const waiting = forkCopy(fiber, Effect.exit(self)) // the runtime would log its failure
    const rest = Effect.async<A, E | TransportError>((resume) => {
      let isClosed = false
      const forget = call.timeouts.add(Infinity, () => {
        isClosed = true
        interruptInBackground(waiting)
      })
      onExit(waiting, (result) => {
        forget()
        const exit = Exit.flatten(result)
        const isInterrupted = Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
        resume(isInterrupted ? ended() ?? (isClosed ? closed(call) : exit) : exit)
      })
    })
    const exit = exitOf(waiting)
    if (exit !== undefined) return Exit.flatten(exit)
    return Effect.catchAllCause(call.restore(rest), (cause) =>
      Effect.zipRight(Fiber.interrupt(waiting), Effect.failCause(cause)))
  })
