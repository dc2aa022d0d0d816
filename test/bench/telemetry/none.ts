/** Telemetry that does nothing; the benchmark bundles it instead of the library's own to measure the cost of that. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Calls from "../../../src/internal/telemetry/callTelemetry.js"
import type * as Tokens from "../../../src/internal/telemetry/tokenTelemetry.js"

const telemetry: Pick<Calls.CallTelemetry, keyof Calls.CallTelemetry> = {
  run: (call, interpret) =>
    Effect.flatMap(
      call,
      (response) => Either.match(interpret(response), { onLeft: Effect.fail, onRight: Effect.succeed })
    ),
  waitStarted: () => {},
  waitEnded: () => {},
  attempt: (send) => Effect.suspend(() => send(undefined)),
  responseReceived: () => {},
  tokenReplaced: () => {},
  backoff: (_millis, wait) => wait,
  retrySkipped: () => {},
  refusedByCircuit: () => {},
  circuitOpened: () => {},
  circuitClosed: () => {}
}

export const make: typeof Calls.make = () => () => telemetry as Calls.CallTelemetry // sound: the client uses nothing else

export const tokenRequest: typeof Tokens.tokenRequest = (_fiber, request) => request

export const tokenAttempt: typeof Tokens.tokenAttempt = (_url, _nth, send) => Effect.uninterruptible(send)

export const tokenQuotas: typeof Tokens.tokenQuotas = () => Effect.void
