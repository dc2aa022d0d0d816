/** Begins calls: each has what its stages read. Closing a client waits for them, and then ends their waits. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Any, Endpoint } from "../../Endpoint.js"
import type { ClientError, InvalidInput, RateLimited } from "../../Errors.js"
import * as Request from "../http/requestEncoder.js"
import { interpret } from "../http/responseDecoder.js"
import { type AnyFiber, clockOf, inOwnFiber, type Restore, settingOf, withFiber } from "../runtime/fiber.js"
import type { Timeouts } from "../runtime/timeouts.js"
import type * as CallTelemetry from "../telemetry/callTelemetry.js"
import { type AuthorizedResponse, makeNotes, now, type RunningCall, type Send } from "./call.js"
import type { policiesOf } from "./retryPolicy.js"
import { currentSettings } from "./settings.js"
import { closed } from "./wait.js"

/** Makes a function that begins the calls of a tenant's client: it validates and encodes their input. */
export const beginnerOf = (
  tenant: string,
  policyOf: ReturnType<typeof policiesOf>,
  telemetryOf: ReturnType<typeof CallTelemetry.make>,
  timeouts: Timeouts
) =>
(endpoint: Any, input: unknown, fiber: AnyFiber, restore: Restore): Either.Either<RunningCall, InvalidInput> => {
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
    restore,
    timeouts,
    notes: makeNotes(now({ clock }))
  }))
}

/** Counts the running calls of a tenant's client. */
export const runningCalls = Effect.fnUntraced(function*(tenant: string, begin: ReturnType<typeof beginnerOf>) {
  let running = 0
  let isClosing = false
  const drained = yield* Deferred.make<void>()

  const ended = (): void => {
    running--
    if (running === 0 && isClosing) Deferred.unsafeDone(drained, Effect.void)
  }

  return {
    /** Waits up to 5 s for the running calls, and refuses all others from now on. */
    drain: Effect.suspend(() => {
      isClosing = true
      return running === 0
        ? Effect.void
        : Effect.asVoid(inOwnFiber(Effect.timeoutOption(Deferred.await(drained), "5 seconds")))
    }),
    /** Begins a call, sends it, and reads its response. */
    run: <Input, Success, Failure>(
      endpoint: Endpoint<Input, Success, Failure>,
      input: Input,
      send: Send<RunningCall, AuthorizedResponse>
    ): Effect.Effect<Success, Failure | ClientError | RateLimited> =>
      Effect.uninterruptibleMask((restore) =>
        withFiber<Success, Failure | ClientError | RateLimited>((fiber) => {
          if (isClosing) return closed({ operation: endpoint.name, tenant })
          const begun = begin(endpoint, input, fiber, restore)
          if (Either.isLeft(begun)) return Effect.fail(begun.left)
          const call = begun.right
          const strings = () => Request.strings(call.request)
          const read = (response: AuthorizedResponse) => interpret(endpoint, tenant, response, strings, call.clock)
          const sent = call.telemetry.run(send(call), read, strings)
          running++
          return Effect.matchCauseEffect(sent, {
            onFailure: (cause) => {
              ended()
              return Effect.failCause(cause)
            },
            onSuccess: (value) => {
              ended()
              return Effect.succeed(value)
            }
          })
        })
      )
  }
})
