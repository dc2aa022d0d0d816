/** The fibers that an effect starts. */
import { Effect, Metric } from "effect"

/** Counts the fibers of an effect that have not ended, those that it starts included. */
export const countFibers = Effect.sync(() => {
  let running = 0
  const metrics: Metric.FiberRuntimeMetricsService = {
    recordFiberStart: () => void running++,
    recordFiberEnd: () => void running--
  }
  return {
    track: <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.provideService(self, Metric.FiberRuntimeMetrics, metrics),
    count: Effect.sync(() => running)
  }
})
