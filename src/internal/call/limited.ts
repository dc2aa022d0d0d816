/** Limited: each request waits for the limiter, which learns from how it ends. The wait does not count towards the total time. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { RateLimited, TransportError } from "../../Errors.js"
import { transportError } from "../http/transportError.js"
import type { Limiter } from "../limiter/limiter.js"
import { type AuthorizedResponse, now, type RunningCall, type Stage } from "./call.js"
import type { AttemptFailure } from "./retryPolicy.js"
import { around } from "./staged.js"

export const limited = (limiter: Limiter): Stage<RunningCall, AuthorizedResponse> => (next) => (call) => {
  const { notes, operation, telemetry, tenant } = call
  const since = now(call)
  let isWaiting = true
  notes.hasBegun = false
  telemetry.waitStarted()
  const waited = (): void => {
    if (!isWaiting) return
    isWaiting = false
    notes.waited = now(call) - since
    notes.startedAt += notes.waited
    telemetry.waitEnded(notes.waited)
  }
  let unsent: Exit.Exit<never, AttemptFailure> | undefined
  const sent = (): Effect.Effect<AuthorizedResponse, AttemptFailure> => {
    waited()
    return Effect.catchAllCause(next(call), (cause) => {
      if (notes.hasBegun || !Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
      unsent = Exit.failCause(cause)
      return transportError(operation, tenant, "not-sent", "INTERRUPTED") // an interruption would not tell the limiter so
    })
  }
  const limit = around<AuthorizedResponse, AttemptFailure, RateLimited | TransportError>(
    call,
    (keep) => limiter.limit({ tenant, operation })(keep(sent))
  )
  return Effect.catchAllCause(limit, (cause) => {
    waited()
    return unsent ?? Effect.failCause(cause)
  })
}
