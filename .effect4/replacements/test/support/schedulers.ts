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
  const tasks = new Set<{ readonly run: () => void }>()
  const scheduler = new Scheduler.MixedScheduler("async", (run) => {
    const task = { run }
    tasks.add(task)
    return () => void tasks.delete(task)
  })
  const step = () => {
    for (const task of Array.from(tasks)) if (tasks.delete(task)) task.run()
  }
  return { scheduler, hasTasks: () => tasks.size > 0, step }
}

/** Makes a scheduler with which a fiber gives way at the operations for which this is true, and at no other. */
export const makeYielding = (gives: (fiber: Fiber.Fiber<unknown, unknown>) => boolean): Scheduler.Scheduler => {
  const scheduler = new Scheduler.MixedScheduler()
  return { executionMode: "async", makeDispatcher: () => scheduler.makeDispatcher(), shouldYield: gives }
}

/** Runs a task after those that are ready. */
export const runLater = (task: () => void): void => void setImmediate(task)
