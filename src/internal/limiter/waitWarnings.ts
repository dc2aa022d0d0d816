/** Warns when a long wait for a permit begins. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { withTelemetryOf } from "../runtime/fiber.js"
import { getOrInsert } from "../runtime/memoize.js"
import { makeRunner } from "../runtime/runner.js"
import { isLongWait, warningInterval } from "../runtime/warnings.js"
import type { ClientCall, WaitReason } from "./limiter.js"
import type { Wait } from "./strategy.js"

const reasons: Readonly<Record<WaitReason, string>> = {
  limit: "the rate limit is used up",
  ceiling: "the ceiling that was set is reached",
  pause: "the service asked for a pause (Retry-After)",
  pace: "the service refused calls without saying how many it allows",
  inFlight: "another call is in flight"
}

/** Makes a function that logs a warning if the wait is long, with the loggers of the fiber that waits: once a minute for each bucket and reason. */
export const make = Effect.map(makeRunner(), ({ fork }) => {
  const nextAt = new WeakMap<object, Map<WaitReason, number>>()
  return (
    bucket: object,
    { fiber, operation }: Pick<ClientCall, "fiber" | "operation">,
    { millis, reason }: Wait,
    now: number
  ): void => {
    if (!isLongWait(millis)) return
    const next = getOrInsert(nextAt, bucket, () => new Map<WaitReason, number>())
    if (now < (next.get(reason) ?? -Infinity)) return
    next.set(reason, now + warningInterval)
    const wait = Duration.format(Duration.seconds(Math.ceil(millis / 1000)))
    const warning = Effect.logWarning(`calls wait ${wait} for the rate limiter: ${reasons[reason]}`)
    fork(withTelemetryOf(fiber, Effect.annotateLogs(warning, { operation })))
  }
})
