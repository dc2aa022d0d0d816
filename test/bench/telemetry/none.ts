/** The library's view of a call with nothing in it: what `src/internal/telemetry/callTelemetry.ts` is swapped for to see what that costs. */
import * as Effect from "effect/Effect"
import * as Request from "../../../src/internal/http/requestEncoder.js"
import type * as Library from "../../../src/internal/telemetry/callTelemetry.js"

const watch: Pick<Library.CallTelemetry, keyof Library.CallTelemetry> = {
  around: (call, input, interpret) => Effect.flatMap(call, (answer) => interpret(answer, () => Request.strings(input))),
  waits: () => {},
  waited: () => {},
  attempt: (send) => Effect.suspend(() => send(undefined)),
  answered: () => {},
  replays: () => {},
  backsOff: (_millis, wait) => wait
}

export const make: typeof Library.make = () => () => watch as Library.CallTelemetry // sound: the client uses no more of it

export const tokenRequest: typeof Library.tokenRequest = (_fiber, request) => request

export const tokenAttempt: typeof Library.tokenAttempt = (_url, _nth, send) => send
