/**
 * Grants permits to this process's waiting calls so that every other waiting process can take as many, and no call of another
 * waits for younger ones of this.
 */
import type { AdaptiveStrategy } from "../limiter/adaptive.js"
import type { AdaptiveGrant, OperationState } from "../limiter/adaptiveState.js"
import { givesWay, startsBefore, type WaitingCall } from "../limiter/waitingCall.js"

type Waiting = WaitingCall<OperationState>

/** A call that waits, and the time by the queue's clock since which its operation waits for a permit. */
type Blocked = Omit<Waiting, "nth">

/** The number of waiting calls that the other processes get to know. */
const maxBlocked = 8

export interface GrantRequest {
  /** The knowledge of the limits. It counts the granted calls; nothing else is changed. */
  readonly strategy: Pick<AdaptiveStrategy, "isFirst" | "isPaced" | "wait" | "waitAfter" | "ceilingWait" | "start">
  /** The waiting calls of one tenant: a queue for each kind, first come, first served. */
  readonly queues: ReadonlyArray<Iterable<Waiting>>
  /** The number of other processes that wait, and calls of theirs. */
  readonly rivals: number
  readonly blocked: ReadonlyArray<Blocked>
  /** The share of a limit that background calls leave to others. */
  readonly reserve: number
  /** The time by the strategy's clock, and by the queue's. */
  readonly now: number
  readonly queueNow: number
  /** The times by the queue's clock at which operations were last throttled by their limit. */
  readonly throttledAt: ReadonlyMap<OperationState, number>
  /** The times by the queue's clock at which operations, and their background work, last got a permit. */
  readonly grantedAt: ReadonlyMap<string, number>
}

/** The calls of an operation take turns with those of others, and its background work does so apart from them. */
const turnOf = ({ isBackground, state }: Blocked): string => `${state.call.operation} ${isBackground}`

export const grant = (
  { blocked, grantedAt, now, queueNow, queues, reserve, rivals, strategy, throttledAt }: GrantRequest
) => {
  const grants: Array<AdaptiveGrant> = []
  /** The operations whose next call has to wait even without rivals. */
  const throttled = new Set<OperationState>()
  /** The turns that got a permit, and the time. */
  const served = new Map<string, number>()
  const heads = queues.map((queue) => {
    const rest = queue[Symbol.iterator]()
    return { rest, head: rest.next() }
  })

  const shareOf = ({ isBackground }: Blocked): number => isBackground ? reserve : 0

  const sinceOf = (waiter: Waiting): number => {
    const turn = turnOf(waiter)
    return served.get(turn) ?? Math.max(waiter.since, grantedAt.get(turn) ?? -Infinity)
  }

  const waitOf = (waiter: Blocked, ahead: number): number =>
    strategy.wait(waiter.state, now, shareOf(waiter), ahead, queueNow - waiter.since)

  /** Checks that a call can start now, and remembers its operation if the limit is the reason that it cannot. */
  const canStart = (waiter: Waiting): boolean => {
    if (waitOf(waiter, grants.length * rivals) <= 0) return true
    const wait = waitOf(waiter, 0)
    // A pace says nothing about the limit, as a ceiling does not.
    if (!strategy.isPaced(waiter.state, now) && wait > strategy.ceilingWait(waiter.state, now, shareOf(waiter))) {
      throttled.add(waiter.state)
    }
    return false
  }

  const isInTheWay = (waiter: Waiting): boolean => {
    const ahead = grants.length * rivals
    return heads.some(({ head }) => {
      if (head.done === true || head.value === waiter) return false
      const wait = waitOf(head.value, ahead)
      return wait > 0 && givesWay(strategy, waiter, head.value, wait, now, shareOf(head.value), ahead)
    })
  }

  /** Checks that a call gives way to one of another process, which may start by now but takes its turn only at its next visit. */
  const isOvertaking = (waiter: Waiting): boolean => {
    const since = sinceOf(waiter)
    return blocked.some((one) => {
      const other: Waiting = { ...one, nth: one.since < since ? -Infinity : Infinity }
      return givesWay(strategy, waiter, other, waitOf(other, 0), now, shareOf(other), 0)
    })
  }

  /**
   * The calls that still wait: first those that have waited long, and would start soon if no other did. A call with a pace is not among
   * them: the others do not know that pace, and would give way to it for nothing.
   */
  const stillBlocked = (): ReadonlyArray<Blocked> =>
    heads.flatMap(({ head }) => {
      if (head.done === true || strategy.isPaced(head.value.state, now)) return []
      const [{ isBackground, state }, since] = [head.value, sinceOf(head.value)]
      const order = since + waitOf(head.value, 0)
      return order === Infinity ? [] : [{ state, since, isBackground, order }]
    }).sort((one, other) => one.order - other.order).slice(0, maxBlocked)

  for (;;) {
    let best: { readonly queue: typeof heads[number]; readonly waiter: Waiting } | undefined
    for (const queue of heads) {
      if (queue.head.done === true || !canStart(queue.head.value)) continue
      const isBest = best === undefined || startsBefore(strategy, queue.head.value, best.waiter)
      if (isBest && !isInTheWay(queue.head.value) && !isOvertaking(queue.head.value)) {
        best = { queue, waiter: queue.head.value }
      }
    }
    if (best === undefined) return { grants, throttled, served, blocked: stillBlocked() }
    const { queue, waiter } = best
    const { since, state } = waiter
    grants.push(strategy.start(state, now, (throttledAt.get(state) ?? -Infinity) >= since))
    served.set(turnOf(waiter), queueNow)
    queue.head = queue.rest.next()
  }
}
