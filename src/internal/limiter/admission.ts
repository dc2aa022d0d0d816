/** How a call gets a limiter's leave. */
import type * as Effect from "effect/Effect"
import { globalValue } from "effect/GlobalValue"
import type { RateLimited } from "../../Errors.js"
import type { AnyFiber, Restore } from "../runtime/fiber.js"
import type { Call } from "./permit.js"

/** What a limiter does for a call. */
interface Limiter {
  readonly acquire: (call: Call) => Effect.Effect<void, RateLimited>
}

/**
 * Lets a fiber's call pass when it may be sent. To be run where nobody can interrupt but within `restore`. Interrupted, it
 * has taken nothing.
 */
export type Direct = (call: Call, fiber: AnyFiber, restore: Restore) => Effect.Effect<void, RateLimited>

/** The direct ways of our own limiters, by what gives leave: a limiter in which that is another one has none. */
const directs = globalValue(
  "effect-identity-client/internal/admission/directs",
  () => new WeakMap<Limiter["acquire"], Direct>()
)

/** Makes a limiter known as one that has a direct way: who waits by it holds half as much. */
export const withDirect = <A extends Limiter>(limiter: A, direct: Direct): A => {
  directs.set(limiter.acquire, direct)
  return limiter
}

/** Waits for a limiter's leave by the way that there is, in the fiber that makes the call. */
export const acquire = (
  limiter: Limiter,
  call: Call,
  fiber: AnyFiber,
  restore: Restore
): Effect.Effect<void, RateLimited> =>
  directs.get(limiter.acquire)?.(call, fiber, restore) ?? restore(limiter.acquire(call))
