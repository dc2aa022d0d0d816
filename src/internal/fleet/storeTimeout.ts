/** The time limit of a store. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { InvalidInput } from "../../Errors.js"
import { invalidSetting } from "../schema/issues.js"

/** The time limit of a store whose options name none. */
export const byDefault = "200 millis"

/** The most store requests in sequence that one permit or token waits for. Each may take its part of the time limit. */
const requestsInARow = 4

/** The milliseconds that a request may take. */
export const requestMillis = (timeout: Duration.DurationInput): number => Duration.toMillis(timeout) / requestsInARow

/** Fails unless the time limit is above zero and finite; `operation` names the layer in the failure. */
export const validate = (
  operation: string,
  timeout: Duration.DurationInput | undefined
): Effect.Effect<void, InvalidInput> =>
  Effect.suspend(() => {
    if (timeout === undefined) return Effect.void
    const millis = Duration.toMillis(timeout)
    return millis > 0 && millis < Infinity
      ? Effect.void
      : invalidSetting(operation, "timeout", "expected a finite time above zero")
  })
