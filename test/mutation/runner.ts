/**
 * Runs tests for Stryker: skips the slow ones, and turns a file or a suite that cannot be loaded into a failed test, since
 * Stryker looks at tests only.
 */
import { describe, type RunnerTask, type RunnerTestFile, type SuiteCollector, test } from "vitest"
import { VitestTestRunner } from "vitest/runners"
import { getCurrentSuite } from "vitest/suite"

const skipped: ReadonlySet<string> = new Set(JSON.parse(process.env["MUTATION_SKIPPED"] ?? "[]"))

const skip = (task: RunnerTask, names: ReadonlyArray<string>): void => {
  if (task.type === "suite") {
    for (const child of task.tasks) skip(child, [...names, child.name])
    // Its hooks would run although its tests do not: they start servers.
    if (task.tasks.length > 0 && task.tasks.every(({ mode }) => mode === "skip")) task.mode = "skip"
  } else if (skipped.has(names.join(" "))) task.mode = "skip"
}

const failingTest = (error: unknown): void =>
  test("is loaded", () => {
    throw error
  })

/** Replaces a suite that cannot be collected with one that fails. */
const catchErrors = (suite: SuiteCollector): void => {
  const { collect } = suite
  suite.collect = (file) =>
    collect(file).catch((error: unknown) => describe("a suite", () => failingTest(error)).collect(file))
}

export default class Runner extends VitestTestRunner {
  override async importFile(...[path, source]: Parameters<VitestTestRunner["importFile"]>): Promise<unknown> {
    const loaded = Promise.resolve(super.importFile(path, source))
    if (source === "setup") return loaded
    await loaded.catch(failingTest)
    for (const described of getCurrentSuite().tasks) if (described.type === "collector") catchErrors(described)
    return undefined
  }

  onCollected(files: Array<RunnerTestFile>): void {
    for (const file of files) skip(file, [])
  }
}
