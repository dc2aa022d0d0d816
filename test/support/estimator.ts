/** Estimators with a given state, and what changes in it. */
import { isDeepStrictEqual } from "node:util"
import { Estimator } from "../../src/internal/limiter/estimator/estimator.js"
import type { EstimatorState } from "../../src/internal/limiter/estimator/state.js"

/** An estimator that knows this and nothing else; a prior allows `prior` calls in a millisecond. */
export const estimatorWith = (state: Partial<EstimatorState>, inFlight = 0, prior?: number): Estimator => {
  const estimator = new Estimator()
  const nothing = estimator.state
  if (prior !== undefined) estimator.assume(100, prior)
  estimator.restore({ ...nothing, ...state }, inFlight)
  return estimator
}

/** The parts of a state that differ from the state before. */
export const changesOf = (before: EstimatorState, after: EstimatorState): Partial<EstimatorState> =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(value, before[name as keyof EstimatorState])) // sound: both have the same fields
  )
