/** A short run of `npm run test:fuzz`: arbitrary requests and responses. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { properties } from "./properties.js"

describe("arbitrary requests and responses", () => {
  for (const { check, name } of properties) {
    it.scopedLive(`${name}: cause no defect, and every call ends`, () =>
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
      }))
  }
})
