/** Counts the permits of a rate limiter: each is settled once, unless its fiber was interrupted before it could send. */
import { Cause, Effect, Exit } from "effect"
import type { RateLimiter } from "../../src/index.js"
import type { AnyFiber } from "../../src/internal/runtime/fiber.js"
import type { Life } from "./machine.js"
import type { World } from "./world.js"

interface Granted {
  readonly life: Life
  readonly operation: string
  readonly fiber: AnyFiber
  settlements: number
}

export class Permits {
  private readonly world: World
  private readonly granted: Array<Granted> = []

  constructor(world: World) {
    this.world = world
  }

  /** Wraps the limiter of a life. */
  counted(life: Life, limiter: RateLimiter.RateLimiter["Type"]): RateLimiter.RateLimiter["Type"] {
    return {
      ...limiter,
      acquire: (call) =>
        Effect.withFiberRuntime((fiber) =>
          Effect.map(limiter.acquire(call), ({ settle }) => {
            const permit: Granted = { life, operation: call.operation, fiber, settlements: 0 }
            this.granted.push(permit)
            return {
              settle: (response) =>
                Effect.suspend(() => {
                  if (++permit.settlements > 1) {
                    this.world.violate("permits", `${life.name} ${call.operation}: settled twice`)
                  }
                  return settle(response)
                })
            }
          })
        )
    }
  }

  /** Checks that no permit was lost. Those of dead lives are. */
  check(): void {
    for (const { fiber, life, operation, settlements } of this.granted) {
      if (settlements > 0 || life.state === "dead") continue
      const exit = fiber.unsafePoll()
      const isGivenBack = exit !== null && Exit.isFailure(exit) && Cause.isInterrupted(exit.cause)
      if (!isGivenBack) this.world.violate("permits", `${life.name} ${operation}: a permit was never settled`)
    }
  }
}
