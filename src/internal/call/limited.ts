/** Limited: each request waits for the limiter, which learns from how it ends. The wait does not count towards the total time. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { RateLimited } from "../../Errors.js"
import type { Limiter } from "../limiter/limiter.js"
import { type AuthorizedResponse, now, type RunningCall, type Stage } from "./call.js"
import type { AttemptFailure } from "./retryPolicy.js"
import { around } from "./staged.js"
import { closed } from "./wait.js"

/** Notes that a call waits no longer. Its total time does not count the wait. */
const waited = (call: RunningCall): void => {
  const { notes, telemetry } = call
  if (notes.waitsSince === undefined) return
  notes.waited = now(call) - notes.waitsSince
  notes.startedAt += notes.waited
  notes.waitsSince = undefined
  telemetry.waitEnded(notes.waited)
}

export const limited = (limiter: Limiter): Stage<RunningCall, AuthorizedResponse> => (next) => (call) => {
  const { notes, operation, telemetry, tenant, timeouts } = call
  notes.waitsSince = now(call)
  notes.hasBegun = false
  telemetry.waitStarted()
  const sent = (): Effect.Effect<AuthorizedResponse, AttemptFailure> => {
    waited(call)
    return next(call)
  }
  // A limiter of the library ends the wait itself when the client closes; around any other one runs a fiber that can be interrupted.
  const limit = limiter.limit.ofClient?.(call, Effect.suspend(sent)) ??
    around<AuthorizedResponse, AttemptFailure, RateLimited>(
      call,
      (keep) => limiter.limit({ tenant, operation })(keep(sent))
    )
  return Effect.catchAllCause(limit, (cause) => {
    waited(call)
    return !notes.hasBegun && !timeouts.isOpen() && Cause.isInterruptedOnly(cause)
      ? closed(call)
      : Effect.failCause(cause)
  })
}
