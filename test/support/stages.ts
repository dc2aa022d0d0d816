/** A running call, for tests of one stage. */
import { Headers } from "@effect/platform"
import { Effect, Either, Redacted } from "effect"
import { beginnerOf } from "../../src/internal/call/begin.js"
import type { AuthorizedResponse, RunningCall, Send } from "../../src/internal/call/call.js"
import type { AttemptFailure } from "../../src/internal/call/retryPolicy.js"
import * as RetryPolicy from "../../src/internal/call/retryPolicy.js"
import { withFiber } from "../../src/internal/runtime/fiber.js"
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

const begin = beginnerOf(tenant, RetryPolicy.policiesOf(), CallTelemetry.make(tenant, false))

/** Begins a call, and sends it through stages as the client does: uninterruptibly, but for its waits. */
export const started = <A>(
  send: Send<RunningCall, A>,
  change: Partial<RunningCall> = {}
): Effect.Effect<A, AttemptFailure> =>
  Effect.uninterruptible(withFiber((fiber) => {
    const wait: RunningCall["wait"] = (self, ended) =>
      Effect.catchAllCause(Effect.interruptible(self), (cause) => ended?.() ?? Effect.failCause(cause))
    const id = "est_0123456789012345678901"
    return send({ ...Either.getOrThrow(begin(deleteEventStream.endpoint, { id }, wait, fiber)), ...change })
  }))
