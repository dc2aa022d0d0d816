/** The retry budget and the circuit of a client, which all its calls share. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { InvalidInput } from "../../Errors.js"
import * as Metrics from "../telemetry/metrics.js"
import * as Spans from "../telemetry/spans.js"
import { Circuit, type CircuitOptions } from "./circuit.js"
import * as RetryBudget from "./retryBudget.js"
import type * as RetryPolicy from "./retryPolicy.js"

export interface Guards {
  readonly tenant: string
  /** `undefined`: retries have no budget. */
  readonly budget: RetryBudget.RetryBudget | undefined
  /** `undefined`: no call is refused. */
  readonly circuit: Circuit | undefined
}

export interface Options {
  readonly retry?: RetryPolicy.Changes | undefined
  readonly retryBudget?: number | undefined
  readonly circuit?: CircuitOptions | undefined
  readonly maxBodySize?: number | undefined
}

const isTime = (time: Duration.DurationInput | undefined): boolean => {
  const millis = time === undefined ? 1 : Duration.toMillis(time)
  return millis > 0 && millis < Infinity
}

/** The default of `retryBudget`. */
const defaultBudget = 0.2

const issuesOf = (options: Options): InvalidInput["issues"] => {
  const { delay, failures = 1, maxDelay } = options.circuit ?? {}
  const atLeastZero = {
    "retry.attempts": options.retry?.attempts,
    retryBudget: options.retryBudget,
    maxBodySize: options.maxBodySize
  }
  return [
    ...Object.entries(atLeastZero).flatMap(([path, value = 0]) =>
      value >= 0 ? [] : [{ path, message: "expected a number of at least 0" }]
    ),
    ...(Number.isSafeInteger(failures) && failures >= 1
      ? []
      : [{ path: "circuit.failures", message: "expected an integer of at least 1" }]),
    ...Object.entries({ delay, maxDelay }).flatMap(([name, time]) =>
      isTime(time) ? [] : [{ path: `circuit.${name}`, message: "expected a time above zero" }]
    )
  ]
}

/** Makes the guards of a client, and releases them with the scope; `operation` names its layer in the failure. */
export const make = (
  operation: string,
  tenant: string,
  options: Options
): Effect.Effect<Guards, InvalidInput, Scope.Scope> =>
  Effect.gen(function*() {
    const issues = issuesOf(options)
    if (issues.length > 0) return yield* new InvalidInput({ operation, issues })
    const { retryBudget = defaultBudget } = options
    const circuit = options.circuit && new Circuit(options.circuit)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        if (circuit?.isOpen === true) {
          Metrics.add(Metrics.openCircuits(Spans.serverAddress(tenant)), -1, Metrics.noLabels)
        }
      })
    )
    return { tenant, budget: retryBudget === Infinity ? undefined : yield* RetryBudget.make(retryBudget), circuit }
  })
