/** A scheduler whose tasks run when the test says so. */
import { Scheduler } from "effect"

export interface SteppedScheduler {
  /** The scheduler for `Effect.runFork`. */
  readonly scheduler: Scheduler.Scheduler
  readonly hasTasks: () => boolean
  /** Runs the tasks that are there now. */
  readonly step: () => void
}

export const make = (): SteppedScheduler => {
  const tasks = new Set<{ readonly run: () => void }>()
  const scheduler = new Scheduler.MixedScheduler("async", (run) => {
    const task = { run }
    tasks.add(task)
    return () => void tasks.delete(task)
  })
  const step = () => {
    for (const task of [...tasks]) if (tasks.delete(task)) task.run()
  }
  return { scheduler, hasTasks: () => tasks.size > 0, step }
}
