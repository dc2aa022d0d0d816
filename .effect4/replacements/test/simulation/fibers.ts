/** How the fibers of a simulated life are run: the part of a machine that depends on Effect's scheduler. */
import { Effect, type Fiber, type Scheduler } from "effect"

export interface Rules {
  /** Whether a fiber gives way to another after this number of operations, beside those at which Effect lets it. */
  readonly gives: (operations: number) => boolean
  /** Whether the machine runs. */
  readonly isRunning: () => boolean
  /** Adds a task. Those of one fiber run in their order. */
  readonly add: (fiber: object | undefined, run: () => void) => void
}

export interface LifeScheduler extends Scheduler.Scheduler {}

/** Ignores priorities: Effect's own scheduler keeps an order only within a fiber, which has a dispatcher of its own. */
export const makeScheduler = ({ add, gives }: Rules): LifeScheduler => ({
  executionMode: "async",
  makeDispatcher: () => {
    const dispatcher: Scheduler.SchedulerDispatcher = {
      scheduleTask: (run) => add(dispatcher, run),
      flush: () => {}
    }
    return dispatcher
  },
  shouldYield: (fiber) => fiber.currentOpCount >= fiber.cache.maxOpsBeforeYield || gives(fiber.currentOpCount)
})

/** Starts an effect. Its fibers, and all that they fork, run by this scheduler. */
export const start = <A, E>(effect: Effect.Effect<A, E>, scheduler: LifeScheduler): Fiber.Fiber<A, E> =>
  Effect.runFork(Effect.andThen(Effect.yieldNow, effect), { scheduler })

/** Effect numbers its fibers through, and no name depends on that. */
export const resetNames = (): void => {}
