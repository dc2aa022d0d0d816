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

const flat = <A, E>(exit: Exit.Exit<Exit.Exit<A, E>>): Exit.Exit<A, E> =>
  Exit.isSuccess(exit) ? exit.value : Exit.failCause(exit.cause)

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
    const result = (exit: Exit.Exit<A, E>): Effect.Effect<A, E | TransportError> => {
      if (call.timeouts.isOpen() || Exit.isSuccess(exit) || !Cause.isInterruptedOnly(exit.cause)) return exit
      return ended() ?? closed(call)
    }
    // The exit is a value: the runtime would log a failure.
    const waiting = forkCopy(fiber, Effect.exit(self))
    const exit = exitOf(waiting)
    if (exit !== undefined) return result(flat(exit))
    const end = Effect.async<Exit.Exit<A, E>>((resume) => {
      const forget = call.timeouts.onClose(() => interruptInBackground(waiting))
      onExit(waiting, (exit) => {
        forget()
        resume(Effect.succeed(flat(exit)))
      })
    })
    return Effect.matchCauseEffect(call.restore(end), {
      onFailure: (cause) =>
        Effect.flatMap(Effect.zipRight(Fiber.interrupt(waiting), Fiber.await(waiting)), (exit) =>
          // The client may be closing, too: that must not hide how this has ended.
          call.timeouts.isOpen() ? Effect.failCause(cause) : result(flat(exit))),
      onSuccess: result
    })
  })
