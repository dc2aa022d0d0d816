/** Counts token requests and refusals, and compares them with what the faults of a plan can cause. */
import { countTenants, isQuiet } from "./plan.js"
import type { World } from "./world.js"

/** What happened to one process. */
interface Counts {
  lives: number
  requests: number
  tokenRequests: number
  /** Faults of its token requests. */
  tokenFaults: number
  /** Faults of its calls. */
  faults: number
  /** Requests whose response it did not wait for. */
  abandoned: number
  /** Responses with 401. */
  unauthorized: number
  /** Refusals of the service's genuine rate limit. */
  refused: number
}

export class Bounds {
  private readonly world: World
  private readonly processes = new Map<number, Counts>()

  constructor(world: World) {
    this.world = world
  }

  /** Counts something for a process. */
  count(process: number, what: keyof Counts): void {
    this.of(process)[what]++
    this.check(process)
  }

  private of(process: number): Counts {
    const counts = this.processes.get(process) ?? {
      lives: 0,
      requests: 0,
      tokenRequests: 0,
      tokenFaults: 0,
      faults: 0,
      abandoned: 0,
      unauthorized: 0,
      refused: 0
    }
    this.processes.set(process, counts)
    return counts
  }

  /** The refusals of a process, and the number of all else that can keep its calls waiting. */
  disturbancesOf(process: number): { readonly disturbances: number; readonly refused: number } {
    const { abandoned, faults, refused } = this.of(process)
    const own = this.world.plan.processes.find(({ id }) => id === process)
    return { disturbances: abandoned + faults + (own?.leaps.length ?? 0) + (own?.pauses.length ?? 0), refused }
  }

  /**
   * Each life needs a token for each tenant and may be refused once, as it knows no limit yet; so may it after each fault, and after each response
   * that it did not wait for. Processes that are no fleet do not see each other's calls.
   */
  private check(id: number): void {
    const { plan, time } = this.world
    const counts = this.of(id)
    const own = plan.processes.find((process) => process.id === id)
    const disturbances = (own?.leaps.length ?? 0) + 3 * (own?.pauses.length ?? 0) + 2 * plan.storeFaults.length
    const lives = countTenants(plan) * counts.lives
    const renewals = countTenants(plan) * Math.ceil(time / (800 * plan.service.tokenLifetime))
    const mostTokens = lives + renewals + counts.tokenFaults + counts.unauthorized + disturbances
    const unseen = counts.faults + counts.abandoned + (plan.isFleet ? 0 : plan.processes.length - 1)
    const mostRefusals = lives + unseen + disturbances + 4
    // Latencies that differ by much let calls arrive faster than they left, or leave faster than the store granted them.
    const latency = plan.latency.network[1] + (plan.isFleet ? plan.latency.store[1] : 0)
    const early = Math.ceil(counts.requests / (latency < 300 ? 100 : 5))
    if (counts.unauthorized > 0 && isQuiet(plan)) this.world.violate("tokens", `p${id}: a token was refused`)
    this.compare(id, "token requests", counts.tokenRequests, mostTokens)
    this.compare(id, "refusals", counts.refused, mostRefusals + early)
  }

  private compare(process: number, what: string, count: number, most: number): void {
    if (count > most) this.world.violate("bounds", `p${process}: ${count} ${what}, at most ${most} expected`)
  }
}
