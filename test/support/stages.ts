/** A running call, for tests of one stage. */
import { Headers } from "@effect/platform"
import { Effect, Either, Redacted } from "effect"
import { beginnerOf } from "../../src/internal/call/begin.js"
import type { AuthorizedResponse, Notes, RunningCall, Send } from "../../src/internal/call/call.js"
import type { AttemptFailure } from "../../src/internal/call/retryPolicy.js"
import * as RetryPolicy from "../../src/internal/call/retryPolicy.js"
import { withFiber } from "../../src/internal/runtime/fiber.js"
import * as Timeouts from "../../src/internal/runtime/timeouts.js"
import * as CallTelemetry from "../../src/internal/telemetry/callTelemetry.js"
import { deleteEventStream } from "../../src/operations/index.js"

const tenant = "https://t.example.com/api/v2"

/** A response of status 204. */
export const answer: AuthorizedResponse = {
  status: 204,
  headers: Headers.empty,
  body: "",
  completeness: "complete",
  redirected: false,
  token: Redacted.make("t")
}

const policyOf = RetryPolicy.policiesOf()
const telemetryOf = CallTelemetry.make(tenant, false)

/** Begins a call, with notes of its own, and sends it through stages as the client does: uninterruptibly, but for its waits. */
export const started = <A>(
  send: Send<RunningCall, A>,
  notes: Partial<Notes> = {}
): Effect.Effect<A, AttemptFailure> =>
  Effect.scoped(Effect.flatMap(Timeouts.make, (timeouts) => {
    const begin = beginnerOf(tenant, policyOf, telemetryOf, timeouts)
    return Effect.uninterruptibleMask((restore) =>
      withFiber((fiber) => {
        const call = Either.getOrThrow(
          begin(deleteEventStream.endpoint, { id: "est_0123456789012345678901" }, fiber, restore)
        )
        Object.assign(call.notes, notes)
        return send(call)
      })
    )
  }))
