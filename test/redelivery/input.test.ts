/** The ids of a run, as its workers take them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import * as Input from "../../src/internal/redelivery/input.js"

describe("an input", () => {
  it.scoped("reports a failure of the ids once, and ends", () =>
    Effect.gen(function*() {
      const failures: Array<unknown> = []
      const { next } = yield* Input.make(Stream.concat(Stream.make("a"), Stream.fail("no more")), (cause) => {
        failures.push(cause)
      })
      const taken = yield* Effect.all([next, next, next, next])
      assert.deepStrictEqual(taken, [Option.some("a"), Option.none(), Option.none(), Option.none()])
      assert.lengthOf(failures, 1)
    }))
})
