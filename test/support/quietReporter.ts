/** Reports the tests that fail, with what they print, and counts the others: the output of a run without failures fits a screen. */
import { DefaultReporter } from "vitest/reporters"

export default class QuietReporter extends DefaultReporter {
  override printTestModule(...[module]: Parameters<DefaultReporter["printTestModule"]>): void {
    if (module.state() === "failed") super.printTestModule(module)
  }
}
