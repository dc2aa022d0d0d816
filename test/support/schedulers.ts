/** Schedulers that tests control. */
import { type Fiber, Scheduler } from "effect"

export interface SteppedScheduler {
  /** The scheduler for `Effect.runFork`. */
  readonly scheduler: Scheduler.Scheduler
  readonly hasTasks: () => boolean
  /** Runs the tasks that are there now. */
  readonly step: () => void
}

/** Makes a scheduler whose tasks run when the test says so. */
export const makeStepped = (): SteppedScheduler => {
  const scheduler = new Scheduler.ControlledScheduler()
  return { scheduler, hasTasks: () => scheduler.tasks.buckets.length > 0, step: () => scheduler.step() }
}

/** Makes a scheduler with which a fiber gives way at the operations for which this is true, and at no other. */
export const makeYielding = (gives: (fiber: Fiber.RuntimeFiber<unknown, unknown>) => boolean): Scheduler.Scheduler => ({
  shouldYield: (fiber) => gives(fiber) ? 0 : false,
  scheduleTask: (task, priority, fiber) => Scheduler.defaultScheduler.scheduleTask(task, priority, fiber)
})

/** Runs a task after those that are ready. */
export const runLater = (task: () => void): void => Scheduler.defaultScheduler.scheduleTask(task, 0)
