/** Watches the calls of a rate limiter: each is sent once, after a wait that is not too long, and is logged if it is long. */
import { Effect } from "effect"
import type { RateLimiter } from "../../src/index.js"
import { isBackgroundWork } from "../../src/internal/limiter/limiter.js"
import { settingOf } from "../../src/internal/runtime/fiber.js"
import type { Bounds } from "./bounds.js"
import type { Life } from "./machine.js"
import { operations } from "./plan.js"
import type { World } from "./world.js"

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

/** The time-out of a request to the database, in milliseconds. */
const databaseTimeout = 30_000

/** The profile updates come back at this interval, in milliseconds. */
const updateInterval = 600

export class Permits {
  private readonly world: World
  private readonly bounds: Bounds
  /** Foreground calls. */
  private readonly waiting = new Set<Waiting>()

  constructor(world: World, bounds: Bounds) {
    this.world = world
    this.bounds = bounds
  }

  /** Wraps the limiter of a life, in every second process as a user would, who knows nothing of what it offers the client beyond that. */
  counted(process: number, life: Life, limiter: RateLimiter.RateLimiter["Type"]): RateLimiter.RateLimiter["Type"] {
    const { ofClient } = limiter.limit
    const limit: RateLimiter.Limit = (call) => (send) => this.watched(process, life, call, send, limiter.limit(call))
    return {
      ...limiter,
      limit: ofClient === undefined || process % 2 === 1 ? limit : Object.assign(
        limit,
        {
          ofClient: (call, send) => this.watched(process, life, call, send, (begun) => ofClient(call, begun))
        } satisfies Pick<RateLimiter.Limit, "ofClient">
      )
    }
  }

  private watched<A, E, R, E2>(
    process: number,
    life: Life,
    { operation }: RateLimiter.Call,
    send: Effect.Effect<A, E, R>,
    limited: (begun: Effect.Effect<A, E, R>) => Effect.Effect<A, E | E2, R>
  ): Effect.Effect<A, E | E2, R> {
    return Effect.withFiberRuntime((fiber) => {
      const since = this.world.time
      const waiting = settingOf(fiber, isBackgroundWork) ? undefined : this.waits(life)
      let hasBegun = false
      const begun = Effect.suspend(() => {
        if (hasBegun) this.world.violate("permits", `${life.name} ${operation}: was sent twice`)
        hasBegun = true
        if (waiting !== undefined) {
          this.waiting.delete(waiting)
          this.checkAge(process, operation, waiting)
        }
        if (this.world.time - since > longWait && !this.world.warned.has(life.name)) {
          this.world.violate("warning", `${life.name} ${operation}: has waited for long, and nothing was logged`)
        }
        return send
      })
      return Effect.onExit(
        limited(begun),
        () => Effect.sync(() => waiting !== undefined && this.waiting.delete(waiting))
      )
    })
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
   * A call whose entry in a database is lost keeps its place until that request has timed out. If requests are under way for longer than a
   * bucket needs to refill, they arrive in bunches, and the bucket overflows between them.
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
    const refill = 1000 * burst / perSecond
    const each = plan.latency.network[1] > refill ? 2 * slowest : slowest
    const stages = (plan.jobs?.databaseFaults.length ?? 0) * databaseTimeout + plan.latency.store[1]
    const most = (before + 1 + firsts) * (each + 100) + firsts * (longestDoubt + 2 * plan.latency.network[1]) +
      refused * (refill + 1000) + disturbances * maxPause + stages
    if (time - since > most) {
      this.world.violate(
        "age",
        `${life.name} ${operation}: has waited for ${time - since} ms, at most ${most} expected`
      )
    }
  }
}
