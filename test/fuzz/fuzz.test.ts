/** Anything at all comes over the wire: what `npm run test:fuzz` does at length, for a short while. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { properties } from "./properties.js"

describe("anything at all", () => {
  for (const { check, name } of properties) {
    it.scopedLive(`${name}: nothing becomes a defect, and all ends`, () =>
      Effect.gen(function*() {
        const failure = yield* check(1000, {})
        assert.isUndefined(
          failure,
          failure && [
            failure.why,
            failure.example,
            `npm run test:fuzz -- --only ${name} --seed=${failure.seed} --path=${failure.path}`
          ].join("\n")
        )
      }), 60_000)
  }
})
