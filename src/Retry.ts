/** When a call is sent again: the policy, and the setting that carries it to the client. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Fiber from "./internal/runtime/fiber.js"

/**
 * How often, and for how long, a call is sent again.
 *
 * A call that was certainly not carried out is sent again whatever it does: the service turned it away (429), or nothing
 * was sent (`outcome: "not-sent"`). After 408, 5xx, a broken connection and a time-out only calls are that may be carried
 * out twice (`idempotent: true` in the operation's declaration). A 401 is no matter of the policy: such a call is made once
 * more if there is another token.
 */
export interface Policy {
  /** How often a call is sent at the most, the first time included (default 4). */
  readonly attempts: number
  /** The first wait is up to this long (default 250 ms), each further one up to twice as long; chance says how long. */
  readonly delay: Duration.DurationInput
  /** What such a wait never exceeds (default 10 s). `Retry-After` may: it is always waited out, or the call fails. */
  readonly maxDelay: Duration.DurationInput
  /**
   * How long a call may take with all its waits (default 2 minutes), those for the limiter not counted. One that would
   * have to wait longer than what is left fails at once with what came last. The first attempt is never cut short by it.
   */
  readonly totalTime: Duration.DurationInput
}

/** What to change of a policy; the rest stays as it is. */
export type Changes = { readonly [Name in keyof Policy]?: Policy[Name] | undefined }

/** Four attempts within two minutes, 250 ms to 10 s between them. */
export const defaultPolicy: Policy = {
  attempts: 4,
  delay: "250 millis",
  maxDelay: "10 seconds",
  totalTime: "2 minutes"
}

const unchanged: Partial<Policy> = {}

/** What the calls in an effect have set; it goes before what their client's layer sets. */
const overrides = /* @__PURE__ */ Fiber.makeSetting("Retry/overrides", () => unchanged)

/** What is set of it: `undefined` is not. */
const set = (policy: Changes): Partial<Policy> =>
  Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined)) // members go, none comes

/** Sets the policy for the calls in an effect; what is left out stays as it was. */
export const withPolicy: {
  (policy: Changes): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, policy: Changes): Effect.Effect<A, E, R>
} = /* @__PURE__ */ dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, policy: Changes) =>
    Fiber.withSetting(self, overrides, (outer) => ({ ...outer, ...set(policy) }))
)

/** Sends the calls in an effect once, whatever comes back. */
export const withoutRetries = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  withPolicy(self, { attempts: 1 })

/** The policy that holds for a call in a fiber, given what its client's layer sets. */
export const current = (layer: Changes = {}): (fiber: Fiber.AnyFiber) => Policy => {
  const policy = { ...defaultPolicy, ...set(layer) }
  return (fiber) => {
    const here = Fiber.settingOf(fiber, overrides)
    return here === unchanged ? policy : { ...policy, ...here }
  }
}
