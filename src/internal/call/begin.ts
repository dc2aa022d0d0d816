/** Begins a call: validates and encodes its input, and collects what its stages read. */
import * as Either from "effect/Either"
import type { Any } from "../../Endpoint.js"
import type { InvalidInput } from "../../Errors.js"
import * as Request from "../http/requestEncoder.js"
import { type AnyFiber, clockOf, settingOf } from "../runtime/fiber.js"
import type * as CallTelemetry from "../telemetry/callTelemetry.js"
import { makeNotes, now, type RunningCall } from "./call.js"
import type { policiesOf } from "./retryPolicy.js"
import type { Wait } from "./runningCalls.js"
import { currentSettings } from "./settings.js"

/** Makes a function that begins the calls of a tenant's client. */
export const beginnerOf = (
  tenant: string,
  policyOf: ReturnType<typeof policiesOf>,
  telemetryOf: ReturnType<typeof CallTelemetry.make>
) =>
(endpoint: Any, input: unknown, wait: Wait, fiber: AnyFiber): Either.Either<RunningCall, InvalidInput> => {
  const settings = settingOf(fiber, currentSettings)
  const clock = clockOf(fiber)
  return Either.map(Request.make(endpoint, input, settings), (request) => ({
    tenant,
    operation: endpoint.name,
    attempt: 1,
    method: request.method,
    url: `${tenant}${request.target}`,
    headers: Request.requestHeaders(request),
    endpoint,
    request,
    settings,
    policy: policyOf(fiber),
    fiber,
    clock,
    telemetry: telemetryOf(endpoint, fiber, clock),
    wait,
    notes: makeNotes(now({ clock }))
  }))
}
