import { assert, it } from "@effect/vitest"
import { boundTag } from "../../src/internal/telemetry/metrics.js"

it("hosts after the first ones share the address `other`", () => {
  const bounded = boundTag(2)
  assert.deepStrictEqual(["a", "a", "b", "c", "a", "d", "b"].map(bounded), ["a", "a", "b", "other", "a", "other", "b"])
})
