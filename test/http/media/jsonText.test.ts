/** Tests of the text of JSON bodies: objects that only look like others, and null at the root. */
import { assert, describe, it } from "@effect/vitest"
import { Either, Option } from "effect"
import { encode } from "../../../src/internal/http/media/json.js"

describe("JSON", () => {
  it.each<readonly [title: string, value: unknown, text: string]>([
    ["null", null, "null"],
    ["false", false, "false"],
    ["an empty text", "", "\"\""],
    ["a field _id", { _id: "a" }, "{\"_id\":\"a\"}"],
    ["a field _id in a list", [{ _id: "Option", _tag: "None" }], "[{\"_id\":\"Option\",\"_tag\":\"None\"}]"],
    ["a field toJSON that is no function", { toJSON: 1 }, "{\"toJSON\":1}"],
    ["a field toJSON that is null", { a: { toJSON: null } }, "{\"a\":{\"toJSON\":null}}"],
    ["a toJSON that gives null", { toJSON: () => null }, "null"]
  ])("expresses %s", (_, value, text) => {
    assert.deepStrictEqual(encode(value, "body"), Either.right(text))
  })

  it("cannot express an Option, which has a field _id only when it is printed", () => {
    const message = "expected a value that JSON can express"
    assert.deepStrictEqual(encode({ a: Option.some(1) }, "body"), Either.left({ path: "body.a", message }))
  })
})
