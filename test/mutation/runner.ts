/**
 * Leaves the tests that take long to those faults that no other test notices. A file that cannot be loaded, or a suite that
 * cannot be made, fails as a test does, since Stryker looks at tests alone.
 */
import { describe, type RunnerTask, type RunnerTestFile, type SuiteCollector, test } from "vitest"
import { VitestTestRunner } from "vitest/runners"
import { getCurrentSuite } from "vitest/suite"

const long = new RegExp([
  "\\d processes, ",
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

/** Makes a test that tells what has kept others from being made. */
const tell = (error: unknown): void =>
  test("is loaded", () => {
    throw error
  })

/** A suite that cannot be made fails as a test does: another one takes its place. */
const failing = (suite: SuiteCollector): void => {
  const { collect } = suite
  suite.collect = (file) =>
    collect(file).catch((error: unknown) => describe("a suite", () => tell(error)).collect(file))
}

export default class Runner extends VitestTestRunner {
  override async importFile(...[path, source]: Parameters<VitestTestRunner["importFile"]>): Promise<unknown> {
    const loaded = Promise.resolve(super.importFile(path, source))
    if (source === "setup") return loaded
    await loaded.catch(tell)
    for (const described of getCurrentSuite().tasks) if (described.type === "collector") failing(described)
    return undefined
  }

  onCollected(files: Array<RunnerTestFile>): void {
    if (process.env["MUTATION_LONG"] === undefined) files.forEach(leaveOut)
  }
}
