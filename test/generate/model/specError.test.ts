/** Tests how the places of failures are written. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { at, fail, SpecError } from "../../../src/generate/model/specError.js"

it("extends a pointer by keys, escaped", () => {
  assert.strictEqual(at("#"), "#")
  assert.strictEqual(at("#/paths", "/users/{id}", "get", 0, "~1/~"), "#/paths/~1users~1{id}/get/0/~01~1~0")
})

it.effect("throws an error with a tag, the place, and the message with the place", () =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(Effect.try({
      try: () => fail("#/paths", "the document has no operations"),
      catch: (error) => error
    }))
    if (!(error instanceof SpecError)) return assert.fail(String(error))
    const { _tag, message, pointer } = error
    assert.deepStrictEqual({ _tag, message, pointer }, {
      _tag: "SpecError",
      message: "the document has no operations (at #/paths)",
      pointer: "#/paths"
    })
  }))
