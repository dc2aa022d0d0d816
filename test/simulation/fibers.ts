/** How the fibers of a simulated life are run: the part of a machine that depends on Effect's scheduler. */
import { Effect, type Fiber, FiberRef, MutableRef, Scheduler } from "effect"
import { globalValue } from "effect/GlobalValue"

export interface Rules {
  /** Whether a fiber gives way to another after this number of operations, beside those at which Effect lets it. */
  readonly gives: (operations: number) => boolean
  /** Whether the machine runs. */
  readonly isRunning: () => boolean
  /** Adds a task. Those of one fiber run in their order. */
  readonly add: (fiber: object | undefined, run: () => void) => void
}

export interface LifeScheduler extends Scheduler.Scheduler {
  readonly isRunning: () => boolean
}

/** The scheduler of the current fiber, for fibers that `Runtime.runSync` starts: they lose that of their parent. */
const currentScheduler = FiberRef.unsafeMake<LifeScheduler | undefined>(undefined)

// Fibers that `Runtime.runSync` has started go to the default scheduler.
const { scheduleTask } = Scheduler.defaultScheduler
Scheduler.defaultScheduler.scheduleTask = (task, priority, fiber) => {
  const scheduler = fiber?.getFiberRef(currentScheduler)
  if (scheduler?.isRunning() === true) scheduler.scheduleTask(task, priority, fiber)
  else scheduleTask.call(Scheduler.defaultScheduler, task, priority, fiber)
}

/** Ignores priorities: Effect's own scheduler keeps an order only within a fiber. */
export const makeScheduler = ({ add, gives, isRunning }: Rules): LifeScheduler => ({
  isRunning,
  scheduleTask: (run, _, fiber) => add(fiber, run),
  shouldYield: (fiber) => Scheduler.defaultShouldYield(fiber) !== false || gives(fiber.currentOpCount) ? 0 : false
})

/** Starts an effect. Its fibers, and all that they fork, run by this scheduler. */
export const start = <A, E>(effect: Effect.Effect<A, E>, scheduler: LifeScheduler): Fiber.RuntimeFiber<A, E> =>
  Effect.runFork(Effect.locally(effect, currentScheduler, scheduler), { scheduler, immediate: false })

/** Effect's own counter of fibers, by its key. */
const fiberCounter = globalValue(Symbol.for("effect/Fiber/Id/_fiberCounter"), () => MutableRef.make(0))

/** Lets the numbers of fibers start at 0, so that no name of a fiber depends on the runs before. */
export const resetNames = (): void => void MutableRef.set(fiberCounter, 0)
