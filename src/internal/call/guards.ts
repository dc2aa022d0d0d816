/** The retry budget and the circuit of a client, which all its calls share. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { InvalidInput } from "../../Errors.js"
import { Circuit, type CircuitOptions } from "./circuit.js"
import { RetryBudget } from "./retryBudget.js"

export interface Guards {
  readonly tenant: string
  /** `undefined`: retries have no budget. */
  readonly budget: RetryBudget | undefined
  /** `undefined`: no call is refused. */
  readonly circuit: Circuit | undefined
}

export interface Options {
  readonly retryBudget?: number | undefined
  readonly circuit?: CircuitOptions | undefined
}

const isTime = (time: Duration.DurationInput | undefined): boolean => {
  const millis = time === undefined ? 1 : Duration.toMillis(time)
  return millis > 0 && millis < Infinity
}

/** Makes the guards of a client; `operation` names its layer in the failure. */
export const make = (
  operation: string,
  tenant: string,
  { circuit, retryBudget = Infinity }: Options
): Effect.Effect<Guards, InvalidInput> => {
  const { delay, failures = 1, maxDelay } = circuit ?? {}
  const issues = [
    ...(retryBudget >= 0 ? [] : [{ path: "retryBudget", message: "expected a number of at least 0" }]),
    ...(Number.isSafeInteger(failures) && failures >= 1
      ? []
      : [{ path: "circuit.failures", message: "expected an integer of at least 1" }]),
    ...Object.entries({ delay, maxDelay }).flatMap(([name, time]) =>
      isTime(time) ? [] : [{ path: `circuit.${name}`, message: "expected a time above zero" }]
    )
  ]
  return issues.length > 0 ? new InvalidInput({ operation, issues }) : Effect.succeed({
    tenant,
    budget: retryBudget === Infinity ? undefined : new RetryBudget(retryBudget),
    circuit: circuit && new Circuit(circuit)
  })
}
