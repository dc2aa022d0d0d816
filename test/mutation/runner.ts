/**
 * Leaves the tests that take long to those faults that no other test notices. A file that cannot be loaded fails as a test
 * does, since Stryker looks at tests alone.
 */
import { type RunnerTask, type RunnerTestFile, test } from "vitest"
import { VitestTestRunner } from "vitest/runners"

const long = new RegExp([
  "100,000 wait",
  "agrees with the schema",
  "any characters arrives",
  "connected anew",
  "do not hold each other back",
  "does not keep the others",
  "finds nothing amiss",
  "fleet goes on, and shares again",
  "each is told of the other's",
  "every status from 400 to 599",
  "is silent for",
  "killed at any moment",
  "reach just that action",
  "seed ([4-9]|\\d\\d)",
  "share a bucket of 50",
  "the same without the nulls",
  "the very object that was parsed",
  "unpacks to more",
  "whatever the headers say, every call"
].join("|"))

const leaveOut = (task: RunnerTask): void => {
  if (task.type === "suite") task.tasks.forEach(leaveOut)
  else if (long.test(task.name)) task.mode = "skip"
}

export default class Runner extends VitestTestRunner {
  override async importFile(...[path, source]: Parameters<VitestTestRunner["importFile"]>): Promise<unknown> {
    const loaded = Promise.resolve(super.importFile(path, source))
    return source === "setup" ? loaded : loaded.catch((error: unknown) =>
      test("is loaded", () => {
        throw error
      })
    )
  }

  onCollected(files: Array<RunnerTestFile>): void {
    if (process.env["MUTATION_LONG"] === undefined) files.forEach(leaveOut)
  }
}
