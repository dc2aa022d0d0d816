/**
 * Grants permits to this process's waiting calls so that every other waiting process can take as many, and no call of another
 * waits for younger ones of this.
 */
import type { AdaptiveStrategy } from "../limiter/adaptive.js"
import type { AdaptiveGrant, OperationState } from "../limiter/adaptiveState.js"
import { type Ahead, none, type Waiter } from "../limiter/strategy.js"
import { givesWay, startsBefore } from "../limiter/waitingCalls.js"

type Waiting = Waiter<OperationState>

/** A call that waits, and the time by the queue's clock since which its operation waits for a permit. */
type Blocked = Omit<Waiting, "nth">

/** The number of waiting calls that the other processes get to know. */
const maxBlocked = 8

export interface GrantRequest {
  /** The knowledge of the limits. It counts the granted calls; nothing else is changed. Its `wait` is that of a call by the queue's clock. */
  readonly strategy: Pick<AdaptiveStrategy, "limitsOf" | "start" | "wait">
  /** The waiting calls of one tenant: a queue for each kind, first come, first served. */
  readonly queues: ReadonlyArray<Iterable<Waiting>>
  /** The number of other processes that wait, and calls of theirs. */
  readonly rivals: number
  readonly blocked: ReadonlyArray<Blocked>
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
  { blocked, grantedAt, now, queueNow, queues, rivals, strategy, throttledAt }: GrantRequest
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

  const sinceOf = (waiter: Waiting): number => {
    const turn = turnOf(waiter)
    return served.get(turn) ?? Math.max(waiter.since, grantedAt.get(turn) ?? -Infinity)
  }

  /** Each rival may take as many calls. */
  const rivalCalls: Ahead = () => grants.length * rivals

  const waitOf = (waiter: Waiting, ahead: Ahead = none) => strategy.wait(waiter, now, ahead)

  /** Checks that a call can start now, and remembers its operation if the limit is the reason that it cannot. */
  const canStart = (waiter: Waiting): boolean => {
    if (waitOf(waiter, rivalCalls).millis <= 0) return true
    const { millis, reason } = waitOf(waiter)
    // A pace says nothing about the limit, as a ceiling does not.
    if (millis > 0 && reason !== "pace" && reason !== "ceiling") throttled.add(waiter.state)
    return false
  }

  const isInTheWay = (waiter: Waiting): boolean =>
    heads.some(({ head }) => {
      if (head.done === true || head.value === waiter) return false
      const { millis } = waitOf(head.value, rivalCalls)
      return millis > 0 && givesWay(strategy, waiter, head.value, millis, now, rivalCalls)
    })

  /** Checks that a call gives way to one of another process, which may start by now but takes its turn only at its next visit. */
  const isOvertaking = (waiter: Waiting): boolean => {
    const since = sinceOf(waiter)
    return blocked.some((one) => {
      const other: Waiting = { ...one, nth: one.since < since ? -Infinity : Infinity }
      return givesWay(strategy, waiter, other, waitOf(other).millis, now)
    })
  }

  /**
   * The calls that still wait: first those that have waited long, and would start soon if no other did. A call with a pace is not among
   * them: the others do not know that pace, and would give way to it for nothing.
   */
  const stillBlocked = (): ReadonlyArray<Blocked> =>
    heads.flatMap(({ head }) => {
      if (head.done === true) return []
      const { isBackground, share, state } = head.value
      const [since, { millis, reason }] = [sinceOf(head.value), waitOf(head.value)]
      const order = since + millis
      return order === Infinity || reason === "pace" ? [] : [{ state, since, isBackground, share, order }]
    }).sort((one, other) => one.order - other.order).slice(0, maxBlocked)

  for (;;) {
    let best: { readonly queue: typeof heads[number]; readonly waiter: Waiting } | undefined
    for (const queue of heads) {
      if (queue.head.done === true || !canStart(queue.head.value)) continue
      const isBest = best === undefined || startsBefore(queue.head.value, best.waiter)
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
