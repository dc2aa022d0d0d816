/** Warns when a long wait for a permit begins. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { withTelemetryOf } from "../runtime/fiber.js"
import { makeRunner } from "../runtime/runner.js"
import { isLongWait, warningInterval } from "../runtime/warnings.js"
import type { ClientCall, WaitReason } from "./limiter.js"

const reasons: Readonly<Record<WaitReason, string>> = {
  limit: "the rate limit is used up",
  ceiling: "the ceiling that was set is reached",
  pause: "the service asked for a pause (Retry-After)",
  pace: "the service refused calls without saying how many it allows",
  inFlight: "another call is in flight"
}

interface DelayedCall {
  readonly call: Pick<ClientCall, "fiber" | "operation">
  readonly reason: WaitReason | undefined
}

/** Makes a function that logs a warning if the wait is long, with the loggers of the fiber that waits. */
export const make = Effect.map(makeRunner(), ({ fork }) => {
  const nextAt: Readonly<Record<WaitReason, WeakMap<object, number>>> = {
    limit: new WeakMap(),
    ceiling: new WeakMap(),
    pause: new WeakMap(),
    pace: new WeakMap(),
    inFlight: new WeakMap()
  }
  return (
    bucket: object,
    { call: { fiber, operation }, reason = "limit" }: DelayedCall,
    millis: number,
    now: number
  ): void => {
    if (!isLongWait(millis) || now < (nextAt[reason].get(bucket) ?? -Infinity)) return
    nextAt[reason].set(bucket, now + warningInterval)
    const wait = Duration.format(Duration.seconds(Math.ceil(millis / 1000)))
    const warning = Effect.logWarning(`calls wait ${wait} for the rate limiter: ${reasons[reason]}`)
    fork(withTelemetryOf(fiber, Effect.annotateLogs(warning, { operation })))
  }
})
