/** Begins calls: each runs in a fiber of its own, with what its stages read. Closing a client waits for them, and then ends their waits. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { Any, Endpoint } from "../../Endpoint.js"
import type { ClientError, InvalidInput, RateLimited, TransportError } from "../../Errors.js"
import * as Request from "../http/requestEncoder.js"
import { interpret } from "../http/responseDecoder.js"
import { transportError } from "../http/transportError.js"
import { type AnyFiber, clockOf, inOwnFiber, interruptInBackground, settingOf, withFiber } from "../runtime/fiber.js"
import { forkCopy } from "../runtime/runner.js"
import type * as CallTelemetry from "../telemetry/callTelemetry.js"
import { type AuthorizedResponse, makeNotes, now, type RunningCall, type Send, type Wait } from "./call.js"
import type { policiesOf } from "./retryPolicy.js"
import { currentSettings } from "./settings.js"

/** Makes a function that begins the calls of a tenant's client: it validates and encodes their input. */
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

/** Counts the running calls of a tenant's client. Once the scope is closed, no call waits for anything any more. */
export const runningCalls = Effect.fnUntraced(function*(tenant: string, begin: ReturnType<typeof beginnerOf>) {
  const running = new Set<AnyFiber>()
  let isClosing = false
  let isClosed = false
  const drained = yield* Deferred.make<void>()

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
      for (const fiber of running) interruptInBackground(fiber)
    })
  )

  return {
    /** Waits up to 5 s for the running calls, and refuses all others from now on. */
    drain: Effect.suspend(() => {
      isClosing = true
      return running.size === 0
        ? Effect.void
        : Effect.asVoid(inOwnFiber(Effect.timeoutOption(Deferred.await(drained), "5 seconds")))
    }),
    /** Sends a call in a fiber of its own, because the program's may not be interrupted when the client closes, and reads its response. */
    run: <Input, Success, Failure>(
      endpoint: Endpoint<Input, Success, Failure>,
      input: Input,
      send: Send<RunningCall, AuthorizedResponse>
    ): Effect.Effect<Success, Failure | ClientError | RateLimited> => {
      const closed = () => transportError(endpoint.name, tenant, "not-sent", "CLOSED")
      const wait: Wait = <A, E, R>(wait: Effect.Effect<A, E, R>, ended?: () => Exit.Exit<A, E> | undefined) =>
        Effect.catchAllCause(Effect.interruptible(wait), (cause): Effect.Effect<A, E | TransportError> => {
          if (!Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
          return ended?.() ?? (isClosed ? closed() : Effect.failCause(cause))
        })
      const started = withFiber<Success, Failure | ClientError | RateLimited>((fiber) => {
        running.add(fiber)
        const begun = begin(endpoint, input, wait, fiber)
        if (Either.isLeft(begun)) return Effect.fail(begun.left)
        const call = begun.right
        const strings = () => Request.strings(call.request)
        const read = (response: AuthorizedResponse) => interpret(endpoint, tenant, response, strings, call.clock)
        return call.telemetry.run(send(call), read, strings)
      })
      return withFiber<Success, Failure | ClientError | RateLimited>((caller) =>
        isClosing ? closed() : Effect.async((resume) => {
          const fiber = forkCopy(caller, started, (fiber, exit) => {
            running.delete(fiber)
            if (running.size === 0 && isClosing) Deferred.unsafeDone(drained, Effect.void)
            resume(exit)
          })
          return Fiber.interrupt(fiber)
        })
      )
    }
  }
})
