/** Counts the permits of a rate limiter: each is settled once, unless its fiber was interrupted before it could send. */
import { Cause, Effect, Exit } from "effect"
import type { RateLimiter } from "../../src/index.js"
import { isBackgroundWork } from "../../src/internal/limiter/backgroundWork.js"
import { type AnyFiber, settingOf } from "../../src/internal/runtime/fiber.js"
import type { Bounds } from "./bounds.js"
import type { Life } from "./machine.js"
import { operations } from "./plan.js"
import type { World } from "./world.js"

interface Granted {
  readonly life: Life
  readonly operation: string
  settlements: number
}

/** A call that waits for its permit, and the number of those that may start before it. */
interface Waiting {
  readonly life: Life
  readonly since: number
  before: number
}

/** A wait of this time, in milliseconds, is for a pause that the service asked for. */
const longWait = 600_000

/** The longest pause that a response may cause, in milliseconds. */
const maxPause = 900_000

/** The time in which one of the first calls of operations starts, in milliseconds. */
const longestDoubt = 2000

/** The profile updates come back at this interval, in milliseconds. */
const updateInterval = 600

export class Permits {
  private readonly world: World
  private readonly bounds: Bounds
  /** Foreground calls. */
  private readonly waiting = new Set<Waiting>()
  /** The latest permit of each fiber: calls of one fiber come one after the other. */
  private readonly latest = new WeakMap<AnyFiber, Granted>()

  constructor(world: World, bounds: Bounds) {
    this.world = world
    this.bounds = bounds
  }

  /** Wraps the limiter of a life. */
  counted(process: number, life: Life, limiter: RateLimiter.RateLimiter["Type"]): RateLimiter.RateLimiter["Type"] {
    return {
      ...limiter,
      acquire: (call) =>
        Effect.withFiberRuntime((fiber) => {
          const since = this.world.time
          const waiting = settingOf(fiber, isBackgroundWork) ? undefined : this.waits(life)
          const left = Effect.onExit(
            limiter.acquire(call),
            () => Effect.sync(() => waiting !== undefined && this.waiting.delete(waiting))
          )
          return Effect.map(left, ({ giveBack, settle }) => {
            if (waiting !== undefined) this.checkAge(process, call.operation, waiting)
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

  private waits(life: Life): Waiting {
    const others = Array.from(this.waiting).filter((other) => other.life === life)
    const one = { life, since: this.world.time, before: others.length }
    // A fiber may give way to others before its call gets into the queue.
    for (const other of others) if (other.since === one.since) other.before++
    this.waiting.add(one)
    return one
  }

  /**
   * No call in the foreground waits longer than each call before it, and then itself, needs for the slowest of all limits. A first call
   * of each operation may come before it, too, and the service may refuse a call or say something false, which stops all of them for a time.
   * That holds for a client that is alone: in a fleet a call of several ceilings may wait for the turns of other processes.
   */
  private checkAge(process: number, operation: string, { before, life, since }: Waiting): void {
    const { plan, time } = this.world
    if (plan.isFleet) return
    const { burst, perSecond } = plan.service
    const { disturbances, refused } = this.bounds.disturbancesOf(process)
    const intervals = [1000 / perSecond, updateInterval].map((interval) => interval * plan.processes.length)
    const slowest = Math.max(...intervals, ...(plan.ceilings ?? []).map(({ interval }) => interval))
    const firsts = Object.keys(operations).length
    const most = (before + 1 + firsts) * (slowest + 100) + firsts * (longestDoubt + 2 * plan.latency.network[1]) +
      refused * (1000 * burst / perSecond + 1000) + disturbances * maxPause
    if (time - since > most) {
      this.world.violate(
        "age",
        `${life.name} ${operation}: has waited for ${time - since} ms, at most ${most} expected`
      )
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
