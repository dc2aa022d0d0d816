/** Transport: sends one request within its time limit, and reads the response; traced: each has its span, its metrics and its log lines. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Exchange, NoResponse } from "../http/rawExchange.js"
import { requestBody } from "../http/requestEncoder.js"
import { bodyLimit } from "../http/responseDecoder.js"
import { transportError } from "../http/transportError.js"
import { type RunningCall, type Send, type Stage, timeLeft } from "./call.js"

/** What a client allows each request: the size of its response, and its time unless the call has a limit of its own. */
interface Limits {
  readonly maxBodySize: number
  readonly timeout: Duration.Duration
}

/** Sends calls over an exchange, those of server-sent events over one that leaves them unread. */
export const transport = (
  exchange: Exchange,
  opening: Exchange,
  { maxBodySize, timeout }: Limits
): Send<RunningCall> =>
(call) => {
  const { endpoint, headers, notes, operation, request, restore, settings, tenant, timeouts, url } = call
  const limit = Duration.toMillis(settings.timeout ?? timeout)
  const millis = call.attempt === 1 ? limit : Math.min(limit, timeLeft(call))
  const send = endpoint.events === undefined ? exchange : opening
  const raw = {
    method: request.method,
    url,
    headers: { ...notes.trace, ...headers, authorization: notes.authorization },
    body: requestBody(request)
  }
  const sent = Effect.catchAllCause(
    millis <= 0
      ? new NoResponse({ outcome: "not-sent", code: "TIMEOUT" })
      : send(raw, bodyLimit(endpoint, maxBodySize), { timeouts, millis, restore }),
    (cause) =>
      Effect.failCause(Cause.map(cause, ({ code, outcome }) => transportError(operation, tenant, outcome, code)))
  )
  const { onResponse } = settings
  return onResponse === undefined ? sent : Effect.tap(sent, (response) => Effect.sync(() => onResponse(response)))
}

/** Gives each request its span, its metrics and its log lines. */
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
