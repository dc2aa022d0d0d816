/**
 * Permits: each is settled once by its holder, or given back by it, or because its fiber was interrupted before that. The holder is the call
 * (`call/pipeline.ts`): once it has begun to send, an interruption settles the permit without a response.
 */
import * as Effect from "effect/Effect"
import type { AnyFiber } from "../runtime/fiber.js"
import { onInterruptedExit } from "../runtime/runner.js"
import type { LimitedResponse, Permit } from "./limiter.js"

/**
 * Makes the permit of a call that has started in a fiber. If the fiber was interrupted before it got the permit, or ends so
 * without settling it, the permit is given back when the fiber ends.
 */
export const make = (
  fiber: AnyFiber,
  settle: (response: LimitedResponse | undefined) => void,
  giveBack: () => void
): Permit => {
  let hasEnded = false
  const end = (finish: () => void): void => {
    if (hasEnded) return
    hasEnded = true
    detach()
    finish()
  }
  const detach = onInterruptedExit(fiber, () => end(giveBack))
  return {
    settle: (response) => Effect.sync(() => end(() => settle(response))),
    giveBack: Effect.sync(() => end(giveBack))
  }
}
