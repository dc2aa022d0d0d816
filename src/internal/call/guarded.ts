/** Guarded: no request is sent while the circuit is open, and circuit and retry budget learn from how each attempt ends. */
import * as Effect from "effect/Effect"
import { openCode, transportError } from "../http/transportError.js"
import { type AuthorizedResponse, now, type RunningCall, type Stage } from "./call.js"
import type { Circuit } from "./circuit.js"
import type { RetryBudget } from "./retryBudget.js"
import { failureShowsOutage, responseShowsOutage } from "./retryPolicy.js"

/** What all calls of a client share. */
export interface Guards {
  /** `undefined`: retries have no budget. */
  readonly budget: RetryBudget | undefined
  /** `undefined`: no call is refused. */
  readonly circuit: Circuit | undefined
}

/** Refuses a request if the circuit is open, also if it has opened since the attempt began. */
export const unlessOpen = <A>(circuit: Circuit | undefined): Stage<RunningCall, A> => (next) =>
  circuit === undefined ? next : (call) => {
    const { notes, operation, telemetry, tenant } = call
    notes.entered = circuit.enter(now(call), notes.entered)
    if (notes.entered !== undefined) return next(call)
    telemetry.refusedByCircuit()
    return transportError(operation, tenant, "not-sent", openCode)
  }

export const guarded = ({ budget, circuit }: Guards): Stage<RunningCall, AuthorizedResponse> => (next) => {
  const send = unlessOpen<AuthorizedResponse>(circuit)(next)
  const ended = (call: RunningCall, isDown: boolean | undefined): void => {
    if (isDown === undefined) return
    const { notes, telemetry } = call
    budget?.attemptEnded(isDown)
    if (notes.entered === undefined || circuit?.attemptEnded(notes.entered, isDown, now(call)) !== true) return
    if (!isDown) return telemetry.circuitClosed()
    telemetry.circuitOpened(circuit.failures)
  }
  return (call) => {
    call.notes.entered = undefined
    return Effect.matchEffect(send(call), {
      onFailure: (error) => {
        ended(call, failureShowsOutage(error))
        return Effect.fail(error)
      },
      onSuccess: (response) => {
        ended(call, responseShowsOutage(response))
        return Effect.succeed(response)
      }
    })
  }
}
