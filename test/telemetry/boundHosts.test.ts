import { assert, it } from "@effect/vitest"
import { boundHosts } from "../../src/internal/telemetry/metrics.js"

it("hosts after the first ones share the address `other`", () => {
  const bounded = boundHosts(2)
  assert.deepStrictEqual(["a", "a", "b", "c", "a", "d", "b"].map(bounded), ["a", "a", "b", "other", "a", "other", "b"])
})
