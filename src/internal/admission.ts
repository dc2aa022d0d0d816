/** How a call gets a limiter's leave. */
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { globalValue } from "effect/GlobalValue"
import type { RateLimited } from "../Errors.js"
import type { Call } from "./supply.js"
import type { Restore } from "./task.js"

/** What a limiter does for a call. */
interface Limiter {
  readonly acquire: (call: Call) => Effect.Effect<void, RateLimited>
}

type AnyFiber = Fiber.RuntimeFiber<unknown, unknown>

/**
 * Gives way to a fiber's call when it may be sent. To be run where nobody can interrupt but within `restore`. Interrupted, it
 * has taken nothing.
 */
export type Direct = (call: Call, fiber: AnyFiber, restore: Restore) => Effect.Effect<void, RateLimited>

/** What the limiters of ours can do besides. What is made of such a limiter hides it. */
const directs = globalValue("effect-identity-client/internal/admission/directs", () => new WeakMap<Limiter, Direct>())

/** Makes a limiter known as one that has a direct way: who waits by it holds half as much. */
export const withDirect = <A extends Limiter>(limiter: A, direct: Direct): A => {
  directs.set(limiter, direct)
  return limiter
}

/** Waits for a limiter's leave by the way that there is, in the fiber that makes the call. */
export const acquire = (
  limiter: Limiter,
  call: Call,
  fiber: AnyFiber,
  restore: Restore
): Effect.Effect<void, RateLimited> => directs.get(limiter)?.(call, fiber, restore) ?? restore(limiter.acquire(call))
