/** Predicts how long a new call will wait. */
import type { Call } from "./limiter.js"
import { type CountAhead, countWithin, type LimitStrategy } from "./strategy.js"
import type { WaitingCalls } from "./waitingCalls.js"

/** The number of steps in which a wait is predicted: a prediction that is not done is too short. */
const maxLooks = 10

interface NewCall<State> {
  readonly state: State
  readonly isBackground: boolean
  /** The share of the limit that it leaves to others. */
  readonly share: number
  readonly now: number
}

interface Prediction<State> {
  /** The milliseconds until the call may start. */
  readonly millis: number
  readonly countAhead: CountAhead<State>
}

/** Predicts the wait of a call. The longer it waits, the more of the others may start before it, so it looks again. */
export const predict = <State extends { readonly call: Call }, Grant>(
  strategy: LimitStrategy<State, Grant>,
  calls: WaitingCalls<State>,
  one: NewCall<State>,
  until = 0,
  looks = maxLooks
): Prediction<State> => {
  const { isBackground, now, share, state } = one
  const lists = calls.tenantOf(state)?.lists
  if (lists === undefined) return { millis: strategy.wait(state, now, share, 0, 0), countAhead: () => 0 }
  const bucket = strategy.bucketOf(state)
  const isFirst = strategy.isFirst(state)
  /** Not those that limits of their own hold for longer than `until`, and before one that goes first only the first of other operations. */
  const countAhead: CountAhead<State> = (isOne) => {
    let sum = 0
    for (const [other, [interactive, background]] of lists) {
      if (!isOne(other) || (isFirst && !strategy.isFirst(other))) continue
      const inTurn = interactive.size + (isBackground ? background.size : 0)
      const size = isFirst && other !== state ? Math.min(1, inTurn) : inTurn
      sum += countWithin(until, size, (ahead) => strategy.waitApart(other, state, now, ahead))
    }
    return sum
  }
  const inBucket = strategy.wait(state, now, share, countAhead((other) => strategy.bucketOf(other) === bucket), 0)
  const millis = Math.max(inBucket, strategy.ceilingWait(state, now, share, countAhead))
  const isFound = millis <= until || millis === Infinity || looks === 1
  return isFound ? { millis, countAhead } : predict(strategy, calls, one, millis, looks - 1)
}
