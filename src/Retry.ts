/** When a call is sent again: the policy, and the setting that carries it to the client. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { dual } from "effect/Function"
import { globalValue } from "effect/GlobalValue"

/** How calls that the service turned away with 429, and so has not carried out, are sent again. */
export interface Policy {
  /** How often a call is sent at the most, the first time included. */
  readonly attempts: number
  /** The wait before the next attempt when the service names none (`Retry-After`). */
  readonly delay: Duration.DurationInput
  /** The longest wait: a call that would have to wait longer fails at once. */
  readonly maxDelay: Duration.DurationInput
}

/** Three attempts; `Retry-After` or one second between them, one minute at the most. */
export const defaultPolicy: Policy = { attempts: 3, delay: "1 second", maxDelay: "1 minute" }

const current: FiberRef.FiberRef<Policy> = globalValue(
  "effect-identity-client/Retry/current",
  () => FiberRef.unsafeMake(defaultPolicy)
)

/** Sets the policy for the calls in an effect; what is left out stays as it was. */
export const policy: {
  (policy: Partial<Policy>): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, policy: Partial<Policy>): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, policy: Partial<Policy>) =>
    Effect.locallyWith(self, current, (outer) => ({ ...outer, ...policy }))
)

/** Sends the calls in an effect once, whatever comes back. */
export const none: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = policy({ attempts: 1 })

/**
 * Runs attempts until one is not turned away, none is left, or the wait would be too long. `turnedAway` tells of a
 * result whether it was, and how long the service asks to wait.
 */
export const around =
  <B>(turnedAway: (result: B) => Effect.Effect<{ readonly retryAfter: Duration.Duration | undefined } | undefined>) =>
  <A extends B, E, R>(attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(FiberRef.get(current), ({ attempts, delay, maxDelay }) => {
      const loop = (left: number): Effect.Effect<A, E, R> =>
        Effect.flatMap(attempt, (result) =>
          Effect.flatMap(turnedAway(result), (away) => {
            const wait = away?.retryAfter ?? delay
            return away === undefined || left <= 1 || Duration.greaterThan(wait, maxDelay)
              ? Effect.succeed(result)
              : Effect.zipRight(Effect.sleep(wait), loop(left - 1))
          }))
      return loop(attempts)
    })
