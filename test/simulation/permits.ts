/** Counts the permits of a rate limiter: each is settled once, unless its fiber was interrupted before it could send. */
import { Cause, Effect, Exit } from "effect"
import type { RateLimiter } from "../../src/index.js"
import type { AnyFiber } from "../../src/internal/runtime/fiber.js"
import type { Life } from "./machine.js"
import type { World } from "./world.js"

interface Granted {
  readonly life: Life
  readonly operation: string
  settlements: number
}

/** A wait of this time, in milliseconds, is for a pause that the service asked for. */
const longWait = 600_000

export class Permits {
  private readonly world: World
  /** The latest permit of each fiber: calls of one fiber come one after the other. */
  private readonly latest = new WeakMap<AnyFiber, Granted>()

  constructor(world: World) {
    this.world = world
  }

  /** Wraps the limiter of a life. */
  counted(life: Life, limiter: RateLimiter.RateLimiter["Type"]): RateLimiter.RateLimiter["Type"] {
    return {
      ...limiter,
      acquire: (call) =>
        Effect.withFiberRuntime((fiber) => {
          const since = this.world.time
          return Effect.map(limiter.acquire(call), ({ giveBack, settle }) => {
            if (this.world.time - since > longWait && !this.world.warned.has(life.name)) {
              this.world.violate(
                "warning",
                `${life.name} ${call.operation}: has waited for long, and nothing was logged`
              )
            }
            const earlier = this.latest.get(fiber)
            if (earlier?.settlements === 0) this.violate(earlier, "was not settled before the next one")
            const permit: Granted = { life, operation: call.operation, settlements: 0 }
            this.latest.set(fiber, permit)
            fiber.addObserver((exit) => this.ended(permit, exit))
            const once = (end: Effect.Effect<void>) =>
              Effect.suspend(() => {
                if (++permit.settlements > 1) this.violate(permit, "was settled twice")
                return end
              })
            return { settle: (response) => once(settle(response)), giveBack: giveBack && once(giveBack) }
          })
        })
    }
  }

  /** The fiber of a permit has ended: if it was interrupted before it could send, the limiter has the permit back. */
  private ended(permit: Granted, exit: Exit.Exit<unknown, unknown>): void {
    const isGivenBack = Exit.isFailure(exit) && Cause.isInterrupted(exit.cause)
    if (permit.settlements === 0 && !isGivenBack) this.violate(permit, "was never settled")
  }

  private violate({ life, operation }: Granted, problem: string): void {
    this.world.violate("permits", `${life.name} ${operation}: a permit ${problem}`)
  }
}
