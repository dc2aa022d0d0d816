/** Grants permits to this process's waiting calls so that every other waiting process can take as many. */
import type { AdaptiveStrategy } from "../limiter/adaptive.js"
import type { AdaptiveGrant, OperationState } from "../limiter/adaptiveState.js"
import { givesWay, startsBefore, type WaitingCall } from "../limiter/waitingCall.js"

type Waiting = WaitingCall<OperationState>

export interface GrantRequest {
  /** The knowledge of the limits. It counts the granted calls; nothing else is changed. */
  readonly strategy: Pick<AdaptiveStrategy, "isFirst" | "wait" | "waitAfter" | "ceilingWait" | "start">
  /** The waiting calls of one tenant: a queue for each kind, first come, first served. */
  readonly queues: ReadonlyArray<Iterable<Waiting>>
  /** The number of other processes that wait. */
  readonly rivals: number
  /** The share of a limit that background calls leave to others. */
  readonly reserve: number
  /** The time by the strategy's clock, and by the queue's. */
  readonly now: number
  readonly queueNow: number
  /** The times by the queue's clock at which operations were last throttled by their limit. */
  readonly throttledAt: ReadonlyMap<OperationState, number>
}

export const grant = ({ now, queueNow, queues, reserve, rivals, strategy, throttledAt }: GrantRequest) => {
  const grants: Array<AdaptiveGrant> = []
  /** The operations whose next call has to wait even without rivals. */
  const throttled = new Set<OperationState>()
  const heads = queues.map((queue) => {
    const rest = queue[Symbol.iterator]()
    return { rest, head: rest.next() }
  })

  const shareOf = ({ isBackground }: Waiting): number => isBackground ? reserve : 0

  const waitOf = (waiter: Waiting, ahead: number): number =>
    strategy.wait(waiter.state, now, shareOf(waiter), ahead, queueNow - waiter.since)

  /** Checks that a call can start now, and remembers its operation if the limit is the reason that it cannot. */
  const canStart = (waiter: Waiting): boolean => {
    if (waitOf(waiter, grants.length * rivals) <= 0) return true
    const wait = waitOf(waiter, 0)
    if (wait > strategy.ceilingWait(waiter.state, now, shareOf(waiter))) throttled.add(waiter.state)
    return false
  }

  const isInTheWay = (waiter: Waiting): boolean => {
    const ahead = grants.length * rivals
    return heads.some(({ head }) =>
      head.done !== true && head.value !== waiter &&
      givesWay(strategy, waiter, head.value, waitOf(head.value, ahead), now, shareOf(head.value), ahead)
    )
  }

  for (;;) {
    let best: { readonly queue: typeof heads[number]; readonly waiter: Waiting } | undefined
    for (const queue of heads) {
      if (queue.head.done === true || !canStart(queue.head.value)) continue
      const isBest = best === undefined || startsBefore(strategy, queue.head.value, best.waiter)
      if (isBest && !isInTheWay(queue.head.value)) best = { queue, waiter: queue.head.value }
    }
    if (best === undefined) return { grants, throttled }
    const { queue, waiter: { since, state } } = best
    grants.push(strategy.start(state, now, (throttledAt.get(state) ?? -Infinity) >= since))
    queue.head = queue.rest.next()
  }
}
