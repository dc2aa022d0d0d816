/** How a call gets a limiter's leave. */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { globalValue } from "effect/GlobalValue"
import type { RateLimited } from "../Errors.js"
import type { Call } from "./supply.js"
import type { Restore } from "./task.js"

/** What a limiter does for a call. */
interface Limiter {
  readonly acquire: (call: Call) => Effect.Effect<void, RateLimited>
}

/** Gives way to a fiber's call, where nobody can interrupt but within `restore`. Interrupted, it has taken nothing. */
export type Direct = (
  call: Call,
  fiber: Fiber.RuntimeFiber<unknown, unknown>,
  restore: Restore
) => Effect.Effect<void, RateLimited>

/** What the limiters of ours can do besides. What is made of such a limiter hides it. */
const directs = globalValue("effect-identity-client/internal/admission/directs", () => new WeakMap<Limiter, Direct>())

/** Makes a limiter known as one that has a direct way: who waits by it holds half as much. */
export const withDirect = <A extends Limiter>(limiter: A, direct: Direct): A => {
  directs.set(limiter, direct)
  return limiter
}

/** Waits for a limiter's leave. To be run where nobody can interrupt but within `restore`. */
export const acquire = (limiter: Limiter, call: Call, restore: Restore): Effect.Effect<void, RateLimited> => {
  const direct = directs.get(limiter)
  return direct === undefined
    ? restore(limiter.acquire(call))
    : Effect.withFiberRuntime((fiber) => direct(call, fiber, restore))
}
