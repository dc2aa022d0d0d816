/** Warns when a long wait for a permit begins. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type AnyFiber, makeRunner, withTelemetryOf } from "../runtime/fiber.js"
import type { Call, WaitReason } from "./limiter.js"

/** The time between two warnings about one bucket, in milliseconds. */
const interval = 60_000

const reasons: Readonly<Record<WaitReason, string>> = {
  limit: "the rate limit is used up",
  pause: "the service asked for a pause (Retry-After)",
  inFlight: "another call is in flight"
}

interface Waiting {
  readonly call: Call
  readonly fiber: AnyFiber
  readonly reason: WaitReason | undefined
}

/** Checks that a wait is worth a warning: at least 5 s. The end of another call may come at any time. */
export const isLong = (millis: number): boolean => millis >= 5000 && millis < Infinity

/** Makes a function that logs a warning with the loggers of the fiber that waits. */
export const make = Effect.map(makeRunner(), ({ fork }) => {
  const nextAt = new WeakMap<object, number>()
  return (bucket: object, { call, fiber, reason = "limit" }: Waiting, millis: number, now: number): void => {
    if (now < (nextAt.get(bucket) ?? -Infinity)) return
    nextAt.set(bucket, now + interval)
    const wait = Duration.format(Duration.seconds(Math.ceil(millis / 1000)))
    const warning = Effect.logWarning(`calls wait ${wait} for the rate limiter: ${reasons[reason]}`)
    fork(withTelemetryOf(fiber, Effect.annotateLogs(warning, { operation: call.operation })))
  }
})
