/**
 * Fails each test that ends without an assertion, also one whose assertions are in a loop or a callback that never runs; and lets the test
 * runner work between the tests.
 */
import { beforeEach, chai } from "vitest"

/** The assertions of this process: its test files share it, as they share `chai`. */
const shared = globalThis as { assertions?: number }

if (shared.assertions === undefined) {
  shared.assertions = 0
  // Each assertion of chai, and so of `assert` and `expect`, goes through this method.
  const { prototype } = chai.Assertion
  const original = prototype.assert
  prototype.assert = function(...args) {
    shared.assertions = (shared.assertions ?? 0) + 1
    return original.apply(this, args)
  }
}

/** Lets the test runner report a test before the next one: tests in virtual time leave no room for anything else. */
beforeEach(() => new Promise((resolve) => void setImmediate(resolve)))

beforeEach(() => {
  const before = shared.assertions
  // Tests that run at the same time share the counter: there it is enough that one of them asserts.
  return () => {
    if (shared.assertions === before) throw new Error("the test asserts nothing")
  }
})
