/**
 * Runs before each test file. Fails each test that ends without an assertion, also one whose assertions are in a loop or a callback that
 * never runs; lets the test runner work between the tests; and removes the metrics that earlier files have recorded.
 */
import * as MutableHashMap from "effect/MutableHashMap"
import { beforeEach, chai } from "vitest"

/** The state of this process that its test files share: assertions, as they share `chai`, and the global values of Effect 3. */
const shared = globalThis as { // sound: each may be absent
  assertions?: number
  readonly "effect/GlobalValue"?: Map<unknown, unknown>
}

// Tests that look for secrets read all metrics. Hundreds of files leave thousands.
const registry = shared["effect/GlobalValue"]?.get(Symbol.for("effect/Metric/globalMetricRegistry"))
if (typeof registry === "object" && registry !== null) Object.assign(registry, { map: MutableHashMap.empty() })

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
