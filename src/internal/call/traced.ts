/** Traced: each request has its span, its metrics and its log lines. */
import * as Effect from "effect/Effect"
import type { RunningCall, Stage } from "./call.js"

export const traced: Stage<RunningCall> = (next) => (call) => {
  const { notes, telemetry } = call
  notes.hasBegun = true
  const sent = telemetry.attempt((trace) => {
    notes.trace = trace
    return next(call)
  })
  return Effect.map(sent, (response) => {
    // After a redirect, status and headers may be those of another service.
    if (!response.redirected) telemetry.responseReceived(response)
    return response
  })
}
