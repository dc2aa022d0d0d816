/** The check of known limits: each wrong field is named with what is expected, and the failure is typed where a layer may fail. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { InvalidInput } from "../../../src/Errors.js"
import { resolve } from "../../../src/internal/limiter/known/options.js"

const good = { limit: 5, interval: "1 second" } as const
const integer = "expected an integer of at least 1"
const time = "expected a time above zero"

describe("known limits", () => {
  it("have intervals in milliseconds, one limit or many", () => {
    assert.deepStrictEqual(Effect.runSync(resolve("layer", {})), { ceilings: [], priors: [], maxPause: 900_000 })
    const prior = [{ ...good, burst: 2 }, { ...good, burst: 3, operations: ["a"] }]
    assert.deepStrictEqual(Effect.runSync(resolve("layer", { ceiling: good, prior, maxPause: "1 second" })), {
      maxPause: 1000,
      ceilings: [{ limit: 5, interval: 1000, operations: undefined }],
      priors: [
        { burst: 2, limit: 5, interval: 1000, operations: undefined },
        { burst: 3, limit: 5, interval: 1000, operations: ["a"] }
      ]
    })
  })

  for (
    const [title, options, issues] of [
      ["a ceiling alone", { ceiling: { limit: 0, interval: 0 } }, [
        { path: "ceiling.limit", message: integer },
        { path: "ceiling.interval", message: time }
      ]],
      ["a prior alone", { prior: { burst: 1.5, limit: NaN, interval: Infinity } }, [
        { path: "prior.limit", message: integer },
        { path: "prior.interval", message: time },
        { path: "prior.burst", message: integer }
      ]],
      ["a ceiling of no operation", { ceiling: [good, { ...good, operations: [] }] }, [
        { path: "ceiling.1.operations", message: "expected at least one operation" }
      ]],
      ["the reserve beside a ceiling", { ceiling: good, reserve: 1.1 }, [
        { path: "reserve", message: "expected a number from 0 to 1" }
      ]]
    ] as const
  ) {
    it(`name each wrong field of ${title}`, () => {
      const error = Effect.runSync(Effect.flip(resolve("layer", options)))
      assert.instanceOf(error, InvalidInput)
      assert.deepInclude(error, { operation: "layer", issues })
    })
  }
})
