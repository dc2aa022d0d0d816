/** Sets when and how long calls are retried. */
import type * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as RetryPolicy from "./internal/call/retryPolicy.js"

export { type Changes, defaultPolicy, type Policy, type Refusal } from "./internal/call/retryPolicy.js"

/**
 * Changes the policy of the calls in an effect. Omitted settings stay.
 * @since 0.1.0 @category combinators @example `deleteEventStream({ id }).pipe(Retry.withPolicy({ attempts: 8 }))`
 */
export const withPolicy: {
  (changes: RetryPolicy.Changes): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, changes: RetryPolicy.Changes): Effect.Effect<A, E, R>
} = /* @__PURE__ */ dual(2, RetryPolicy.change)

/**
 * Makes one attempt for each call in an effect. A 401 is still retried once if there is another token.
 * @since 0.1.0 @category combinators
 */
export const withoutRetries = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  RetryPolicy.change(self, { attempts: 1 })
